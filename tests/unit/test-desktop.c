/* SPDX-License-Identifier: Apache-2.0 */
/* The desktop's processes when they cannot be watched; all else about it is in
 * tests/native/test-screen.sh. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/child-log.h"
#include "guest/desktop-private.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define POLL_MS 10
#define DEADLINE_MS 60000

/* Which calls are to fail, one letter each, and for whom they were. */
static const char *fails;
static pid_t watched[8];
static size_t calls;

struct fdwatch *__real_fdwatch_new_pid(struct loop *l, pid_t pid,
				       void (*fn)(void *arg), void *arg,
				       struct sb_err *err);
struct fdwatch *__wrap_fdwatch_new_pid(struct loop *l, pid_t pid,
				       void (*fn)(void *arg), void *arg,
				       struct sb_err *err);

struct fdwatch *__wrap_fdwatch_new_pid(struct loop *l, pid_t pid,
				       void (*fn)(void *arg), void *arg,
				       struct sb_err *err)
{
	if (calls < ARRAY_SIZE(watched))
		watched[calls] = pid;
	if (calls++ < strlen(fails) && fails[calls - 1] == 'x') {
		sb_fail(err, SB_BUSY, "cannot watch process %d", (int)pid);
		return NULL;
	}
	return __real_fdwatch_new_pid(l, pid, fn, arg, err);
}

static int make_as(void *arg, struct spawn_as **ret, struct sb_err *err)
{
	return spawn_as_new(NULL, ret, err);
}

static const char *workspace(void *arg)
{
	return scratch_dir;
}

struct fixture {
	struct loop *loop;
	struct loop_timer *timer;
	struct child_log *log;
	struct screen *screen;
	struct desktop *desktop;
	int waited_ms;
};

/* Until it is up, and both processes are watched. */
static void look(void *arg)
{
	struct fixture *f = arg;

	f->waited_ms += POLL_MS;
	if ((f->desktop->session.watch &&
	     desktop_state(f->desktop) == DESKTOP_UP) ||
	    f->waited_ms > DEADLINE_MS)
		loop_stop(f->loop);
	else
		loop_timer_set(f->timer, POLL_MS);
}

static void begin(struct fixture *f)
{
	struct screen_config screen = { .module = "none", .limit_ms = 1000 };
	struct desktop_config cfg = { .run_dir = scratch_dir,
				      .share = scratch_dir,
				      .make_as = make_as,
				      .workspace = workspace };

	screen.loop = cfg.loop = f->loop = loop_new();
	cfg.log = f->log = child_log_new(scratch_dir, "desktop.log");
	f->screen = cfg.screen = screen_new(&screen);
	f->desktop = desktop_new(&cfg);
	f->timer = loop_timer_new(f->loop, look, f);
	desktop_begin(f->desktop, 640, 480, 0);
	look(f);
	loop_run(f->loop);
}

static void end(struct fixture *f)
{
	loop_timer_free(f->timer);
	desktop_free(f->desktop);
	screen_free(f->screen);
	child_log_free(f->log);
	loop_free(f->loop);
}

static bool is_gone(pid_t pid)
{
	return pid > 1 && kill(pid, 0) < 0;
}

static void test_started(void)
{
	struct fixture f = { 0 };

	fails = "x-x-";
	begin(&f);
	is_str(desktop_state_name(f.desktop), "up", "it is started again");
	is_int((long long)calls, 4, "and so is its session");
	ok(is_gone(watched[0]), "no X server is left that nobody watches");
	ok(is_gone(watched[2]), "nor a session");
	ok(f.desktop->server.pid == watched[1] &&
		   f.desktop->session.pid == watched[3],
	   "the others are known");
	end(&f);
}

/* As the first guestd has left it, for one that cannot watch it. */
static void test_adopted(void)
{
	struct fixture f = { 0 };
	pid_t server = watched[1], session = watched[3];

	calls = 0;
	fails = "xx";
	begin(&f);
	ok(watched[0] == server && watched[1] == session, "they were found");
	is_str(desktop_state_name(f.desktop), "up", "there are others");
	ok(f.desktop->server.pid != server && f.desktop->session.pid != session,
	   "which are not the first");
	kill(f.desktop->server.pid, SIGKILL);
	kill(f.desktop->session.pid, SIGKILL);
	end(&f);
}

static void make_script(const char *name, const char *text)
{
	autofree char *path = scratch_file(name, text);

	chmod(path, 0755);
}

int main(void)
{
	autofree char *path = NULL;

	scratch_init();
	chmod(scratch_dir, 0755);
	path = xasprintf("%s:%s", scratch_dir, getenv("PATH"));
	setenv("PATH", path, 1);
	make_script("Xvnc", "#!/bin/sh\necho 1\nexec sleep 600\n");
	make_script("session", "echo up\nexec sleep 600\n");
	if (spawn_init(NULL) < 0)
		return 1;
	test_started();
	test_adopted();
	return tap_done();
}
