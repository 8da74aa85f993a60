/* SPDX-License-Identifier: Apache-2.0 */
/* The server: libwebsockets on the daemon's loop, listening, shutdown. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/httpd-private.h"
#include "common/log.h"

#define MAX_CONNS 2048
#define ACCEPT_RETRY_MS 100 /* after running out of descriptors */
#define EVLIB LWS_INSTALL_LIBDIR "/libwebsockets-evlib_uv.so"

struct listener {
	LIST_ENTRY(listener) next;
	struct httpd *h;
	uv_poll_t poll;
	struct loop_timer *retry;
	int fd;
	char *path; /* of a UNIX socket */
};

static void listen_again(struct httpd *h);

static void drop_conn(struct http_conn *c)
{
	struct httpd *h = c->h;

	LIST_REMOVE(c, next);
	conn_closed(c);
	if (h->stats.connections-- == MAX_CONNS)
		listen_again(h);
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason,
		    void *user, void *in, size_t len)
{
	struct http_conn *c = lws_get_opaque_user_data(wsi);

	switch (reason) {
	case LWS_CALLBACK_RAW_ADOPT:
		c->wsi = wsi;
		conn_open(c);
		return 0;
	case LWS_CALLBACK_RAW_RX:
		return conn_rx(c, in, len);
	case LWS_CALLBACK_RAW_WRITEABLE:
		return conn_writable(c);
	case LWS_CALLBACK_RAW_CLOSE:
		if (c->wsi)
			drop_conn(c);
		return 0;
	default:
		return 0;
	}
}

static const struct lws_protocols protocols[] = {
	{ .name = "http", .callback = on_event, .tx_packet_size = 64 * 1024 },
	{ 0 },
};

