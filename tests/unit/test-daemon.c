/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of sandboxd that need no machine: journal, ports, programs. */
#include "config.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "host/control.h"
#include "host/journal.h"
#include "host/ports.h"
#include "host/proc.h"
#include "host/sandbox.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static char *dir;

static struct sandbox *make_sandbox(void)
{
	struct sb_err err;
	struct spec spec;
	struct sandbox *sb;

	spec_init(&spec);
	spec.name = xstrdup("demo");
	sb = sandbox_new(dir, &spec);
	spec_done(&spec);
	fs_mkdirs(sb->dir, 0700, &err);
	return sb;
}

static void test_journal(void)
{
	struct sandbox_port ports[] = { { 4001, 22, "ssh" }, { 8080, 80, "" } };
	struct sb_err err = { 0 }, cause = { 0 };
	struct sandbox *sb = make_sandbox(), *back = NULL;
	autofree char *path = sandbox_path(sb, "journal");
	autoclose int fd = -1;
	struct stat st;

	ok(sandbox_write_create(sb, &err) == 0, "create is written");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600,
	   "the journal, which has the token, is ours alone");
	sandbox_write_state(sb, SANDBOX_CREATING, NULL, &err);
	sandbox_write_ports(sb, ports, 2, &err);
	sandbox_write_expiry(sb, 12345, &err);
	sandbox_write_receipt(sb, json_pack("{s:i}", "env", 2), &err);
	sb_fail(&cause, SB_TIMEOUT, "the guest \xff slept");
	sb_hint(&cause, "wake it");
	ok(sandbox_write_state(sb, SANDBOX_FAILED, &cause, &err) == 0,
	   "a cause that is not UTF-8 is written");
	/* A daemon that is killed while it writes leaves half a line. */
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	ok(write(fd, "{\"entry\":\"sta", 13) == 13, "half a line is added");

	ok(sandbox_load(sb->dir, &back, &err) == 0, "it is read back");
	if (back) {
		is_str(back->id, sb->id, "id");
		is_str(back->name, "demo", "name");
		is_str(back->token, sb->token, "token");
		is_str(back->uuid, sb->uuid, "UUID");
		is_int(back->state, SANDBOX_FAILED, "state");
		is_int(back->cause.code, SB_TIMEOUT, "cause");
		is_str(back->cause.hint, "wake it", "hint");
		is_int(back->nports, 2, "ports");
		is_int(sandbox_port_of(back, "ssh"), 4001, "port by name");
		is_int(back->expires_ms, 12345, "expiry");
		is_int(json_int_or(back->receipt, "env", 0), 2, "receipt");
	}
	sandbox_free(back);
	sandbox_free(sb);
}

/* The UUID is in QEMU's arguments, where every user of the host sees it. */
static void test_uuid(void)
{
	static const char old[] =
		"{\"entry\":\"create\",\"id\":\"%s\",\"token\":\"%s\","
		"\"created_ms\":1767225600000,\"spec\":{}}\n";
	struct sandbox *sb = make_sandbox(), *back = NULL;
	autofree char *path = sandbox_path(sb, "journal");
	autofree char *text = xasprintf(old, sb->id, sb->token);
	autofree char *want =
		xasprintf("%.8s-0000-4000-8000-019b76daa800", sb->id + 3);
	struct sb_err err = { 0 };

	is_int(strlen(sb->uuid), 36, "a UUID is made");
	ok(sb->uuid[14] == '4' && sb->uuid[19] == '8', "a random one");
	ok(strncmp(sb->uuid + 9, sb->token, 4) != 0 ||
		   strncmp(sb->uuid + 24, sb->token + 10, 12) != 0,
	   "not of the token");
	fs_write_atomic(path, text, strlen(text), 0600, &err);
	ok(sandbox_load(sb->dir, &back, &err) == 0, "an older journal is read");
	is_str(back ? back->uuid : "", want, "its UUID is of id and time");
	sandbox_free(back);
	sandbox_free(sb);
}

static void test_bad_journal(void)
{
	struct sandbox *sb = make_sandbox(), *back = NULL;
	autofree char *path = sandbox_path(sb, "journal");
	struct sb_err err = { 0 };

	ok(sandbox_load(sb->dir, &back, &err) < 0, "no journal is refused");
	fs_write_atomic(path, "", 0, 0600, &err);
	ok(sandbox_load(sb->dir, &back, &err) < 0, "an empty one is refused");
	fs_write_atomic(path, "garbage\n", 8, 0600, &err);
	ok(sandbox_load(sb->dir, &back, &err) < 0, "garbage is refused");
	fs_write_atomic(path, "{\"entry\":\"state\",\"state\":\"x\"}\n", 30,
			0600, &err);
	ok(sandbox_load(sb->dir, &back, &err) < 0,
	   "an unknown state is refused");
	sandbox_free(sb);
}

