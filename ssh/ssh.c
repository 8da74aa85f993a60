/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting to a guest's sshd and logging in.  The socket is made and watched
 * here rather than by libssh, since a guest that is still booting must neither
 * hang a try nor end the waiting, and the caller may give up at any time.
 */
#include "config.h"

#include <errno.h>
#include <libssh/server.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/blame.h"
#include "common/clock.h"
#include "ssh/session.h"

/*
 * User networking takes a connection before the guest listens, and one whose
 * first packet the guest missed stays silent for many seconds: a new try is
 * faster.  But an emulated sshd may need seconds to say its first word, too, so
 * the patience grows.
 */
#define BANNER_MIN_MS 1500
#define BANNER_MAX_MS 12000
/*
 * On an emulated CPU without AES instructions, as our guests have, ChaCha20-
 * Poly1305 does 164 MB/s and AES-GCM 25.
 */
#define SSH_CIPHERS "chacha20-poly1305@openssh.com,aes128-gcm@openssh.com"
/* Between tries that fail at once. */
#define RETRY_MS 100
/* A guest that greets and then breaks off is going down, or broken. */
#define MAX_BROKEN 5

DEFINE_AUTO(ssh_key, ssh_key_free, auto_key_free)
#define autokey __attribute__((cleanup(auto_key_free)))

/*
 * Wait for events on fd (-1: just wait).  -1 with SB_TIMEOUT at the deadline
 * (-1: none) or with SB_CANCELLED.
 */
static int wait_fd(int fd, short events, int cancel_fd, int64_t deadline,
		   struct sb_err *err)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = events },
		{ .fd = cancel_fd, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, ARRAY_SIZE(fds),
			     deadline < 0 ? -1 : clock_left(deadline));

		if (n < 0 && errno != EINTR)
			return sb_fail(err, SB_SYSTEM, "poll: %m");
		if (n < 0)
			continue;
		if (fds[1].revents)
			return sb_fail(err, SB_CANCELLED, "cancelled");
		if (n == 0)
			return sb_fail(err, SB_TIMEOUT,
				       "the guest's SSH server is silent");
		return 0;
	}
}

int session_wait(struct ssh *s, int64_t deadline, struct sb_err *err)
{
	short events = POLLIN;

	if (ssh_get_poll_flags(s->session) & SSH_WRITE_PENDING)
		events |= POLLOUT;
	return wait_fd(ssh_get_fd(s->session), events, s->cancel_fd, deadline,
		       err);
}

static int parse_address(const struct ssh_target *t, struct addrinfo **ret,
			 struct sb_err *err)
{
	static const struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	};
	char port[12];
	int rc;

	snprintf(port, sizeof(port), "%d", t->port);
	rc = getaddrinfo(t->host, port, &hints, ret);
	if (rc)
		return sb_fail(err, SB_INVALID, "bad SSH address '%s' %d: %s",
			       t->host, t->port, gai_strerror(rc));
	return 0;
}

/* Whether the connection that a poll said was finished came about. */
static int check_connected(int fd, struct sb_err *err)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error)
		return sb_fail(err, SB_BUSY, "%s", strerror(error));
	return 0;
}

/* Wait until the server has said "SSH-", and leave that to be read. */
static int await_banner(const struct ssh_target *t, int fd, int64_t deadline,
			struct sb_err *err)
{
	static const char want[] = "SSH-";
	char got[sizeof(want) - 1];
	ssize_t n;

	/* Readable shall mean that all of it is there, or the end. */
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &(int){ sizeof(got) },
		   sizeof(int));
	if (wait_fd(fd, POLLIN, t->cancel_fd, deadline, err) < 0)
		return -1;
	n = recv(fd, got, sizeof(got), MSG_PEEK | MSG_DONTWAIT);
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &(int){ 1 }, sizeof(int));
	if (n < 0)
		return sb_fail(err, SB_BUSY, "%m");
	if (n == 0)
		return sb_fail(err, SB_BUSY, "connection closed");
	if ((size_t)n < sizeof(got) || memcmp(got, want, sizeof(got)) != 0)
		return sb_fail(err, SB_BUSY, "not an SSH server");
	return 0;
}

/*
 * One try to reach a talking sshd.  SB_BUSY and SB_TIMEOUT mean that another
 * try may succeed.
 */
