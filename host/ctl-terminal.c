/* SPDX-License-Identifier: Apache-2.0 */
/* The user's terminal on one in the guest. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/tty.h"
#include "common/util.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-terminal.h"
#include "host/ctl-wsline.h"

#define START_MS 60000
#define ACK_EVERY (64 * 1024)
#define MAX_WAITING (64 * 1024) /* of what was typed */
#define LOST_MS 10000
#define RETRY_MS 100
#define TYPED_INTR "\003"
#define TYPED_EOF "\004"

struct session {
	const struct guestd_at *at;
	const struct terminal_use *u;
	struct wsline line;
	struct tty tty;
	int signal_fd;
	bool known; /* offset is */
	uint64_t offset, acked;
	bool in_end, detached;
	int status; /* -1: it runs */
	struct sb_err *err;
	bool failed; /* err says why */
};

static void add_size(const struct tty *t, json_t *j)
{
	int cols, rows;

	tty_size(t, &cols, &rows);
	json_put(j, "cols", json_integer(cols));
	json_put(j, "rows", json_integer(rows));
}

/* The guest's programs are to draw for the user's terminal. */
static void add_term(json_t *body)
{
	const char *term = getenv("TERM");
	json_t *env = json_object_get(body, "env");

	if (!env) {
		env = json_object();
		json_put(body, "env", env);
	}
	if (!str_empty(term) && !json_object_get(env, "TERM"))
		json_put(env, "TERM", json_str(term));
}

int terminal_new(const struct guestd_at *at, json_t *body, char **ret_id,
		 struct sb_err *err)
{
	const struct tty t = { .in_fd = STDIN_FILENO, .out_fd = STDOUT_FILENO };
	autohclient struct hclient *c = NULL;
	autojson json_t *reply = NULL;
	const char *id;

	add_size(&t, body);
	add_term(body);
	if (guestd_open(at, START_MS, -1, &c, err) < 0 ||
	    hclient_json(c, "POST", "/v1/terminals", body, &reply, err) < 0)
		return -1;
	id = json_str_or(reply, "id", "");
	if (!*id || strspn(id, "0123456789abcdef") != strlen(id))
		return sb_fail(err, SB_GUEST, "guestd names no terminal");
	*ret_id = xstrdup(id);
	return 0;
}

static void send_json(struct session *s, json_t *j /* takes */)
{
	autofree char *text = json_print(j);

	json_decref(j);
	wsline_send(&s->line, WS_TEXT, text, strlen(text));
}

static int fail(struct session *s, enum sb_code code, const char *text)
{
	s->failed = true;
	sb_fail(s->err, code, "%s", text);
	return 1;
}

static int on_output(struct session *s, const char *data, size_t len)
{
	s->offset += len;
	if (fs_write_all(STDOUT_FILENO, data, len) < 0)
		return fail(s, SB_SYSTEM, "cannot write the output");
	if (s->offset - s->acked >= ACK_EVERY) {
		s->acked = s->offset;
		send_json(s, json_pack("{s:s, s:I}", "type", "ack", "offset",
				       (json_int_t)s->offset));
	}
	return 0;
}

static int on_text(struct session *s, const struct ws_event *e)
{
	autojson json_t *j = NULL;
	const char *type;

	if (json_parse(e->data, e->len, &j, NULL) < 0)
		return fail(s, SB_GUEST, "guestd does not speak JSON");
	type = json_str_or(j, "type", "");
	if (strcmp(type, "hello") == 0) {
		s->known = true;
		s->offset = s->acked = (uint64_t)json_int_or(j, "offset", 0);
	} else if (strcmp(type, "exit") == 0) {
		s->status = (int)(json_int_or(j, "exit_code", 255) & 0xff);
		return 1;
	}
	return 0; /* a resize by others; an error about what we sent */
}

static int on_message(void *arg, const struct ws_event *e)
{
	struct session *s = arg;

	if (e->op == WS_BINARY)
		return on_output(s, e->data, e->len);
	if (e->op == WS_TEXT)
		return on_text(s, e);
	/* Closed without an exit: as good as lost. */
	return 0;
}

static void type(struct session *s, const char *data, size_t len)
{
	if (len && !s->u->view)
		wsline_send(&s->line, WS_BINARY, data, len);
}

