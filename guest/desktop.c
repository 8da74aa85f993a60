/* SPDX-License-Identifier: Apache-2.0 */
/* The desktop: its states, and when it is started again. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "guest/child-log.h"
#include "guest/desktop-private.h"
#include "guest/session.h"

#define START_MS 60000	/* to be up; emulated machines are slow */
#define SETTLE_MS 15000 /* for a window manager, then it is used without */
#define STEADY_MS 30000
#define MAX_QUICK 5 /* failures in a row, then it is given up, nearly */
#define FIRST_WAIT_MS 100
#define LONG_WAIT_MS 30000

int desktop_parse_size(const char *s, int *width, int *height,
		       struct sb_err *err)
{
	unsigned int w = 0, h = 0;
	int end = 0;

	if (strcmp(s, "none") == 0) {
		*width = *height = 0;
		return 0;
	}
	if (sscanf(s, "%4ux%4u%n", &w, &h, &end) != 2 || s[end] ||
	    strspn(s, "0123456789x") != strlen(s) || w < DESKTOP_MIN_WIDTH ||
	    w > DESKTOP_MAX_WIDTH || h < DESKTOP_MIN_HEIGHT ||
	    h > DESKTOP_MAX_HEIGHT)
		return sb_fail(err, SB_INVALID,
			       "'%.32s' is not a size of a screen, %dx%d to "
			       "%dx%d, nor 'none'",
			       s, DESKTOP_MIN_WIDTH, DESKTOP_MIN_HEIGHT,
			       DESKTOP_MAX_WIDTH, DESKTOP_MAX_HEIGHT);
	*width = (int)w;
	*height = (int)h;
	return 0;
}

static void set_state(struct desktop *d, enum desktop_state state,
		      const char *reason)
{
	d->state = state;
	free(d->reason);
	d->reason = xstrdup0(reason);
	if (state == DESKTOP_UP)
		log_info("the desktop is up on display %s", d->display);
	screen_set_display(d->cfg.screen,
			   state == DESKTOP_UP ? d->display : NULL,
			   d->cfg.of ? NULL : d->cookie);
}

/* How long to wait before the n-th attempt. */
static int64_t wait_ms(int fails)
{
	return fails >= MAX_QUICK ? LONG_WAIT_MS : FIRST_WAIT_MS << fails;
}