static void test_json(void)
{
	struct sandbox *sb = make_sandbox();
	autofree char *vm = sandbox_path(sb, "vm");
	autofree char *log = sandbox_path(sb, "vm/serial.log");
	autojson json_t *env =
		json_pack("{s:{s:s}}", "env", "JWT_SECRET", "for-jwt");
	autojson json_t *j = NULL, *tail = NULL;
	autofree char *text = NULL;
	struct sb_err err;

	ok(spec_from_json(env, &sb->spec, &err) == 0, "an environment");
	j = sandbox_json(sb);
	text = json_print(j);
	is_str(json_str_or(j, "state", ""), "creating", "state is named");
	ok(!strstr(text, sb->token), "the token is not in the object");
	ok(!strstr(text, "for-jwt"), "nor is the secret for JWTs");
	is_str(spec_vars_get(&sb->spec.env, "JWT_SECRET"), "for-jwt",
	       "which is kept");

	fs_mkdirs(vm, 0700, &err);
	fs_write_atomic(log,
			"one\r\ntwo\nthr\xff"
			"ee",
			15, 0600, &err);
	tail = sandbox_serial_tail(sb, 2);
	is_int(json_array_size(tail), 2, "two last lines");
	is_str(json_string_value(json_array_get(tail, 0)), "two", "the first");
	is_str(json_string_value(json_array_get(tail, 1)),
	       "thr\xef\xbf\xbd"
	       "ee",
	       "the last, with what is not UTF-8 replaced");
	sandbox_free(sb);
}

static void test_ports(void)
{
	struct sb_err err = { 0 };
	int a = 0, b = 0, c = 0, fd, busy;
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);

	ok(ports_reserve("127.0.0.1", 0, false, &a, &err) == 0 && a > 0,
	   "a free port is found");
	ok(ports_reserve("127.0.0.1", a, false, &b, &err) < 0 &&
		   err.code == SB_CONFLICT && err.hint[0],
	   "one that is reserved is refused, with a hint");
	ok(ports_reserve("127.0.0.1", a, true, &b, &err) == 0 && b != a,
	   "or replaced by another");
	ports_release(a);
	ok(ports_reserve("127.0.0.1", a, false, &c, &err) == 0 && c == a,
	   "and is free after its release");

	fd = socket(AF_INET, SOCK_STREAM, 0);
	ok(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
		   listen(fd, 1) == 0,
	   "somebody else listens");
	getsockname(fd, (struct sockaddr *)&sa, &len);
	busy = ntohs(sa.sin_port);
	ok(ports_reserve("127.0.0.1", busy, false, &c, &err) < 0 &&
		   err.code == SB_CONFLICT,
	   "and that port is refused");
	ok(ports_reserve("nonsense", 0, false, &c, &err) < 0,
	   "an address that is none is refused");
	close(fd);
}

static void count_line(void *arg, const char *line)
{
	(*(int *)arg)++;
}

/* Whether a process is no more, or waits only for its new parent to see it. */
static bool has_ended(const char *pid)
{
	autofree char *path = xasprintf("/proc/%s/stat", pid);
	int64_t deadline = clock_ms() + 10000;

	while (clock_left(deadline)) {
		autofree char *stat = NULL;

		if (fs_read_line(path, &stat, NULL) < 0 || strstr(stat, ") Z "))
			return true;
		usleep(10000);
	}
	return false;
}

static void test_proc(void)
{
	const char *good[] = { "sh", "-c", "echo one >&3; echo two >&3", NULL };
	const char *bad[] = { "sh", "-c", "echo why >&2; exit 3", NULL };
	const char *none[] = { "no-such-program", NULL };
	const char *slow[] = { "sh", "-c", "sleep 60 & echo $! >pid; wait",
			       NULL };
	autofree char *pidfile = NULL, *pid = NULL;
	struct cancel *cancel = cancel_new();
	int lines = 0;
	struct sb_err err = { 0 };
	struct proc p = { .argv = good,
			  .timeout_ms = -1,
			  .on_line = count_line,
			  .arg = &lines };

	ok(proc_run(&p, &err) == 0 && lines == 2, "its lines on fd 3 arrive");
	p.argv = bad;
	ok(proc_run(&p, &err) < 0 && strstr(err.msg, "why"),
	   "a failure says its last line");
	p.argv = none;
	ok(proc_run(&p, &err) < 0 && err.code == SB_MISSING,
	   "a program that is not there is missing");
	p.argv = slow;
	p.timeout_ms = 300;
	ok(chdir(dir) == 0 && proc_run(&p, &err) < 0 && err.code == SB_TIMEOUT,
	   "one that takes too long is ended");
	pidfile = xasprintf("%s/pid", dir);
	ok(fs_read_line(pidfile, &pid, &err) == 0 && has_ended(pid),
	   "with what it has started");
	p.timeout_ms = -1;
	p.cancel = cancel;
	cancel_set(cancel);
	ok(proc_run(&p, &err) < 0 && err.code == SB_CANCELLED,
	   "and so is one that is cancelled");
	cancel_free(cancel);
}

