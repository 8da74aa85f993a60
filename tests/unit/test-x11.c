/* SPDX-License-Identifier: Apache-2.0 */
/* X servers as they should not be: one that hangs, one that lies. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/input-map.h"
#include "guest/screen-x11.h"
#include "tests/unit/tap.h"

#define SOCKETS "/tmp/.X11-unix"
#define MIN_CODE 8
#define MAX_CODE 255
#define CODES (MAX_CODE - MIN_CODE + 1)

/* Of the X protocol, as far as it is needed here. */
enum {
	GET_GEOMETRY = 14,
	GET_PROPERTY = 20,
	GET_INPUT_FOCUS = 43,
	QUERY_EXTENSION = 98,
	GET_KEYBOARD_MAPPING = 101,
	GET_MODIFIER_MAPPING = 119,
};

struct fake {
	char path[64], display[16];
	pid_t pid;
};

static bool take(int fd, void *ret, size_t len)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < len && n > 0) {
		n = read(fd, (char *)ret + have, len - have);
		have += (size_t)MAX(n, 0);
	}
	return have == len;
}

static void give(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		_exit(1);
}

static void put(struct buf *b, uint32_t v, size_t bytes)
{
	for (; bytes--; v >>= 8)
		buf_add(b, (char[]){ (char)v }, 1);
}

/* One screen, of 24 bits. */
static void give_setup(int fd)
{
	autobuf struct buf b = { 0 };
	struct buf head = { 0 };

	put(&b, 1, 4);	      /* release */
	put(&b, 0x200000, 4); /* ids of the client */
	put(&b, 0x1fffff, 4);
	put(&b, 0, 4);
	put(&b, 4, 2);	    /* name of the vendor */
	put(&b, 0xffff, 2); /* longest request */
	put(&b, 1, 1);	    /* screens */
	put(&b, 1, 1);	    /* formats */
	put(&b, 0, 2);	    /* the least significant first */
	put(&b, 0x2020, 2);
	put(&b, MIN_CODE, 1);
	put(&b, MAX_CODE, 1);
	put(&b, 0, 4);
	buf_adds(&b, "fake");
	put(&b, 24, 1); /* the format: depth, bits, padding */
	put(&b, 32, 1);
	put(&b, 32, 1);
	put(&b, 0, 5);
	put(&b, 0x100, 4); /* the screen: root, colours */
	put(&b, 0x101, 4);
	put(&b, 0xffffff, 4);
	put(&b, 0, 4);
	put(&b, 0, 4);
	put(&b, 640, 2);
	put(&b, 480, 2);
	put(&b, 169, 2);
	put(&b, 127, 2);
	put(&b, 1, 2);
	put(&b, 1, 2);
	put(&b, 0x102, 4); /* visual */
	put(&b, 0, 2);
	put(&b, 24, 1);
	put(&b, 1, 1); /* depths */
	put(&b, 24, 1);
	put(&b, 0, 1);
	put(&b, 1, 2); /* visuals */
	put(&b, 0, 4);
	put(&b, 0x102, 4);
	put(&b, 4, 1); /* TrueColor */
	put(&b, 8, 1);
	put(&b, 256, 2);
	put(&b, 0xff0000, 4);
	put(&b, 0xff00, 4);
	put(&b, 0xff, 4);
	put(&b, 0, 4);
	put(&head, 1, 2);
	put(&head, 11, 2);
	put(&head, 0, 2);
	put(&head, (uint32_t)(b.len / 4), 2);
	buf_add(&head, b.p, b.len);
	give(fd, head.p, head.len);
	buf_done(&head);
}

/* An answer: its second byte, a word at its eighth, and more words after it. */
static void answer(int fd, uint16_t seq, unsigned char second, uint32_t eighth,
		   uint32_t words)
{
	autobuf struct buf b = { 0 };

	put(&b, 1, 1);
	put(&b, second, 1);
	put(&b, seq, 2);
	put(&b, words, 4);
	put(&b, eighth, 4);
	while (b.len < 32)
		put(&b, 0, 4);
	for (uint32_t i = 0; i < words; i++)
		put(&b, 0x61, 4);
	give(fd, b.p, b.len);
}