static void on_lws_log(int level, const char *line)
{
	log_debug("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

static int create_lws(struct httpd *h, struct sb_err *err)
{
	void *loops[] = { loop_uv(h->loop) };
	struct lws_context_creation_info info = {
		.options = LWS_SERVER_OPTION_LIBUV |
			   LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.foreign_loops = loops,
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = protocols,
		.pcontext = &h->lws,
		.gid = -1,
		.uid = -1,
		.fd_limit_per_thread = MAX_CONNS + 8,
		.pt_serv_buf_size = 16 * 1024,
		.vhost_name = "http",
	};

	lws_set_log_level(LLL_ERR | LLL_WARN, on_lws_log);
	if (access(EVLIB, R_OK) < 0) {
		sb_fail(err, SB_MISSING, "'%s' is not installed", EVLIB);
		return sb_hint(err, "apt-get install libwebsockets-evlib-uv");
	}
	h->lws = lws_create_context(&info);
	if (!h->lws)
		return sb_fail(err, SB_SYSTEM, "cannot start libwebsockets");
	h->vhost = lws_create_vhost(h->lws, &info);
	if (!h->vhost)
		return sb_fail(err, SB_SYSTEM, "cannot start libwebsockets");
	return 0;
}

struct httpd *httpd_new(struct loop *l, const struct httpd_config *cfg,
			struct sb_err *err)
{
	struct httpd *h = xcalloc(1, sizeof(*h));

	h->loop = l;
	h->cfg = *cfg;
	if (create_lws(h, err) < 0) {
		httpd_free(h);
		return NULL;
	}
	return h;
}

static void listener_closed(uv_handle_t *handle)
{
	struct listener *ln = handle->data;

	close(ln->fd);
	free(ln->path);
	free(ln);
}

static void listener_free(struct listener *ln)
{
	LIST_REMOVE(ln, next);
	if (ln->path)
		unlink(ln->path);
	loop_timer_free(ln->retry);
	uv_close((uv_handle_t *)&ln->poll, listener_closed);
}

static void count_closing(uv_handle_t *handle, void *arg)
{
	*(int *)arg += uv_is_closing(handle);
}

static void finish_closing(struct loop *l)
{
	int n;

	do {
		n = 0;
		uv_run(loop_uv(l), UV_RUN_NOWAIT);
		uv_walk(loop_uv(l), count_closing, &n);
	} while (n);
}

void httpd_stop(struct httpd *h)
{
	if (h)
		h->stopped = true;
}

void httpd_free(struct httpd *h)
{
	struct listener *ln;

	if (!h)
		return;
	while ((ln = LIST_FIRST(&h->listeners)))
		listener_free(ln);
	/*
	 * libwebsockets on a foreign loop closes its handles on the first
	 * call, through the loop, and frees the rest on the second.
	 */
	if (h->lws) {
		lws_context_destroy(h->lws);
		finish_closing(h->loop);
	}
	if (h->lws)
		lws_context_destroy(h->lws);
	loop_timer_free(h->heartbeat);
	loop_timer_free(h->ws_beat);
	finish_closing(h->loop);
	free(h->openapi);
	free(h);
}

void httpd_get_stats(const struct httpd *h, struct httpd_stats *ret)
{
	*ret = h->stats;
}

static bool peer_is_us(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	return cred.uid == 0 || cred.uid == geteuid();
}

static void adopt(struct listener *ln, int fd /* takes */)
{
	struct http_conn *c;
	lws_adopt_desc_t desc = {
		.vh = ln->h->vhost,
		.type = LWS_ADOPT_SOCKET,
		.fd.sockfd = fd,
		.vh_prot_name = protocols[0].name,
	};
	int on = 1;

	if (ln->path && !peer_is_us(fd)) {
		log_warn("refused a connection of another user");
		close(fd);
		return;
	}
	if (!ln->path)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c = xcalloc(1, sizeof(*c));
	c->h = ln->h;
	c->local = ln->path != NULL;
	desc.opaque = c;
	if (!lws_adopt_descriptor_vhost_via_info(&desc)) {
		log_warn("cannot take a connection"); /* and fd is closed */
		free(c);
		return;
	}
	LIST_INSERT_HEAD(&ln->h->conns, c, next);
	ln->h->stats.connections++;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct listener *ln = poll->data;

	while (ln->h->stats.connections < MAX_CONNS) {
		int fd = accept4(ln->fd, NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			adopt(ln, fd);
		} else if (errno == EMFILE || errno == ENFILE) {
			log_warn("out of file descriptors, clients must wait");
			uv_poll_stop(poll);
			loop_timer_set(ln->retry, ACCEPT_RETRY_MS);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
	uv_poll_stop(poll); /* until a connection ends */
}

static void listener_start(void *arg)
{
	struct listener *ln = arg;

	uv_poll_start(&ln->poll, UV_READABLE, on_connection);
}

static void listen_again(struct httpd *h)
{
	struct listener *ln;

	LIST_FOREACH(ln, &h->listeners, next)
		listener_start(ln);
}

static void add_listener(struct httpd *h, int fd /* takes */, const char *path)
{
	struct listener *ln = xcalloc(1, sizeof(*ln));
	int r;

	ln->h = h;
	ln->fd = fd;
	ln->path = xstrdup0(path);
	ln->retry = loop_timer_new(h->loop, listener_start, ln);
	r = uv_poll_init(loop_uv(h->loop), &ln->poll, fd);
	assert(r == 0);
	(void)r;
	ln->poll.data = ln;
	LIST_INSERT_HEAD(&h->listeners, ln, next);
	listener_start(ln);
}

int httpd_listen_unix(struct httpd *h, const char *path, struct sb_err *err)
{
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct stat st;

	if (strlen(path) >= sizeof(sa.sun_path))
		return sb_fail(err, SB_INVALID,
			       "the socket path '%s' is longer than %zu bytes",
			       path, sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
	/* A socket file takes its mode from the socket: never open to others,
	 * not for a moment. */
	if (fd < 0 || fchmod(fd, 0600) < 0 ||
	    bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fd, SOMAXCONN) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot listen on '%s': %m", path);
	add_listener(h, steal_fd(&fd), path);
	return 0;
}

static int bound_port(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	char port[8];

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&ss, len, NULL, 0, port,
			sizeof(port), NI_NUMERICSERV) != 0)
		return 0;
	return atoi(port);
}

int httpd_listen_tcp(struct httpd *h, const char *addr, int port, int *ret_port,
		     struct sb_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	autofree char *service = xasprintf("%d", port);
	struct addrinfo *ai;
	autoclose int fd = -1;
	int on = 1, saved;
	bool good;

	if (getaddrinfo(addr, service, &hints, &ai) != 0)
		return sb_fail(err, SB_INVALID, "'%s' is not an IP address",
			       addr);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	good = fd >= 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	       bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	       listen(fd, SOMAXCONN) == 0;
	saved = errno;
	freeaddrinfo(ai);
	errno = saved;
	if (!good)
		return sb_fail(err,
			       errno == EADDRINUSE ? SB_CONFLICT
						   : sb_code_of_errno(errno),
			       "cannot listen on %s port %d: %m", addr, port);
	if (ret_port)
		*ret_port = bound_port(fd);
	add_listener(h, steal_fd(&fd), NULL);
	return 0;
}
