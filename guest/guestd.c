/* SPDX-License-Identifier: Apache-2.0 */
/* guestd, the server in the guest: options, start-up, personalisation. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/api.h"
#include "guest/auth.h"
#include "guest/bundle.h"
#include "guest/control.h"
#include "guest/desktop.h"
#include "guest/gateway-zmq.h"
#include "guest/gateway.h"
#include "guest/guestd.h"
#include "guest/child-log.h"
#include "guest/message.h"
#include "guest/options.h"
#include "guest/parts.h"
#include "guest/personal.h"
#include "guest/rootfs.h"
#include "guest/run.h"

#define MAX_BODY (8 * 1024 * 1024)
#define MAX_LOG (4 * 1024 * 1024)
#define SHARE_TAG "shared"
#define DISK "/dev/vda"
/* After the host was told that we are ready: its first command comes first. */
#define DESKTOP_DELAY_MS 500
#define KERNEL_DELAY_MS 1500

static int authorize(void *ctx, struct http_req *req, struct sb_err *err)
{
	const struct guestd *g = ctx;

	return auth_check(g->auth, req, err);
}

static int append_file(const char *path, const char *data, size_t len,
		       struct sb_err *err)
{
	autoclose int fd = open(
		path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
		0644);

	if (fd < 0 || fs_write_all(fd, data, len) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", path);
	return 0;
}

/* Where the sandbox's own share is mounted; NULL if it is not. */
static const char *share_path(const struct message_personalise *p)
{
	for (size_t i = 0; i < p->nmounts; i++)
		if (strcmp(p->mount[i].tag, SHARE_TAG) == 0 &&
		    personal_is_mounted(p->mount[i].path))
			return p->mount[i].path;
	return NULL;
}

/* Go on logging in the share, where the host can read it. */
static void move_log(const struct guestd *g,
		     const struct message_personalise *p)
{
	const char *share = share_path(p);
	autofree char *old = NULL, *dir = NULL, *new = NULL, *text = NULL;
	struct sb_err err;
	size_t len = 0;

	if (!g->own_log || !share)
		return;
	old = xasprintf("%s/guestd.log", g->run_dir);
	dir = xasprintf("%s/logs", share);
	new = xasprintf("%s/%s", dir,
			p->server_log ? p->server_log : "guestd.log");
	fs_read(old, MAX_LOG, &text, &len, NULL);
	if (fs_mkdirs(dir, 0755, &err) < 0 ||
	    append_file(new, text, len, &err) < 0 ||
	    log_open(new, true, &err) < 0)
		log_warn("%s", err.msg);
	else
		unlink(old);
}

static void grow(void *arg)
{
	struct sb_err err;
	long long mib;

	if (rootfs_grow(DISK, &mib, &err) < 0)
		log_warn("root file system: %s", err.msg);
	else if (mib)
		log_info("root file system grew by %lld MiB", mib);
}

/* Serve another port as well, if the sandbox is to have one. */
static void listen_too(struct guestd *g, int port)
{
	struct sb_err err;

	if (!port || port == g->port)
		return;
	if (httpd_listen_tcp(g->httpd, g->listen, port, &g->port, &err) < 0)
		log_err("%s", err.msg);
}

/* Not worth ending for: all that it serves is on our own port, too. */
static void listen_jupyter(struct guestd *g, int port)
{
	struct sb_err err;

	if (!port || port == g->jupyter_port)
		return;
	if (httpd_listen_tcp(g->httpd, g->listen, port, NULL, &err) < 0)
		log_err("Jupyter's port: %s", err.msg);
	else
		g->jupyter_port = port;
}

/* Kernels and the desktop log in the share, too. */
static void move_child_logs(const struct guestd *g,
			    const struct message_personalise *p)
{
	const char *share = share_path(p);
	autofree char *file = xasprintf(
		"logs/%s", p->jupyter_log ? p->jupyter_log : KERNEL_LOG);
	autofree char *dir = xasprintf("%s/logs", share ? share : "");
	struct sb_err err;

	if (!share)
		return;
	if (fs_mkdirs(dir, 0755, &err) < 0) {
		log_warn("%s", err.msg);
		return;
	}
	child_log_move(g->kernel_log, share, file);
	child_log_move(g->desktop_log, share, "logs/" DESKTOP_LOG);
}

static void own_origins(struct guestd *g, const struct options *o)
{
	g->origins = xcalloc(MAX_ORIGINS + MESSAGE_MAX_ORIGINS + 1,
			     sizeof(*g->origins));
	memcpy(g->origins, o->origins, o->norigins * sizeof(*g->origins));
	g->nown_origins = o->norigins;
}

/* Let those of the message ask as well, which was checked and is ours. */
static void add_origins(struct guestd *g)
{
	const json_t *list = json_object_get(g->message, "origins"), *origin;
	const char **to = g->origins + g->nown_origins;
	size_t i;

	json_array_foreach(list, i, origin)
		*to++ = json_string_value(origin);
	*to = NULL;
}

/* Become the sandbox of the message, which has been applied. */
static void take_identity(struct guestd *g, const struct message_personalise *p,
			  struct auth_jwt *jwt /* takes */,
			  json_t *receipt /* takes */)
{
	auth_set_jwt(g->auth, jwt);
	auth_set_token(g->auth, p->token);
	free(g->sandbox);
	g->sandbox = xstrdup(p->id);
	json_decref(g->message);
	g->message = json_deep_copy(p->json);
	json_object_del(g->message, "entropy");
	json_object_del(g->message, "time_ms");
	add_origins(g);
	json_decref(g->receipt);
	g->receipt = receipt;
	if (p->debug)
		log_set_level(LOG_LEVEL_DEBUG);
	move_log(g, p);
	move_child_logs(g, p);
	listen_too(g, p->server_port);
	listen_jupyter(g, p->jupyter_port);
	log_info("this is sandbox '%s'", g->sandbox);
}

/* What the host says of the display goes before our own option. */
static void begin_desktop(struct guestd *g, int delay_ms)
{
	const char *size = json_str_or(g->message, "display", g->display);
	int width = 0, height = 0;
	struct sb_err err;

	if (size && desktop_parse_size(size, &width, &height, &err) < 0)
		log_warn("display: %s", err.msg);
	desktop_begin(g->desktop, width, height, delay_ms);
}

/* The same of kernels, which come after whoever waits for the sandbox. */
static void begin_kernels(struct guestd *g, int delay_ms)
{
	struct gateway_limits l = gateway_config(g->gateway)->limits;

	l.max_kernels =
		(int)json_int_or(g->message, "max_kernels", l.max_kernels);
	l.cull_ms =
		json_int_or(g->message, "kernel_idle", l.cull_ms / 1000) * 1000;
	l.warm = json_bool_or(g->message, "warm_kernel", l.warm);
	gateway_open(g->gateway, &l, delay_ms);
}

static int personalise(struct guestd *g, const json_t *msg, struct sb_err *err)
{
	struct message_personalise p;
	struct auth_jwt *jwt = NULL;
	json_t *receipt;
	int r;

	if (message_parse_personalise(msg, &p, err) < 0)
		return -1;
	if (g->sandbox && strcmp(g->sandbox, p.id) != 0)
		r = sb_fail(err, SB_CONFLICT, "this is sandbox '%s' already",
			    g->sandbox);
	else
		r = auth_jwt_parse(p.env, &jwt, err);
	if (r == 0)
		r = personal_apply(&p, g->run_dir, &receipt, err);
	if (r == 0) {
		take_identity(g, &p, steal(&jwt), receipt);
		r = personal_save(g->run_dir, g->message, receipt, err);
		loop_work(g->loop, grow, NULL, NULL);
		begin_desktop(g, DESKTOP_DELAY_MS);
		gateway_cool(g->gateway);
		begin_kernels(g, KERNEL_DELAY_MS);
	}
	auth_jwt_free(jwt);
	message_personalise_done(&p);
	return r;
}

/* A small file of one line; "" if there is none. */
static json_t *line_of(const char *path)
{
	autofree char *text = NULL;

	if (fs_read(path, 256, &text, NULL, NULL) < 0)
		return json_str("");
	return json_text(text, strcspn(text, "\n"));
}

static json_t *bundle_hash(void)
{
	autofree char *path = bundle_file(".hash");

	return line_of(path);
}

static json_t *hello(const struct guestd *g)
{
	json_t *j = json_object();

	json_put(j, "type", json_str("hello"));
	json_put(j, "version", json_str(PACKAGE_VERSION));
	json_put(j, "bundle", bundle_hash());
	json_put(j, "boot_id", line_of("/proc/sys/kernel/random/boot_id"));
	json_put(j, "personalised", json_boolean(g->sandbox != NULL));
	return j;
}

static json_t *on_message(void *arg, const json_t *msg)
{
	struct guestd *g = arg;
	const char *type = json_str_or(msg, "type", "");
	struct sb_err err;

	if (strcmp(type, "identify") == 0)
		return hello(g);
	if (strcmp(type, "sync") == 0) {
		/* The machine is about to be switched off. */
		sync();
		return json_pack("{s:s}", "type", "synced");
	}
	if (strcmp(type, "personalise") != 0)
		sb_fail(&err, SB_INVALID, "unknown message type '%s'", type);
	else if (personalise(g, msg, &err) == 0)
		return json_pack("{s:s, s:O}", "type", "personalised",
				 "receipt", g->receipt);
	log_err("control channel: %s", err.msg);
	return message_error(&err);
}

/* What an earlier guestd of this boot was told. */
static void resume(struct guestd *g)
{
	autojson json_t *msg = NULL, *receipt = NULL;
	struct message_personalise p;
	struct auth_jwt *jwt;
	struct sb_err err;

	if (personal_load(g->run_dir, &msg, &receipt, &err) < 0) {
		if (err.code != SB_NOTFOUND)
			log_warn("%s", err.msg);
		return;
	}
	if (message_parse_personalise(msg, &p, &err) < 0) {
		log_warn("personal.json: %s", err.msg);
		return;
	}
	if (auth_jwt_parse(p.env, &jwt, &err) < 0)
		log_warn("personal.json: %s", err.msg);
	else
		take_identity(g, &p, jwt, steal(&receipt));
	message_personalise_done(&p);
}

static int open_log(const struct options *o, struct sb_err *err)
{
	autofree char *path = o->log ? xstrdup(o->log)
				     : xasprintf("%s/guestd.log", o->run_dir);

	if (fs_mkdirs(o->run_dir, 0755, err) < 0)
		return -1;
	return log_open(path, true, err);
}

static int start(struct guestd *g, const struct options *o, struct sb_err *err)
{
	struct httpd_config cfg = {
		.routes = guestd_routes,
		.ctx = g,
		.server = "guestd/" PACKAGE_VERSION,
		.title = "guestd",
		.about = "The server in a sandbox: shell, code and files. "
			 "Every GET can be asked with HEAD, too.",
		.version = PACKAGE_VERSION,
		.max_body = MAX_BODY,
		.authorize = authorize,
		.origins = g->origins,
	};
	struct auth_jwt *jwt;

	if (open_log(o, err) < 0 || auth_jwt_parse_environ(&jwt, err) < 0)
		return -1;
	auth_set_jwt(g->auth, jwt);
	if (o->token_file && auth_read_token(g->auth, o->token_file, err) < 0)
		return -1;
	if (parts_make(g, o, err) < 0)
		return -1;
	g->httpd = httpd_new(g->loop, &cfg, err);
	if (!g->httpd ||
	    httpd_listen_tcp(g->httpd, o->listen, o->port, &g->port, err) < 0)
		return -1;
	listen_jupyter(g, o->jupyter_port);
	gateway_begin(g->gateway);
	jupyter_sessions_load(g);
	if (!auth_is_open(g->auth)) {
		resume(g);
		g->control = control_new(g->loop, o->control, on_message, g);
	}
	if (auth_is_open(g->auth)) {
		begin_desktop(g, 0);
		begin_kernels(g, 0);
	}
	printf("listening on %s port %d\n", o->listen, g->port);
	fflush(stdout);
	log_info("guestd %s listens on %s port %d", PACKAGE_VERSION, o->listen,
		 g->port);
	return 0;
}

static void guestd_done(struct guestd *g)
{
	/* Connections are closed by the loop, which still reads from them. */
	httpd_stop(g->httpd);
	control_free(g->control);
	parts_end(g);
	httpd_free(g->httpd);
	zlink_unload();
	loop_free(g->loop);
	auth_free(g->auth);
	free(g->sandbox);
	free(g->languages_file);
	free(g->origins);
	parts_done(g);
	json_decref(g->message);
	json_decref(g->receipt);
	json_decref(g->languages);
}

int main(int argc, char **argv)
{
	struct options o;
	struct guestd g = { 0 };
	struct sb_err err;
	int r;

	options_parse(argc, argv, &o);
	if (o.debug)
		log_set_level(LOG_LEVEL_DEBUG);
	g.loop = loop_new();
	g.started_ms = clock_ms();
	g.pid = getpid();
	g.run_dir = o.run_dir;
	g.listen = o.listen;
	g.display = o.display;
	g.auth = auth_new(o.no_auth);
	g.own_log = !o.log;
	g.languages_file = o.languages ? xstrdup(o.languages)
				       : bundle_file("languages.json");
	own_origins(&g, &o);
	r = start(&g, &o, &err);
	if (r == 0) {
		loop_run(g.loop);
		log_info("guestd ends");
	} else {
		fprintf(stderr, "guestd: %s\n", err.msg);
		if (err.hint[0])
			fprintf(stderr, "guestd: %s\n", err.hint);
	}
	guestd_done(&g);
	return r == 0 ? 0 : 1;
}