/* A guest that says what it is told to, then echoes nothing. */
struct guest {
	int listener;
	const char *says;
	size_t len;
	pthread_barrier_t said;
};

static void *guest_main(void *arg)
{
	struct guest *g = arg;
	int fd = accept(g->listener, NULL, NULL);
	char block[4096];

	for (size_t at = 0; at < g->len;) {
		ssize_t n = send(fd, g->says + at, g->len - at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		at += n;
	}
	pthread_barrier_wait(&g->said);
	while (read(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	return NULL;
}

/* Ask it; late: when it has said all, and the time is up. */
static int ask_after(const char *says, size_t len, bool late, json_t **ret,
		     struct sb_err *err)
{
	autofree char *path = xasprintf("%s/ctl", dir);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	autojson json_t *msg = json_pack("{s:s}", "type", "identify");
	struct cancel *cancel = cancel_new();
	struct guest g = { .says = says, .len = len };
	struct control *c;
	pthread_t thread;
	int rc;

	strncpy(sa.sun_path, path, sizeof(sa.sun_path) - 1);
	unlink(path);
	pthread_barrier_init(&g.said, NULL, late ? 2 : 1);
	g.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(g.listener, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(g.listener, 1) < 0)
		return sb_fail(err, SB_SYSTEM, "%m");
	pthread_create(&thread, NULL, guest_main, &g);
	rc = control_open(path, cancel, &c, err);
	if (late)
		pthread_barrier_wait(&g.said);
	if (rc == 0) {
		rc = control_ask(c, msg, "hello", clock_ms() + (late ? 0 : 500),
				 ret, err);
		control_close(c);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&g.said);
	close(g.listener);
	cancel_free(cancel);
	return rc;
}

static int ask(const char *says, size_t len, json_t **ret, struct sb_err *err)
{
	return ask_after(says, len, false, ret, err);
}

static void test_control_flood(void)
{
	static const char hello[] = "{\"type\":\"hello\"}\n";
	autobuf struct buf flood = { 0 };
	autojson json_t *j = NULL;
	struct sb_err err = { 0 };

	/* Who always has something to say gains no time by that. */
	ok(ask_after(hello, strlen(hello), true, &j, &err) < 0 &&
		   err.code == SB_TIMEOUT,
	   "an answer after the deadline is none");
	while (flood.len < 2 << 20)
		buf_addf(&flood, "{\"type\":\"other\",\"pad\":\"%4000d\"}\n",
			 0);
	buf_adds(&flood, hello);
	ok(ask(flood.p, flood.len, &j, &err) < 0 &&
		   (err.code == SB_GUEST || err.code == SB_TIMEOUT),
	   "nor is one sought behind a flood");
}

static void test_control(void)
{
	static const char mixed[] = "\x01garbage\n[1]\n{\"type\":\"other\"}\n"
				    "{\"type\":\"hello\",\"version\":\"9\"}\n";
	static const char refuse[] =
		"{\"type\":\"error\",\"message\":\"no mount\"}\n";
	autofree char *flood = xmalloc(1 << 20);
	autojson json_t *j = NULL;
	struct sb_err err = { 0 };

	ok(ask(mixed, sizeof(mixed) - 1, &j, &err) == 0,
	   "the answer is found among garbage");
	is_str(json_str_or(j, "version", ""), "9", "and is whole");
	ok(ask(refuse, sizeof(refuse) - 1, &j, &err) < 0 &&
		   err.code == SB_GUEST && strstr(err.msg, "no mount"),
	   "an error of the guest is told");
	memset(flood, 'x', 1 << 20);
	ok(ask(flood, 1 << 20, &j, &err) < 0 && err.code == SB_GUEST,
	   "an endless line is refused");
	ok(ask("", 0, &j, &err) < 0 && err.code == SB_TIMEOUT,
	   "silence ends with the deadline");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_init();
	dir = scratch_dir;
	test_journal();
	test_uuid();
	test_bad_journal();
	test_json();
	test_ports();
	test_proc();
	test_control();
	test_control_flood();
	return tap_done();
}
