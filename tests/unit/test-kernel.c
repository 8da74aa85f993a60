/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's parts that need neither Python nor ZeroMQ. */
#include "config.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/kernel/inbox.h"
#include "guest/kernel/outbox.h"
#include "guest/kernel/session.h"
#include "guest/kernel/utf8-text.h"
#include "guest/kernel/wire.h"
#include "tests/unit/tap.h"

static struct slice frame(const char *s)
{
	return (struct slice){ s, strlen(s) };
}

static const struct wire_key key = { "secret", 6 };

static void test_split(void)
{
	struct slice f[24];
	struct wire_msg m;
	struct sb_err err;
	const char *good[] = { "peer", WIRE_DELIMITER, "sig", "{h}", "{p}",
			       "{m}",  "{c}",	       "b1",  "b2" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		f[i] = frame(good[i]);
	ok(wire_split(f, 9, &m, &err) == 0, "a whole message");
	is_int((long long)m.nids, 1, "one identity");
	is_int((long long)m.nbuffers, 2, "two buffers");
	ok(memcmp(m.content.p, "{c}", 3) == 0, "its content");
	ok(wire_split(f, 7, &m, &err) == 0 && !m.nbuffers, "no buffers");
	for (size_t n = 0; n < 7; n++)
		if (wire_split(f, n, &m, &err) == 0)
			ok(false, "a message that is cut");
	is_int(err.code, SB_INVALID, "a message that is cut is refused");
	ok(wire_split(f + 1, 8, &m, &err) == 0 && !m.nids, "no identity");
	for (size_t i = 0; i < 24; i++)
		f[i] = frame(i < WIRE_MAX_IDS + 1 ? "id" : WIRE_DELIMITER);
	ok(wire_split(f, 24, &m, &err) < 0 && err.code == SB_LIMIT,
	   "too many identities");
}

/* RFC 4231, test case 2, spread over the four parts. */
static void test_sign(void)
{
	static const struct wire_key jefe = { "Jefe", 4 }, none = { "", 0 };
	struct wire_msg m = { .header = frame("what do "),
			      .parent = frame("ya want"),
			      .metadata = frame(" for "),
			      .content = frame("nothing?") };
	char sig[WIRE_SIG_LEN + 1];

	wire_sign(&jefe, &m, sig);
	is_str(sig,
	       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
	       "HMAC-SHA-256");
	wire_sign(&none, &m, sig);
	is_str(sig, "", "no key, no signature");
}

static void test_verify(void)
{
	struct wire_seen *seen = wire_seen_new();
	struct wire_msg m = { .header = frame("{}"), .content = frame("{}") };
	char sig[WIRE_SIG_LEN + 1];
	struct sb_err err;

	wire_sign(&key, &m, sig);
	m.sig = frame(sig);
	ok(wire_verify(&key, seen, &m, &err) == 0, "the right signature");
	ok(wire_verify(&key, seen, &m, &err) < 0 && err.code == SB_AUTH,
	   "is right only once");
	sig[5] = sig[5] == '0' ? '1' : '0';
	ok(wire_verify(&key, seen, &m, &err) < 0 && err.code == SB_AUTH,
	   "a wrong one");
	m.sig.len--;
	ok(wire_verify(&key, seen, &m, &err) < 0, "a short one");
	m.sig = frame("");
	ok(wire_verify(&key, seen, &m, &err) < 0, "an empty one");
	wire_seen_free(seen);
}

/* Of 100,000 messages, the last 32,768 are known at least. */
static void test_replay(void)
{
	struct wire_seen *seen = wire_seen_new();
	char text[32], sig[WIRE_SIG_LEN + 1];
	int refused = 0, known = 0;

	for (int i = 0; i < 100000 + 32768; i++) {
		struct wire_msg m = { 0 };

		snprintf(text, sizeof(text), "%d", i < 100000 ? i : i - 32768);
		m.header = frame(text);
		wire_sign(&key, &m, sig);
		m.sig = frame(sig);
		if (wire_verify(&key, seen, &m, NULL) == 0)
			continue;
		if (i < 100000)
			refused++;
		else
			known++;
	}
	is_int(refused, 0, "100,000 messages, none is taken for another");
	is_int(known, 32768, "the last ones are known");
	wire_seen_free(seen);
}

static void test_session(void)
{
	autobuf struct buf a = { 0 }, b = { 0 };
	autojson json_t *ja = NULL, *jb = NULL;
	struct session s;

	session_init(&s);
	session_header(&s, "status", &a);
	session_header(&s, "stream", &b);
	ok(json_parse(a.p, a.len, &ja, NULL) == 0 &&
		   json_parse(b.p, b.len, &jb, NULL) == 0,
	   "headers are JSON");
	is_str(json_str_or(ja, "msg_type", ""), "status", "msg_type");
	is_str(json_str_or(ja, "session", ""), json_str_or(jb, "session", "-"),
	       "one session");
	ok(strcmp(json_str_or(ja, "msg_id", ""),
		  json_str_or(jb, "msg_id", "")) != 0,
	   "two ids");
	is_int((long long)strlen(json_str_or(ja, "date", "")), 27,
	       "microseconds");
}

static void clean_is(const char *in, size_t len, const char *want,
		     const char *what)
{
	/* In one piece, and byte by byte. */
	for (int step = 0; step < 2; step++) {
		autobuf struct buf out = { 0 };
		struct utf8_rest rest = { 0 };

		if (step)
			for (size_t i = 0; i < len; i++)
				utf8_clean(&rest, in + i, 1, &out);
		else
			utf8_clean(&rest, in, len, &out);
		utf8_finish(&rest, &out);
		is_str(out.p ? out.p : "", want, what);
	}
}

#define R "\xef\xbf\xbd"
static void test_utf8(void)
{
	clean_is("", 0, "", "nothing");
	clean_is("plain text\n", 11, "plain text\n", "ASCII");
	clean_is("\xe2\x82\xac\xf0\x9f\x98\x80", 7,
		 "\xe2\x82\xac\xf0\x9f\x98\x80", "three and four bytes");
	clean_is("a\xff\x62", 3, "a" R "b", "a byte that is none");
	clean_is("\xc0\x80", 2, R R, "overlong");
	clean_is("\xed\xa0\x80", 3, R R R, "a surrogate");
	clean_is("\xf4\x90\x80\x80", 4, R R R R, "past the last character");
	clean_is("\xe2\x82", 2, R, "cut at the end");
	clean_is("\xe2\x82x", 3, R R "x", "cut in the middle");
	is_int((long long)utf8_cut("a\xe2\x82\xac", 4, 3), 1,
	       "a cut keeps characters whole");
}

static void test_quote(void)
{
	autobuf struct buf out = { 0 };
	autojson json_t *j = NULL;
	char all[0x80];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	/* jansson does not take NUL; it is looked at apart. */
	utf8_quote(all + 1, sizeof(all) - 1, &out);
	ok(json_parse(out.p, out.len, &j, NULL) == 0 &&
		   json_string_length(j) == sizeof(all) - 1 &&
		   memcmp(json_string_value(j), all + 1, sizeof(all) - 1) == 0,
	   "every character is quoted so that JSON reads it back");
	out.len = 0;
	utf8_quote(all, 1, &out);
	is_str(out.p, "\"\\u0000\"", "NUL");
}

static struct outgoing *status(void)
{
	struct outgoing *o = outgoing_new(CHANNEL_IOPUB, "status", NULL);

	buf_adds(&o->content, "{}");
	return o;
}

static void add_text(struct outbox *box, enum stream s, const char *text)
{
	outbox_lock(box);
	outbox_text(box, s, text, strlen(text));
	outbox_unlock(box);
}

static void expect_text(struct outbox *box, int64_t now, enum stream stream,
			const char *text, const char *what)
{
	int wait;
	struct outgoing *o = outbox_take(box, now, &wait);

	ok(o && o->stream == stream, what);
	is_str(o && o->content.p ? o->content.p : "", text, what);
	if (o)
		outbox_sent(box, o);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_outbox(void)
{
	int64_t later = clock_ms() + 100000;
	struct outbox box;
	struct outgoing *o;
	int wait;

	outbox_init(&box, NULL);
	ok(!outbox_take(&box, later, &wait) && wait == -1, "an empty box");
	add_text(&box, STREAM_OUT, "a");
	ok(readable(box.wake_fd), "the first text wakes");
	ok(!outbox_take(&box, 0, &wait) && wait > 0, "text is held back");
	add_text(&box, STREAM_OUT, "b");
	expect_text(&box, later, STREAM_OUT, "ab", "text is joined");
	add_text(&box, STREAM_OUT, "1");
	add_text(&box, STREAM_ERR, "2");
	add_text(&box, STREAM_OUT, "3");
	expect_text(&box, 0, STREAM_OUT, "1", "what is followed need not wait");
	expect_text(&box, 0, STREAM_ERR, "2", "another stream is not joined");
	ok(!outbox_take(&box, 0, &wait), "the last one waits");
	outbox_lock(&box);
	outbox_add(&box, status());
	outbox_unlock(&box);
	expect_text(&box, 0, STREAM_OUT, "3", "until something follows");
	o = outbox_take(&box, 0, &wait);
	is_str(o ? o->type : "", "status", "which is at the end");
	outbox_sent(&box, o);
	is_int((long long)box.bytes, 0, "nothing is left");
	outbox_done(&box);
}

static void test_room(void)
{
	autofree char *big = xmalloc(1 << 20);
	struct outbox box;
	struct outgoing *o;
	size_t total = 0, largest = 0;
	int wait;

	outbox_init(&box, NULL);
	memset(big, 'x', 1 << 20);
	outbox_lock(&box);
	for (int i = 0; i < 9; i++)
		outbox_text(&box, STREAM_OUT, big, 1 << 20);
	ok(outbox_full(&box), "9 MiB are too much");
	outbox_unlock(&box);
	ok(!readable(box.room_fd), "who writes waits");
	while ((o = outbox_take(&box, 0, &wait))) {
		total += o->content.len;
		largest = MAX(largest, o->content.len);
		outbox_sent(&box, o);
	}
	ok(readable(box.room_fd) && !outbox_full(&box), "there is room again");
	is_int((long long)total, 9 << 20, "nothing is lost");
	ok(largest <= OUTBOX_MAX_CHUNK, "in messages of a fair size");
	outbox_done(&box);
}

static struct request *make_request(const char *type)
{
	autofree char *header = xasprintf("{\"msg_type\":\"%s\"}", type);
	struct wire_msg m = { .header = frame(header),
			      .metadata = frame("{}"),
			      .content = frame("{}") };
	struct request *r = NULL;

	request_new(CHANNEL_SHELL, &m, &r, NULL);
	return r;
}

static void test_inbox(void)
{
	struct inbox in;
	struct request *r;
	bool stop;

	inbox_init(&in, NULL);
	inbox_put(&in, make_request("execute_request"));
	inbox_put(&in, make_request("complete_request"));
	inbox_abort(&in);
	r = inbox_take(&in, &stop);
	ok(r && r->aborted, "what waits to be run is aborted");
	request_unref(r);
	r = inbox_take(&in, &stop);
	ok(r && !r->aborted, "and nothing else");
	request_unref(r);
	inbox_input(&in, make_request("input_reply"));
	ok(!inbox_take_input(&in, &stop), "input that nobody asked for");
	inbox_want_input(&in, true);
	inbox_input(&in, make_request("input_reply"));
	r = inbox_take_input(&in, &stop);
	ok(r != NULL, "input that was asked for");
	request_unref(r);
	inbox_put(&in, make_request("execute_request"));
	inbox_stop(&in);
	ok(!inbox_take(&in, &stop) && stop, "after stop there is no request");
	inbox_done(&in);
}

static void test_request(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{",
		"null",
		"{\"msg_type\":1}",
		"{}",
		"1",
		"\"x\"",
		"{\"msg_type\":\"\"}",
	};
	struct wire_msg m = { .metadata = frame("{}"), .content = frame("{}") };
	struct request *r;
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		m.header = frame(bad[i]);
		n += request_new(CHANNEL_SHELL, &m, &r, NULL) < 0;
	}
	is_int(n, ARRAY_SIZE(bad), "headers that are none");
	m.header = frame("{\"msg_type\":\"x\"}");
	m.content = frame(" []");
	ok(request_new(CHANNEL_SHELL, &m, &r, NULL) < 0,
	   "content that is no object");
}

int main(void)
{
	struct sb_err err;

	ok(wire_init(&err) == 0, "libsodium starts");
	test_split();
	test_sign();
	test_verify();
	test_replay();
	test_session();
	test_utf8();
	test_quote();
	test_outbox();
	test_room();
	test_inbox();
	test_request();
	return tap_done();
}
