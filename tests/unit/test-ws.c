/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket frames and handshakes as bytes. */
#include "config.h"

#include <stdlib.h>

#include "common/ws.h"
#include "tests/unit/tap.h"

#define MAX_MESSAGE 1000

/* What a reader made of some bytes, as a line of text. */
static char *read_all(bool client, const char *data, size_t len, size_t step)
{
	struct ws_reader r = { .client = client, .max_message = MAX_MESSAGE };
	struct buf log = { 0 };
	struct ws_event ev;
	struct sb_err err;

	buf_adds(&log, "");
	for (size_t at = 0; at < len;) {
		size_t piece = MIN(step, len - at);
		ssize_t n = ws_read(&r, data + at, piece, &ev, &err);

		if (n < 0) {
			buf_addf(&log, "[failed %d]", (int)r.failed);
			break;
		}
		at += n;
		if (ev.op == WS_CLOSE)
			buf_addf(&log, "[close %d %s]", ev.code, ev.data);
		else if (ev.op)
			buf_addf(&log, "[%d %.*s]", (int)ev.op,
				 (int)MIN(ev.len, 40), ev.data);
	}
	ws_reader_done(&r);
	return log.p;
}

/* The same however the bytes arrive. */
static void reads_as(bool client, const struct buf *b, const char *want,
		     const char *what)
{
	static const size_t steps[] = { 1, 3, 100000 };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		autofree char *got = read_all(client, b->p, b->len, steps[i]);

		is_str(got, want, what);
	}
}

#define RAW(bytes)                                             \
	&(struct buf)                                          \
	{                                                      \
		.p = (char *)(bytes), .len = sizeof(bytes) - 1 \
	}

static void test_rfc_examples(void)
{
	/* RFC 6455, 5.7 */
	reads_as(true, RAW("\x81\x05Hello"), "[1 Hello]", "unmasked text");
	reads_as(false, RAW("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"),
		 "[1 Hello]", "masked text");
	reads_as(true, RAW("\x01\x03Hel\x80\x02lo"), "[1 Hello]", "in parts");
	reads_as(true, RAW("\x89\x05Hello\x8a\x05Hello"), "[9 Hello][10 Hello]",
		 "ping and pong");
	reads_as(true, RAW("\x01\x03Hel\x89\x01!\x00\x00\x80\x02lo\x82\x01x"),
		 "[9 !][1 Hello][2 x]", "a ping between the parts");
}

static void test_round_trip(void)
{
	static const size_t sizes[] = { 0, 1, 125, 126, 127, 999, 1000 };
	char data[1000];

	memset(data, 'x', sizeof(data));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (int mask = 0; mask < 2; mask++) {
			autobuf struct buf b = { 0 };
			autofree char *want = xasprintf(
				"[2 %.*s][9 p]", (int)MIN(sizes[i], 40), data);

			ws_put(&b, WS_BINARY, mask, data, sizes[i]);
			ws_put(&b, WS_PING, mask, "p", 1);
			reads_as(!mask, &b, want, "what was put is read");
		}
}

static void test_long_lengths(void)
{
	static const size_t sizes[] = { 65535, 65536, 200000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ws_reader r = { .max_message = sizes[i] };
		autofree char *data = xcalloc(1, sizes[i]);
		autobuf struct buf b = { 0 };
		struct ws_event ev;
		struct sb_err err;

		data[sizes[i] - 1] = 'z';
		ws_put(&b, WS_BINARY, true, data, sizes[i]);
		is_int(ws_read(&r, b.p, b.len, &ev, &err), b.len, "all used");
		ok(ev.op == WS_BINARY && ev.len == sizes[i] &&
			   memcmp(ev.data, data, ev.len) == 0,
		   "a long message is whole");
		ws_reader_rest(&r);
		is_int(r.message.cap, 0, "and its memory is given back");
		ws_reader_done(&r);
	}
}

static void test_limits(void)
{
	autobuf struct buf b = { 0 };
	char part[600] = { 0 };

	ws_put_frame(&b, WS_BINARY, false, true, part, sizeof(part));
	ws_put_frame(&b, WS_MORE, true, true, part, sizeof(part));
	reads_as(false, &b, "[failed 1009]", "parts that add up to too much");
	reads_as(true, RAW("\x82\x7f\x00\x00\x00\x00\x7f\xff\xff\xff"),
		 "[failed 1009]", "a huge length is refused at once");
	reads_as(true, RAW("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"),
		 "[failed 1002]", "a negative one, too");
	reads_as(true, RAW("\x82\x7e\x00\x7d"), "[failed 1002]",
		 "a length in too long a form");
	reads_as(true, RAW("\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff"),
		 "[failed 1002]", "a length in much too long a form");
}