/* A keyboard of per symbols a key, of which it sends as many words. */
static void serve(int fd, unsigned char per, uint32_t words)
{
	unsigned char head[12];
	char rest[1 << 18];

	if (!take(fd, head, 12) ||
	    !take(fd, rest,
		  (size_t)((head[6] + 3) & ~3) + (size_t)((head[8] + 3) & ~3)))
		return;
	give_setup(fd);
	for (uint16_t seq = 1; take(fd, head, 4); seq++) {
		size_t len = 4 * (head[2] | (size_t)head[3] << 8);

		if (len < 4 || !take(fd, rest, len - 4))
			return;
		if (head[0] == QUERY_EXTENSION) /* only MIT-SHM is there */
			answer(fd, seq, 0,
			       memcmp(rest + 4, "MIT-SHM", 7) ? 0 : 0x408201,
			       0);
		else if (head[0] == GET_KEYBOARD_MAPPING ||
			 head[0] == GET_MODIFIER_MAPPING)
			answer(fd, seq, per, 0, words);
		else if (head[0] == GET_GEOMETRY || head[0] == GET_PROPERTY ||
			 head[0] == GET_INPUT_FOCUS)
			answer(fd, seq, 0, 0, 0);
	}
}

/* On a number that nobody has. */
static int listen_at(struct fake *f)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (mkdir(SOCKETS, 01777) == 0)
		chmod(SOCKETS, 01777);
	for (int n = 1000; n < 60000; n++) {
		snprintf(f->display, sizeof(f->display), ":%d", n);
		snprintf(f->path, sizeof(f->path), SOCKETS "/X%d", n);
		strcpy(sa.sun_path, f->path);
		if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
			break;
	}
	return listen(fd, 8) == 0 ? fd : -1;
}

static bool fake_start(struct fake *f, unsigned char per, uint32_t words)
{
	int fd = listen_at(f), client;

	if (fd < 0)
		return false;
	f->pid = fork();
	while (f->pid == 0 && (client = accept(fd, NULL, NULL)) >= 0) {
		serve(client, per, words);
		close(client);
	}
	if (f->pid == 0)
		_exit(0);
	close(fd);
	return f->pid > 0;
}

static void fake_end(const struct fake *f)
{
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	unlink(f->path);
}

/* Whether there is a keyboard, and which symbol is the last. */
static void try_keyboard(unsigned char per, uint32_t words, bool good,
			 const char *what)
{
	struct key_map m = { 0 };
	struct x11 *x = NULL;
	struct sb_err err;
	struct fake f;
	bool loaded;

	if (!ok(fake_start(&f, per, words), "a server is there"))
		return;
	if (ok(x11_open(f.display, NULL, &x, &err) == 0, "it can be used")) {
		loaded = key_map_load(x11_display(x), &m);
		is_int(loaded, good, what);
		if (loaded)
			is_int((long long)m.syms[CODES * m.per - 1], 0x61,
			       "all of it is there");
		key_map_done(&m);
		is_int(x11_check(x, "answer", &err), 0, "it is heard still");
	}
	x11_close(x);
	fake_end(&f);
}

static void test_keyboard(void)
{
	try_keyboard(4, 4 * CODES, true, "a keyboard");
	try_keyboard(255, 8, false, "one with less than it says");
	try_keyboard(2, 4 * CODES, false, "one with more than it says");
	try_keyboard(0, 0, false, "none");
	try_keyboard(1, CODES, false, "one without capitals");
}

/* Each of its keys is 0x61, or nothing. */
static void try_modifiers(unsigned char per, uint32_t words, int want,
			  const char *what)
{
	struct x11 *x = NULL;
	struct sb_err err;
	struct fake f;
	bool mods[256];
	int n = 0;

	if (!ok(fake_start(&f, per, words), "a server is there"))
		return;
	if (ok(x11_open(f.display, NULL, &x, &err) == 0, "it can be used")) {
		key_map_modifiers(x11_display(x), mods);
		for (int i = 0; i < 256; i++)
			n += mods[i];
		is_int(n, want, what);
		is_int(mods[0x61], want, "the one that is there");
		is_int(x11_check(x, "answer", &err), 0, "it is heard still");
	}
	x11_close(x);
	fake_end(&f);
}

static void test_modifiers(void)
{
	try_modifiers(4, 8, 1, "modifiers");
	try_modifiers(255, 510, 1, "many modifiers");
	try_modifiers(255, 8, 0, "fewer than it says");
	try_modifiers(2, 8000, 0, "more than it says");
	try_modifiers(0, 0, 0, "none");
}

/* Without this it would be waited for as long as it is stopped: for ever. */
static void test_hung(void)
{
	struct x11 *x = NULL;
	struct sb_err err;
	struct fake f;

	if (!ok(fake_start(&f, 0, 0), "a server is there"))
		return;
	ok(x11_open(f.display, NULL, &x, &err) == 0, "it can be used");
	kill(f.pid, SIGSTOP);
	x11_close(x);
	ok(true, "one that hangs can be left");
	fake_end(&f);
}

int main(void)
{
	test_keyboard();
	test_modifiers();
	test_hung();
	return tap_done();
}