static char *explain(const char *who, const struct desktop_child *c)
{
	int status;

	if (!c->ours || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return xasprintf("%s has ended", who);
	if (WIFEXITED(status))
		return xasprintf("%s ended with exit code %d", who,
				 WEXITSTATUS(status));
	return xasprintf("%s was ended by SIG%s", who,
			 sigabbrev_np(WTERMSIG(status)));
}

static void forget(struct desktop_child *c)
{
	fdwatch_free(steal(&c->watch));
	c->pid = 0;
}

/* End one that cannot be watched: nobody would learn of its end. */
static void drop(struct desktop_child *c)
{
	if (c->pid)
		session_signal(c->pid, SIGKILL);
	if (c->pid && c->ours)
		waitpid(c->pid, NULL, 0);
	forget(c);
}

static void end_session(struct desktop *d)
{
	if (d->session.pid)
		kill(-d->session.pid, SIGTERM);
}

static void fail(struct desktop *d, const char *reason)
{
	int64_t ms = wait_ms(d->fails++);

	log_warn("desktop: %s; it is started again in %lld ms", reason,
		 (long long)ms);
	child_log_say(d->cfg.log, reason, NULL);
	set_state(d, d->fails > MAX_QUICK ? DESKTOP_FAILED : DESKTOP_STARTING,
		  reason);
	loop_timer_set(d->timer, ms);
}

static void on_server_end(void *arg)
{
	struct desktop *d = arg;
	autofree char *why = explain("the X server", &d->server);
	bool was_up = d->serving;

	d->serving = false;
	forget(&d->server);
	fdwatch_free(steal(&d->ready));
	fdwatch_free(steal(&d->settled));
	end_session(d);
	d->outlived = d->session.pid != 0;
	if (!d->width) {
		set_state(d, DESKTOP_OFF, "the display is 'none'");
		return;
	}
	if (was_up && clock_ms() - d->server.started_ms > STEADY_MS)
		d->fails = 0;
	if (!was_up) /* perhaps somebody else took the number */
		d->number = 0;
	fail(d, why);
}

static void on_session_end(void *arg)
{
	struct desktop *d = arg;
	int64_t lived = clock_ms() - d->session.started_ms;
	autofree char *why = NULL;

	/* One that was killed leaves its window manager, which would not make
	 * room for the next.  Until it is reaped its number is its own. */
	session_signal(d->session.pid, SIGKILL);
	why = explain("the session", &d->session);
	forget(&d->session);
	d->outlived = false;
	if (lived > STEADY_MS)
		d->session_fails = 0;
	if (!d->serving)
		return;
	log_warn("desktop: %s", why);
	child_log_say(d->cfg.log, why, NULL);
	loop_timer_set(d->session_timer, wait_ms(d->session_fails++));
}

static void on_resized(struct screen_call *c, const struct sb_err *err)
{
	struct desktop *d =
		(struct desktop *)((char *)c -
				   offsetof(struct desktop, resize));

	d->resizing = false;
	if (err)
		log_warn("desktop: %s", err->msg);
	else
		desktop_save(d);
}

/* A server that runs, as another size is wanted since it was started. */
static void resize(struct desktop *d)
{
	const struct screen_module *m;
	struct sb_err err;

	if (d->resizing || !d->width || !desktop_tell(d))
		return;
	if (screen_module(d->cfg.screen, &m, &err) < 0) {
		log_warn("desktop: %s", err.msg);
		return;
	}
	d->resize.job = m->resize;
	d->resize.done = on_resized;
	d->resize.arg = &d->told;
	d->resizing = screen_ask(d->cfg.screen, &d->resize, &err) == 0;
	if (!d->resizing)
		log_warn("desktop: %s", err.msg);
}

/* All is there, or the rest is not waited for any more. */
static void settle(void *arg)
{
	struct desktop *d = arg;

	fdwatch_free(steal(&d->settled));
	if (!d->serving || d->state == DESKTOP_UP)
		return;
	loop_timer_clear(d->timer);
	set_state(d, DESKTOP_UP, NULL);
	resize(d);
}

static void start_session(void *arg)
{
	struct desktop *d = arg;
	struct sb_err err;
	int fd;

	if (!d->serving || d->session.pid)
		return;
	if (desktop_spawn_session(d, &fd, &err) == 0) {
		d->session.watch = fdwatch_new_pid(d->cfg.loop, d->session.pid,
						   on_session_end, d, &err);
		fdwatch_free(d->settled);
		d->settled = fdwatch_new(d->cfg.loop, fd, settle, d, &err);
	}
	if (!d->session.watch) {
		log_warn("desktop: %s", err.msg);
		drop(&d->session);
		loop_timer_set(d->session_timer, wait_ms(d->session_fails++));
	}
	if (!d->settled)
		settle(d);
	desktop_save(d);
}

/*
 * The server can be used.  Before there is a window manager, clicks on the
 * desktop do nothing, and windows stay without a frame.
 */
static void up(struct desktop *d)
{
	d->serving = true;
	set_state(d, DESKTOP_STARTING, "the window manager is being started");
	loop_timer_set(d->timer, SETTLE_MS);
	if (d->outlived) /* it was told to end: the next one comes after it */
		session_signal(d->session.pid, SIGKILL);
	else if (d->session.pid)
		settle(d);
	else
		start_session(d);
}

/* The server tells its number when it can be used; its end is no news. */
static void on_ready(void *arg)
{
	struct desktop *d = arg;
	char text[16];
	ssize_t n = read(fdwatch_fd(d->ready), text, sizeof(text));

	fdwatch_free(steal(&d->ready));
	if (n > 0)
		up(d);
}

static int start_server(struct desktop *d, struct sb_err *err)
{
	int fd;

	if (desktop_spawn_server(d, &fd, err) < 0)
		return -1;
	d->ready = fdwatch_new(d->cfg.loop, fd, on_ready, d, err);
	d->server.watch = fdwatch_new_pid(d->cfg.loop, d->server.pid,
					  on_server_end, d, err);
	if (!d->ready || !d->server.watch) {
		fdwatch_free(steal(&d->ready));
		drop(&d->server);
		return -1;
	}
	desktop_save(d);
	return 0;
}

/* The time for a start, or for a server to come up, is over. */
static void on_timer(void *arg)
{
	struct desktop *d = arg;
	struct sb_err err;

	if (d->serving) {
		log_warn("desktop: the window manager does not come up");
		settle(d);
		return;
	}
	if (d->server.pid) {
		log_warn("desktop: the X server does not come up");
		kill(d->server.pid, SIGKILL);
		return;
	}
	if (start_server(d, &err) == 0) {
		loop_timer_set(d->timer, START_MS);
	} else if (err.code == SB_MISSING) {
		log_info("desktop: %s", err.msg);
		set_state(d, DESKTOP_OFF, err.msg);
	} else {
		fail(d, err.msg);
	}
}

struct desktop *desktop_new(const struct desktop_config *cfg)
{
	struct desktop *d = xcalloc(1, sizeof(*d));

	d->cfg = *cfg;
	d->share = xstrdup(cfg->share);
	d->dir = xasprintf("%s/desktop", cfg->run_dir);
	d->rfb = xasprintf("%s/rfb", d->dir);
	d->auth = xasprintf("%s/Xauthority", d->dir);
	d->reason = xstrdup("no display was asked for");
	d->timer = loop_timer_new(cfg->loop, on_timer, d);
	d->session_timer = loop_timer_new(cfg->loop, start_session, d);
	return d;
}

void desktop_free(struct desktop *d)
{
	if (!d)
		return;
	loop_timer_free(d->timer);
	loop_timer_free(d->session_timer);
	fdwatch_free(d->ready);
	fdwatch_free(d->settled);
	forget(&d->server);
	forget(&d->session);
	free(d->reason);
	free(d->dir);
	free(d->rfb);
	free(d->auth);
	free(d->share);
	free(d);
}

/* What an earlier guestd left running. */
static bool adopt(struct desktop *d)
{
	struct sb_err err;

	if (desktop_load(d) < 0)
		return false;
	d->server.watch = fdwatch_new_pid(d->cfg.loop, d->server.pid,
					  on_server_end, d, &err);
	if (d->session.pid)
		d->session.watch = fdwatch_new_pid(d->cfg.loop, d->session.pid,
						   on_session_end, d, &err);
	if (!d->session.watch)
		drop(&d->session);
	if (d->server.watch)
		return true;
	drop(&d->server);
	return false;
}

void desktop_begin(struct desktop *d, int width, int height, int delay_ms)
{
	if (d->cfg.of) {
		snprintf(d->display, sizeof(d->display), "%s", d->cfg.of);
		set_state(d, DESKTOP_UP, NULL);
		return;
	}
	d->width = width;
	d->height = height;
	if (!d->server.pid && adopt(d))
		up(d);
	if (!width && d->server.pid) {
		kill(d->server.pid, SIGTERM);
	} else if (d->state == DESKTOP_UP) {
		resize(d);
	} else if (width && !d->server.pid) {
		set_state(d, DESKTOP_STARTING, "the X server is being started");
		loop_timer_set(d->timer, delay_ms);
	}
}

void desktop_resized(struct desktop *d, int width, int height)
{
	if (d->cfg.of)
		return;
	d->set.width = width;
	d->set.height = height;
	desktop_save(d);
}

enum desktop_state desktop_state(const struct desktop *d)
{
	return d->state;
}

const char *desktop_state_name(const struct desktop *d)
{
	static const char *const names[] = { "off", "starting", "up",
					     "failed" };

	return names[d->state];
}

const char *desktop_reason(const struct desktop *d)
{
	return d->reason;
}

int desktop_check(const struct desktop *d, struct sb_err *err)
{
	if (d->state == DESKTOP_UP)
		return 0;
	if (d->state == DESKTOP_OFF) {
		sb_fail(err, SB_MISSING, "there is no desktop: %s", d->reason);
		return sb_hint(err, "use an image with Xvnc and a template "
				    "with 'display: 1280x800'");
	}
	sb_fail(err, SB_BUSY, "the desktop is not up: %s", d->reason);
	return sb_hint(err, "ask again in a moment");
}

const char *desktop_display(const struct desktop *d)
{
	return d->state != DESKTOP_OFF && d->display[0] ? d->display : NULL;
}

const char *desktop_rfb(const struct desktop *d)
{
	return d->cfg.of ? NULL : d->rfb;
}

void desktop_put_env(const struct desktop *d, struct spawn_as *as)
{
	const char *own = getenv("XAUTHORITY");

	if (!desktop_display(d))
		return;
	spawn_as_setenv(as, "DISPLAY", d->display);
	if (!d->cfg.of)
		spawn_as_setenv(as, "XAUTHORITY", d->auth);
	else if (own)
		spawn_as_setenv(as, "XAUTHORITY", own);
}