static void test_broken(void)
{
	reads_as(true, RAW("\xc1\x00"), "[failed 1002]", "a reserved bit");
	reads_as(true, RAW("\x83\x00"), "[failed 1002]", "unknown data");
	reads_as(true, RAW("\x8b\x00"), "[failed 1002]", "unknown control");
	reads_as(false, RAW("\x81\x00"), "[failed 1002]", "a client unmasked");
	reads_as(true, RAW("\x81\x80...."), "[failed 1002]", "a server masks");
	reads_as(true, RAW("\x09\x00"), "[failed 1002]", "a ping in parts");
	reads_as(true, RAW("\x89\x7e\x00\x7e"), "[failed 1002]", "a long ping");
	reads_as(true, RAW("\x80\x00"), "[failed 1002]", "the rest of nothing");
	reads_as(true, RAW("\x01\x01x\x81\x01y"), "[failed 1002]",
		 "a message inside of another");
}

static void test_text(void)
{
	reads_as(true, RAW("\x81\x04\xf0\x9f\x98\x80"), "[1 \xf0\x9f\x98\x80]",
		 "an emoji");
	reads_as(true, RAW("\x01\x02\xf0\x9f\x80\x02\x98\x80"),
		 "[1 \xf0\x9f\x98\x80]", "split between two parts");
	reads_as(true, RAW("\x81\x02\xf0\x9f"), "[failed 1007]", "half of it");
	reads_as(true, RAW("\x81\x03\xed\xa0\x80"), "[failed 1007]",
		 "a surrogate");
	reads_as(true, RAW("\x81\x02\xc0\xaf"), "[failed 1007]", "overlong");
	reads_as(true, RAW("\x82\x02\xc0\xaf"), "[2 \xc0\xaf]",
		 "binary may be anything");
}

static void test_close(void)
{
	char reason[201] = "";
	autobuf struct buf b = { 0 }, long_one = { 0 }, none = { 0 };

	ws_put_close(&b, WS_NORMAL, "bye", true);
	reads_as(false, &b, "[close 1000 bye]", "a close");
	ws_put_close(&none, WS_NO_CODE, NULL, true);
	reads_as(false, &none, "[close 1005 ]", "without a code");
	for (int i = 0; i < 100; i++)
		strcat(reason, "\xc3\xa9");
	ws_put_close(&long_one, 4000, reason, false);
	is_int(long_one.len, 2 + 2 + 122, "a reason is cut, by characters");
	reads_as(true, RAW("\x88\x01\x03"), "[failed 1002]", "half a code");
	reads_as(true, RAW("\x88\x02\x03\xed"), "[failed 1002]", "code 1005");
	reads_as(true, RAW("\x88\x02\x00\x01"), "[failed 1002]", "code 1");
	reads_as(true, RAW("\x88\x03\x03\xe8\xff"), "[failed 1007]",
		 "a reason that is not UTF-8");
}

static int check(const char *text, bool request, struct sb_err *err)
{
	struct http1_head h;
	int r;

	if (request && http1_parse_request(text, strlen(text), &h, err) < 0)
		return -1;
	if (!request && http1_parse_reply(text, strlen(text), &h, err) < 0)
		return -1;
	r = request ? ws_check_request(&h, err)
		    : ws_check_reply(&h, "dGhlIHNhbXBsZSBub25jZQ==", err);
	http1_head_done(&h);
	return r;
}

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define UP "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
#define V13 "Sec-WebSocket-Version: 13\r\n"
#define GET "GET / HTTP/1.1\r\nHost: h\r\n"
#define ACCEPT "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

static void test_handshake(void)
{
	char key[WS_KEY_LEN + 1], other[WS_KEY_LEN + 1];
	char accept[WS_ACCEPT_LEN + 1];
	struct sb_err err;

	ws_accept_key("dGhlIHNhbXBsZSBub25jZQ==", accept);
	is_str(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "RFC 6455, 1.3");
	ws_new_key(key);
	ws_new_key(other);
	ok(strlen(key) == WS_KEY_LEN && strcmp(key, other) != 0, "new keys");
	is_int(check(GET UP V13 KEY "\r\n", true, &err), 0, "a request");
	ok(check(GET V13 KEY "\r\n", true, &err) < 0 && err.code == SB_UPGRADE,
	   "no upgrade");
	ok(check("POST / HTTP/1.1\r\nHost: h\r\n" UP V13 KEY "\r\n", true,
		 &err) < 0 &&
		   err.code == SB_UPGRADE,
	   "not GET");
	ok(check(GET UP KEY "\r\n", true, &err) < 0 && err.code == SB_INVALID,
	   "no version");
	ok(check(GET UP V13 "\r\n", true, &err) < 0 && err.code == SB_INVALID,
	   "no key");
	ok(check(GET UP V13 "Sec-WebSocket-Key: abcd\r\n\r\n", true, &err) <
			   0 &&
		   err.code == SB_INVALID,
	   "a short key");
	is_int(check("HTTP/1.1 101 OK\r\n" UP ACCEPT "\r\n", false, &err), 0,
	       "a reply");
	ok(check("HTTP/1.1 401 No\r\n" UP ACCEPT "\r\n", false, &err) < 0,
	   "a refusal");
	ok(check("HTTP/1.1 101 OK\r\n" UP "Sec-WebSocket-Accept: x\r\n\r\n",
		 false, &err) < 0,
	   "a wrong proof");
}

int main(void)
{
	test_rfc_examples();
	test_round_trip();
	test_long_lengths();
	test_limits();
	test_broken();
	test_text();
	test_close();
	test_handshake();
	return tap_done();
}