/* 1 when the user detaches. */
static int on_input(struct session *s)
{
	char data[4096], *escape;
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		s->in_end = true;
		type(s, TYPED_EOF, s->tty.raw ? 0 : 1);
		return 0;
	}
	escape = s->u->escape && s->tty.raw ? memchr(data, TERMINAL_ESCAPE, n)
					    : NULL;
	type(s, data, escape ? (size_t)(escape - data) : (size_t)n);
	s->detached = escape;
	return s->detached;
}

/* 1 when it is over. */
static int on_signal(struct session *s)
{
	struct signalfd_siginfo si;
	json_t *j;

	while (read(s->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGWINCH) {
			j = json_pack("{s:s}", "type", "resize");
			add_size(&s->tty, j);
			send_json(s, j);
		} else if (si.ssi_signo == SIGINT) {
			type(s, TYPED_INTR, 1);
		} else {
			if (s->u->owned)
				send_json(s,
					  json_pack("{s:s}", "type", "close"));
			wsline_flush(&s->line, s->err);
			return fail(s, SB_CANCELLED, "ended by a signal");
		}
	}
	return 0;
}

enum { FD_LINE, FD_SIGNAL, FD_IN, NFDS };

/* One turn: 0 to go on, 1 at the end, -1 when the line was lost. */
static int turn(struct session *s, struct sb_err *err)
{
	struct wsline *l = &s->line;
	bool listen = s->u->input && !s->in_end && l->out.len < MAX_WAITING;
	struct pollfd fds[NFDS] = {
		[FD_LINE] = { .fd = l->fd,
			      .events = POLLIN | (l->out.len ? POLLOUT : 0) },
		[FD_SIGNAL] = { .fd = s->signal_fd, .events = POLLIN },
		[FD_IN] = { .fd = listen ? STDIN_FILENO : -1,
			    .events = POLLIN },
	};
	int rc = 0;

	if (poll(fds, NFDS, l->in.len ? 0 : -1) < 0 && errno != EINTR)
		return sb_fail(err, SB_SYSTEM, "poll: %m");
	if (fds[FD_SIGNAL].revents)
		rc = on_signal(s);
	if (!rc && fds[FD_IN].revents)
		rc = on_input(s);
	if (!rc && (l->in.len || fds[FD_LINE].revents & ~POLLOUT))
		rc = wsline_receive(l, on_message, s, err);
	if (rc >= 0 && wsline_flush(l, err) < 0)
		return rc ? rc : -1;
	return rc;
}

static int connect_line(struct session *s, struct sb_err *err)
{
	autobuf struct buf path = { 0 };
	int cols, rows;

	tty_size(&s->tty, &cols, &rows);
	buf_addf(&path, "/v1/terminal/ws?id=%s&cols=%d&rows=%d", s->u->id, cols,
		 rows);
	if (s->u->view)
		buf_adds(&path, "&view=1");
	if (s->known || s->u->from_start)
		buf_addf(&path, "&offset=%llu", (unsigned long long)s->offset);
	return wsline_open(&s->line, s->at,
			   &(struct wsline_kind){ .path = path.p }, err);
}

/* One connection's worth; 0 when it is over, -1 when it was lost. */
static int follow(struct session *s, struct sb_err *err)
{
	int rc;

	if (connect_line(s, err) < 0)
		return -1;
	do
		rc = turn(s, err);
	while (rc == 0);
	wsline_close(&s->line);
	return rc < 0 ? -1 : 0;
}

static int go_on(struct session *s, struct sb_err *err)
{
	int64_t deadline = clock_ms() + LOST_MS;
	uint64_t before = 0;

	while (follow(s, err) < 0) {
		if (err->code != SB_SYSTEM && err->code != SB_TIMEOUT)
			return -1;
		if (s->offset > before)
			deadline = clock_ms() + LOST_MS;
		before = s->offset;
		if (!s->known || clock_left(deadline) <= 0)
			return -1;
		poll(NULL, 0, RETRY_MS);
	}
	return s->failed ? -1 : 0;
}

int terminal_use(const struct guestd_at *at, const struct terminal_use *u,
		 int *ret_status, struct sb_err *err)
{
	static const int signals[] = { SIGINT,	SIGTERM,  SIGHUP,
				       SIGQUIT, SIGWINCH, 0 };
	autoclose int fd = interrupt_open(signals, err);
	struct session s = {
		.at = at, .u = u, .signal_fd = fd, .status = -1, .err = err
	};
	int rc;

	if (fd < 0)
		return -1;
	tty_init(&s.tty, u->input ? STDIN_FILENO : -1, STDOUT_FILENO);
	rc = go_on(&s, err);
	tty_done(&s.tty);
	*ret_status = s.status;
	return rc;
}
