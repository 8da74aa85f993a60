/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of the desktop: how they are started, and found again. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/token.h"
#include "guest/child-log.h"
#include "guest/desktop-private.h"
#include "guest/session.h"

#define SERVER "Xvnc"
#define SOCKETS "/tmp/.X11-unix"
#define MAX_NUMBER 99
#define MAX_STATE 4096

static bool number_is_free(int n)
{
	char path[64];

	snprintf(path, sizeof(path), SOCKETS "/X%d", n);
	if (access(path, F_OK) == 0)
		return false;
	snprintf(path, sizeof(path), "/tmp/.X%d-lock", n);
	return access(path, F_OK) != 0;
}

/* One that the server had before it keeps, as programs were told of it. */
static int find_number(struct desktop *d, struct sb_err *err)
{
	for (int n = 1; !d->number && n <= MAX_NUMBER; n++)
		if (number_is_free(n))
			d->number = n;
	if (!d->number)
		return sb_fail(err, SB_BUSY, "all X displays are taken");
	snprintf(d->display, sizeof(d->display), ":%d", d->number);
	return 0;
}

/* The folder of all X sockets must be root's, or others could take names. */
static void make_socket_folder(void)
{
	if (geteuid() == 0 && mkdir(SOCKETS, 01777) == 0)
		chmod(SOCKETS, 01777);
}

static int make_folder(const struct desktop *d, const struct spawn_as *as,
		       struct sb_err *err)
{
	struct sockaddr_un sa;

	if (strlen(d->rfb) >= sizeof(sa.sun_path))
		return sb_fail(err, SB_INVALID,
			       "the folder '%s' has too long a name for a "
			       "socket in it",
			       d->dir);
	if (fs_mkdirs(d->dir, 0700, err) < 0)
		return -1;
	make_socket_folder();
	return spawn_as_own(as, d->dir, err);
}

static void add_counted(struct buf *b, const void *data, size_t len)
{
	char n[2] = { (char)(len >> 8), (char)len };

	buf_add(b, n, 2);
	buf_add(b, data, len);
}

/*
 * One cookie for whatever display: family "wild", no address, no number.  It is
 * given to the sandbox's user where he cannot put another file in its place.
 */
static int write_cookie(struct desktop *d, const struct spawn_as *as,
			struct sb_err *err)
{
	autofree char *made = xasprintf("%s.auth", d->dir);
	autobuf struct buf b = { 0 };

	random_bytes(d->cookie, sizeof(d->cookie));
	buf_add(&b, "\xff\xff", 2);
	add_counted(&b, "", 0);
	add_counted(&b, "", 0);
	add_counted(&b, "MIT-MAGIC-COOKIE-1", 18);
	add_counted(&b, d->cookie, sizeof(d->cookie));
	if (fs_write_atomic(made, b.p, b.len, 0600, err) < 0 ||
	    spawn_as_own(as, made, err) < 0)
		return -1;
	if (rename(made, d->auth) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", d->auth);
	return 0;
}

static int make_pipe(int *ret_in, int *ret_out, struct sb_err *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return sb_fail(err, SB_BUSY, "cannot make a pipe: %m");
	*ret_in = fd[0];
	*ret_out = fd[1];
	return 0;
}

/* Start it with its messages in the log, and out as its stdout. */
static int run(struct desktop *d, const struct spawn_as *as,
	       const char *const argv[], const char *name, int out,
	       struct desktop_child *c, struct sb_err *err)
{
	autoclose int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	autoclose int log = -1;
	int fd[3];

	/* A file, and no pipe: it may outlive us. */
	child_log_say(d->cfg.log, "it starts",
		      json_pack("{s:s}", "program", name));
	log = child_log_open(d->cfg.log);
	if (in < 0 || log < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open /dev/null: %m");
	fd[0] = in;
	fd[1] = out;
	fd[2] = log;
	if (spawn_fds(as, argv, d->cfg.workspace(d->cfg.arg), NULL, fd, &c->pid,
		      err) < 0)
		return -1;
	c->ours = true;
	c->birth = fdwatch_birth(c->pid);
	c->started_ms = clock_ms();
	return 0;
}

bool desktop_tell(struct desktop *d)
{
	if (d->told.width == d->width && d->told.height == d->height)
		return false;
	d->told =
		(struct screen_size){ .width = d->width, .height = d->height };
	d->set = (struct screen_size){ 0 };
	return true;
}

static int run_server(struct desktop *d, const struct spawn_as *as, int out,
		      struct sb_err *err)
{
	char size[32];
	const char *argv[] = {
		SERVER,
		d->display,
		"-geometry",
		size,
		"-depth",
		"24",
		"-auth",
		d->auth,
		"-nolisten",
		"tcp",
		"-displayfd",
		"1",
		"-rfbport",
		"-1",
		"-rfbunixpath",
		d->rfb,
		"-rfbunixmode",
		"0600",
		"-SecurityTypes",
		"None", /* who may open the socket may use it */
		"-AcceptSetDesktopSize=1",
		"-AlwaysShared=1",
		"-desktop",
		"sandbox",
		NULL,
	};

