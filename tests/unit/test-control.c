/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's end of the control channel.  Two FIFOs stand for the virtio port:
 * like it, one without a writer reads as ended, and lives on when one comes.
 */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/control.h"
#include "guest/message.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct loop *loop;
static char *to_guest, *from_guest;

/* Answers with what it was asked. */
static json_t *reflect(void *arg, const json_t *msg)
{
	return json_pack("{s:s, s:O}", "type", "echo", "msg", msg);
}

static void *run_loop(void *arg)
{
	loop_run(loop);
	return NULL;
}

static void stop_posted(void *arg)
{
	loop_stop(loop);
}

/* Read from the guest until the text is there. */
static bool hears(int fd, const char *text)
{
	int64_t deadline = clock_ms() + 10000;
	autobuf struct buf b = { 0 };
	char block[4096];

	buf_adds(&b, "");
	while (!strstr(b.p, text)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, clock_left(deadline)) != 1)
			return false;
		n = read(fd, block, sizeof(block));
		if (n <= 0)
			return false;
		buf_add(&b, block, n);
	}
	return true;
}

static void say(int fd, const char *text)
{
	if (fs_write_all(fd, text, strlen(text)) < 0)
		abort();
}

static int host_connects(void)
{
	int fd = open(to_guest, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

static long cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000 +
	       u.ru_stime.tv_sec * 1000 + u.ru_stime.tv_usec / 1000;
}

static void test_channel(int answers)
{
	autofree char *large = xcalloc(1, CONTROL_MAX_LINE + 2);
	int fd = host_connects();
	struct pollfd none = { .fd = -1 };
	long before;

	say(fd, "{\"a\":1}\n");
	ok(hears(answers, "{\"type\":\"echo\",\"msg\":{\"a\":1}}\n"),
	   "a message");
	say(fd, "{\"a\":2}\n{\"a\":");
	ok(hears(answers, "\"a\":2"), "two in one piece");
	say(fd, "3}\n\n");
	ok(hears(answers, "\"a\":3"), "one in two pieces");
	say(fd, "nonsense\n");
	ok(hears(answers, "\"code\":\"invalid\""), "nonsense is answered");
	memset(large, 'x', CONTROL_MAX_LINE + 1);
	say(fd, large);
	ok(hears(answers, "\"code\":\"limit\""), "a line without an end");
	say(fd, "xx\n{\"a\":4}\n");
	ok(hears(answers, "\"a\":4"), "the line after it");

	/* The host leaves in the middle of a line, and comes back. */
	say(fd, "{\"half\":");
	close(fd);
	before = cpu_ms();
	poll(&none, 1, 300);
	ok(cpu_ms() - before < 150, "without a host nothing spins");
	fd = host_connects();
	say(fd, "{\"a\":5}\n");
	ok(hears(answers, "\"a\":5"), "the next host starts afresh");
	close(fd);
}

static json_t *message(const char *more)
{
	autofree char *text = xasprintf(
		"{\"type\":\"personalise\",\"id\":\"sb-1\",\"hostname\":\"h\","
		"\"token\":\"0123456789abcdef0123456789abcdef\"%s}",
		more);
	json_t *j = NULL;

	if (json_parse(text, strlen(text), &j, NULL) < 0)
		abort();
	return j;
}

static int parse(const char *more)
{
	autojson json_t *j = message(more);
	struct message_personalise p;
	struct sb_err err;

	if (message_parse_personalise(j, &p, &err) < 0)
		return -1;
	message_personalise_done(&p);
	return 0;
}

static void test_message(void)
{
	autojson json_t *j = message(
		",\"env\":{\"A\":\"x\"},\"entropy\":\"00fF\",\"time_ms\":5,"
		"\"mounts\":[{\"tag\":\"t\",\"path\":\"/a/b\",\"readonly\":true}],"
		"\"jupyter_port\":9001,\"jupyter_log\":\"k.log\","
		"\"max_kernels\":2,\"kernel_idle\":60,\"warm_kernel\":false,"
		"\"origins\":[\"https://lab.example\",\"*\"]");
	struct message_personalise p;
	struct sb_err err;

	ok(message_parse_personalise(j, &p, &err) == 0, "a whole message");
	is_int(p.nentropy, 2, "its entropy");
	is_int(p.entropy[1], 0xff, "the second byte of it");
	is_int(p.time_ms, 5, "its time");
	is_str(p.mount[0].path, "/a/b", "its mount");
	ok(p.mount[0].readonly, "which is read-only");
	is_int(p.jupyter_port, 9001, "its port for Jupyter");
	is_str(p.jupyter_log, "k.log", "and that log");
	message_personalise_done(&p);

	is_int(parse(""), 0, "a short message");
	is_int(parse(",\"env\":{\"1A\":\"x\"}"), -1, "a bad name");
	is_int(parse(",\"env\":{\"A\":\"x\\ny\"}"), -1, "two lines");
	is_int(parse(",\"env\":{\"A\":1}"), -1, "a number");
	is_int(parse(",\"entropy\":\"0\""), -1, "half a byte");
	is_int(parse(",\"jupyter_port\":65536"), -1, "no port");
	is_int(parse(",\"max_kernels\":0"), -1, "no kernels at all");
	is_int(parse(",\"kernel_idle\":-1"), -1, "idle since tomorrow");
	is_int(parse(",\"warm_kernel\":1"), -1, "a number for a flag");
	is_int(parse(",\"jupyter_log\":\"../x\""), -1, "no file name");
	is_int(parse(",\"origins\":\"*\""), -1, "origins are a list");
	is_int(parse(",\"origins\":[\"https://a/\"]"), -1, "no origin");
	is_int(parse(",\"origins\":[null]"), -1, "nothing for an origin");
	is_int(parse(",\"origins\":[\"*\",\"*\",\"*\",\"*\",\"*\",\"*\","
		     "\"*\",\"*\",\"*\",\"*\",\"*\",\"*\",\"*\",\"*\","
		     "\"*\",\"*\",\"*\"]"),
	       -1, "too many origins");
	is_int(parse(",\"time_ms\":-1"), -1, "a time before time");
	is_int(parse(",\"mounts\":{}"), -1, "mounts are a list");
	is_int(parse(",\"mounts\":[{\"tag\":\"t\",\"path\":\"/\"}]"), -1,
	       "the root");
	is_int(parse(",\"mounts\":[{\"tag\":\"t\",\"path\":\"/a/..\"}]"), -1,
	       "dots");
	is_int(parse(",\"mounts\":[{\"tag\":\"t,x\",\"path\":\"/a\"}]"), -1,
	       "a tag with a comma");
	is_int(parse(",\"ssh\":{}"), -1, "what we do not know is refused");
}

int main(void)
{
	struct control *c;
	pthread_t t;
	int in, out, answers;

	scratch_init();
	to_guest = xasprintf("%s/to", scratch_dir);
	from_guest = xasprintf("%s/from", scratch_dir);
	if (mkfifo(to_guest, 0600) < 0 || mkfifo(from_guest, 0600) < 0)
		abort();
	in = open(to_guest, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	answers = open(from_guest, O_RDWR | O_CLOEXEC);
	out = open(from_guest, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	loop = loop_new();
	c = control_new_fds(loop, in, out, reflect, NULL);
	pthread_create(&t, NULL, run_loop, NULL);
	test_channel(answers);
	loop_post(loop, stop_posted, NULL);
	pthread_join(t, NULL);
	control_free(c);
	loop_free(loop);
	close(answers);
	free(to_guest);
	free(from_guest);
	test_message();
	return tap_done();
}