static int dial(const struct ssh_target *t, const struct addrinfo *ai,
		int64_t deadline, int *ret_fd, struct sb_err *err)
{
	autoclose int fd = socket(
		ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return sb_fail(err, SB_SYSTEM, "socket: %m");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return sb_fail(err, SB_BUSY, "%m");
		if (wait_fd(fd, POLLOUT, t->cancel_fd, deadline, err) < 0 ||
		    check_connected(fd, err) < 0)
			return -1;
	}
	if (await_banner(t, fd, deadline, err) < 0)
		return -1;
	*ret_fd = steal_fd(&fd);
	return 0;
}

/* A guest may ask for channels of its own (X11, agent): all are denied.  Left
 * alone, libssh would queue the requests without end. */
static int deny_message(ssh_session session, ssh_message msg, void *arg)
{
	return 1;
}

static int set_options(struct ssh *s, const struct ssh_target *t, int fd,
		       struct sb_err *err)
{
	/*
	 * One good algorithm each, and no files: neither the user's
	 * configuration nor a known_hosts has a say.
	 */
	const struct {
		enum ssh_options_e option;
		const void *value;
	} options[] = {
		{ SSH_OPTIONS_PROCESS_CONFIG, &(bool){ false } },
		{ SSH_OPTIONS_SSH_DIR, "/nonexistent" },
		{ SSH_OPTIONS_KNOWNHOSTS, "/dev/null" },
		{ SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null" },
		{ SSH_OPTIONS_HOST, t->host },
		{ SSH_OPTIONS_USER, t->user },
		{ SSH_OPTIONS_KEY_EXCHANGE,
		  "curve25519-sha256,curve25519-sha256@libssh.org" },
		{ SSH_OPTIONS_HOSTKEYS, "ssh-ed25519" },
		{ SSH_OPTIONS_CIPHERS_C_S, SSH_CIPHERS },
		{ SSH_OPTIONS_CIPHERS_S_C, SSH_CIPHERS },
		{ SSH_OPTIONS_COMPRESSION, "no" },
		{ SSH_OPTIONS_FD, &fd },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (ssh_options_set(s->session, options[i].option,
				    options[i].value) != SSH_OK)
			return sb_fail(err, SB_SYSTEM,
				       "cannot set up the SSH session: %s",
				       ssh_get_error(s->session));
	ssh_set_blocking(s->session, 0);
	ssh_set_message_callback(s->session, deny_message, NULL);
	ssh_set_counters(s->session, &s->counter, NULL);
	return 0;
}

/* Exchange keys.  SB_BUSY when the connection broke. */
static int handshake(struct ssh *s, int64_t deadline, struct sb_err *err)
{
	for (;;) {
		int rc = ssh_connect(s->session);

		if (rc == SSH_OK)
			return 0;
		if (rc != SSH_AGAIN)
			return sb_fail(err, SB_BUSY, "%s",
				       ssh_get_error(s->session));
		if (session_wait(s, deadline, err) < 0)
			return -1;
	}
}

static int check_host_key(struct ssh *s, const char *line, struct sb_err *err)
{
	static const char type[] = "ssh-ed25519 ";
	autokey ssh_key got = NULL, want = NULL;
	autofree char *b64 = NULL;

	if (!str_starts(line, type))
		return sb_fail(err, SB_INVALID,
			       "the known host key is not an Ed25519 key");
	line += strlen(type);
	b64 = xstrndup(line, strcspn(line, " \r\n"));
	if (ssh_pki_import_pubkey_base64(b64, SSH_KEYTYPE_ED25519, &want) !=
	    SSH_OK)
		return sb_fail(err, SB_INVALID,
			       "the known host key cannot be read");
	if (ssh_get_server_publickey(s->session, &got) != SSH_OK)
		return session_fail(s, "the guest showed no host key", err);
	if (ssh_key_cmp(got, want, SSH_KEY_CMP_PUBLIC) != 0) {
		sb_fail(err, SB_DENIED,
			"the host key of the guest differs from the one it was given");
		return sb_hint(
			err,
			"another program may have taken the port: look with 'sandboxctl port'");
	}
	return 0;
}

static int authenticate(struct ssh *s, const struct ssh_target *t,
			int64_t deadline, struct sb_err *err)
{
	autokey ssh_key key = NULL;

	if (ssh_pki_import_privkey_file(t->key_file, NULL, NULL, NULL, &key) !=
	    SSH_OK)
		return sb_fail(err, SB_SYSTEM, "cannot read the SSH key '%s'",
			       t->key_file);
	for (;;) {
		switch (ssh_userauth_publickey(s->session, NULL, key)) {
		case SSH_AUTH_SUCCESS:
			return 0;
		case SSH_AUTH_AGAIN:
			break;
		case SSH_AUTH_DENIED:
		case SSH_AUTH_PARTIAL:
			return sb_fail(
				err, SB_AUTH,
				"the guest does not accept the SSH key for user '%s'",
				t->user);
		default:
			return sb_fail(err, SB_BUSY, "%s",
				       ssh_get_error(s->session));
		}
		if (session_wait(s, deadline, err) < 0)
			return -1;
	}
}

static int login(const struct ssh_target *t, int fd /* takes */,
		 int64_t deadline, struct ssh **ret, struct sb_err *err)
{
	autoclose int guard = fd;
	autossh struct ssh *s = xcalloc(1, sizeof(*s));

	s->cancel_fd = t->cancel_fd;
	s->session = ssh_new();
	if (!s->session)
		return sb_fail(err, SB_SYSTEM, "cannot make an SSH session");
	if (set_options(s, t, fd, err) < 0)
		return -1;
	steal_fd(&guard); /* the session closes it from here on */
	if (handshake(s, deadline, err) < 0 ||
	    check_host_key(s, t->host_key, err) < 0 ||
	    authenticate(s, t, deadline, err) < 0)
		return -1;
	s->event = ssh_event_new();
	if (!s->event || ssh_event_add_session(s->event, s->session) != SSH_OK)
		return sb_fail(err, SB_SYSTEM, "cannot watch the SSH session");
	*ret = steal(&s);
	return 0;
}

static int open_timeout(const struct ssh_target *t, const struct sb_err *last,
			struct sb_err *err)
{
	struct sb_err cause = *last; /* may be err itself */

	sb_fail(err, SB_TIMEOUT,
		"no SSH login to the guest (%s port %d) within %d s: %s",
		t->host, t->port, (t->timeout_ms + 999) / 1000, cause.msg);
	return sb_hint(
		err,
		"see what the guest is doing: sandboxctl logs --source serial");
}

static int open_at(const struct ssh_target *t, const struct addrinfo *ai,
		   struct ssh **ret, struct sb_err *err)
{
	int64_t deadline = clock_ms() + t->timeout_ms;
	int patience = BANNER_MIN_MS, broken = 0;

	for (;;) {
		int64_t try = MIN(deadline, clock_ms() + patience);
		int fd = -1;

		if (dial(t, ai, try, &fd, err) == 0) {
			if (login(t, fd, deadline, ret, err) == 0)
				return 0;
			if (err->code == SB_BUSY && ++broken == MAX_BROKEN) {
				err->code = SB_GUEST;
				return sb_wrap(err,
					       "no SSH login to the guest");
			}
		} else if (err->code == SB_TIMEOUT) {
			patience = MIN(2 * patience, BANNER_MAX_MS);
		}
		if (err->code != SB_BUSY && err->code != SB_TIMEOUT)
			return -1;
		if (clock_left(deadline) == 0)
			return open_timeout(t, err, err);
		if (err->code == SB_BUSY) {
			struct sb_err why;

			try = MIN(deadline, clock_ms() + RETRY_MS);
			if (wait_fd(-1, 0, t->cancel_fd, try, &why) < 0 &&
			    why.code == SB_CANCELLED) {
				*err = why;
				return -1;
			}
		}
	}
}

int ssh_open(const struct ssh_target *t, struct ssh **ret, struct sb_err *err)
{
	struct addrinfo *ai = NULL;
	struct sb_err e = { 0 };
	int rc;

	if (parse_address(t, &ai, &e) < 0)
		rc = -1;
	else
		rc = open_at(t, ai, ret, &e);
	if (ai)
		freeaddrinfo(ai);
	if (rc < 0 && err) {
		blame_clean(&e);
		*err = e;
	}
	return rc;
}

void ssh_close(struct ssh *s)
{
	if (!s)
		return;
	if (s->event) {
		ssh_event_remove_session(s->event, s->session);
		ssh_event_free(s->event);
	}
	if (s->session) {
		ssh_disconnect(s->session);
		ssh_free(s->session);
	}
	free(s);
}