	desktop_tell(d);
	snprintf(size, sizeof(size), "%dx%d",
		 d->set.width ? d->set.width : d->width,
		 d->set.width ? d->set.height : d->height);
	unlink(d->rfb);
	return run(d, as, argv, SERVER, out, &d->server, err);
}

int desktop_spawn_server(struct desktop *d, int *ret_fd, struct sb_err *err)
{
	autospawnas struct spawn_as *as = NULL;
	autofree char *program = NULL;
	autoclose int in = -1, out = -1;

	if (d->cfg.make_as(d->cfg.arg, &as, err) < 0)
		return -1;
	program = spawn_as_find(as, SERVER);
	if (!program) {
		sb_fail(err, SB_MISSING, SERVER " is not installed");
		return sb_hint(err,
			       "apt-get install tigervnc-standalone-server");
	}
	if (find_number(d, err) < 0 || make_folder(d, as, err) < 0 ||
	    write_cookie(d, as, err) < 0)
		return -1;
	if (make_pipe(&in, &out, err) < 0 || run_server(d, as, out, err) < 0)
		return -1;
	*ret_fd = steal_fd(&in);
	return 0;
}

int desktop_spawn_session(struct desktop *d, int *ret_fd, struct sb_err *err)
{
	autofree char *script = xasprintf("%s/session", d->share);
	const char *argv[] = { "/bin/sh", script, d->dir, NULL };
	autospawnas struct spawn_as *as = NULL;
	autoclose int in = -1, out = -1;

	if (d->cfg.make_as(d->cfg.arg, &as, err) < 0 ||
	    make_pipe(&in, &out, err) < 0)
		return -1;
	desktop_put_env(d, as);
	if (run(d, as, argv, "session", out, &d->session, err) < 0)
		return -1;
	*ret_fd = steal_fd(&in);
	return 0;
}

static json_t *child_json(const struct desktop_child *c)
{
	return json_pack("{s:i, s:I}", "pid", (int)c->pid, "birth",
			 (json_int_t)c->birth);
}

/* Beside the folder, where the sandbox's user cannot write. */
static char *state_file(const struct desktop *d)
{
	return xasprintf("%s.json", d->dir);
}

void desktop_save(const struct desktop *d)
{
	autofree char *path = state_file(d), *text = NULL;
	autojson json_t *j = json_object();
	char cookie[2 * X11_COOKIE_LEN + 1];
	struct sb_err err;

	hex_encode(cookie, d->cookie, sizeof(d->cookie));
	json_put(j, "number", json_integer(d->number));
	json_put(j, "cookie", json_str(cookie));
	json_put(j, "width", json_integer(d->told.width));
	json_put(j, "height", json_integer(d->told.height));
	json_put(j, "set_width", json_integer(d->set.width));
	json_put(j, "set_height", json_integer(d->set.height));
	json_put(j, "server", child_json(&d->server));
	json_put(j, "session", child_json(&d->session));
	text = json_print(j);
	if (fs_write_atomic(path, text, strlen(text), 0600, &err) < 0)
		log_warn("desktop: %s", err.msg);
}

/* What a session left that ended while nobody looked; the server shows that
 * it was in this boot, and while any of it is there nobody else has its
 * number. */
static void end_rest(const json_t *session)
{
	pid_t pid = (pid_t)json_int_or(session, "pid", 0);

	if (pid > 1 && !fdwatch_birth(pid))
		session_signal(pid, SIGKILL);
}

/* Whether it is the process that we knew. */
static bool find_child(const json_t *j, struct desktop_child *c)
{
	c->pid = (pid_t)json_int_or(j, "pid", 0);
	c->birth = (uint64_t)json_int_or(j, "birth", 0);
	c->started_ms = clock_ms();
	c->ours = false;
	if (c->pid > 1 && c->birth && fdwatch_birth(c->pid) == c->birth)
		return true;
	c->pid = 0;
	return false;
}

static int parse_cookie(const char *hex, unsigned char *ret)
{
	unsigned int byte;

	if (strlen(hex) != 2 * X11_COOKIE_LEN)
		return -1;
	for (int i = 0; i < X11_COOKIE_LEN; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -1;
		ret[i] = (unsigned char)byte;
	}
	return 0;
}

int desktop_load(struct desktop *d)
{
	autofree char *path = state_file(d), *text = NULL;
	autojson json_t *j = NULL;
	size_t len;

	if (fs_read(path, MAX_STATE, &text, &len, NULL) < 0 ||
	    json_parse(text, len, &j, NULL) < 0 ||
	    parse_cookie(json_str_or(j, "cookie", ""), d->cookie) < 0)
		return -1;
	d->number = (int)json_int_or(j, "number", 0);
	d->told.width = (int)json_int_or(j, "width", 0);
	d->told.height = (int)json_int_or(j, "height", 0);
	d->set.width = (int)json_int_or(j, "set_width", 0);
	d->set.height = (int)json_int_or(j, "set_height", 0);
	snprintf(d->display, sizeof(d->display), ":%d", d->number);
	if (!find_child(json_object_get(j, "server"), &d->server))
		return -1;
	if (!find_child(json_object_get(j, "session"), &d->session))
		end_rest(json_object_get(j, "session"));
	return 0;
}
