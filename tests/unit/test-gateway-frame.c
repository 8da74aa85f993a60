/* SPDX-License-Identifier: Apache-2.0 */
/* The framings of Jupyter's messages, and looking into JSON. */
#include "config.h"

#include <string.h>

#include "guest/gateway-frame.h"
#include "guest/gateway-wire.h"
#include "tap.h"

static bool is_object(const char *s)
{
	return jscan_is_object(part_of(s));
}

static bool value_is(const char *object, const char *key, const char *want)
{
	struct part v;

	return jscan_get(part_of(object), key, &v) && part_is(v, want);
}

static void test_jscan(void)
{
	static const char o[] = " { \"a\" : 1 , \"b\":\"x\\\"}{\", \"c\":"
				"{\"a\":[2,{}]},\"d\":null} ";
	char deep[2 * JSCAN_MAX_DEPTH + 8];
	struct part v;

	ok(is_object("{}") && is_object(o) && is_object(" {\"a\":[]} "),
	   "objects are objects");
	ok(!is_object("") && !is_object("[]") && !is_object("{") &&
		   !is_object("{]") && !is_object("{}x") &&
		   !is_object("{}{}") && !is_object("{\"a}") &&
		   !is_object("{\"a\\") && !is_object("{\"\n\":1}") &&
		   !is_object("{;}"),
	   "all else is not");
	ok(value_is(o, "a", "1") && value_is(o, "b", "\"x\\\"}{\"") &&
		   value_is(o, "c", "{\"a\":[2,{}]}") &&
		   value_is(o, "d", "null"),
	   "values are found");
	ok(!jscan_get(part_of(o), "x", &v) &&
		   !jscan_get(part_of("{\"a\" 1}"), "a", &v) &&
		   !jscan_get(part_of("{\"a\":}"), "a", &v) &&
		   !jscan_get(part_of("{\"b\":1 \"a\":2}"), "a", &v),
	   "what is not there is not found");
	ok(jscan_str(part_of(o), "b", &v) && part_is(v, "x\\\"}{") &&
		   !jscan_str(part_of(o), "a", &v),
	   "strings");
	ok(jscan_values(part_of("{}")) == 2 &&
		   jscan_values(part_of("{\"a\":[1,{}],\"[,\\\"{\":2}")) == 6,
	   "values are counted, not what strings have");
	memset(deep, '{', sizeof(deep));
	ok(!jscan_is_object((struct part){ deep, sizeof(deep) }),
	   "too deep is refused");
}

static const char legacy[] =
	"{\"header\":{\"msg_id\":\"7\",\"msg_type\":\"x\",\"date\":1.5},"
	"\"content\":{\"n\":12345678901234567890123},\"metadata\":null,"
	"\"channel\":\"control\",\"buffers\":[]}";

static void test_legacy(void)
{
	autobuf struct buf v1 = { 0 }, back = { 0 };
	struct sb_err err;
	struct frame f;
	bool text;

	ok(frame_from_legacy(true, legacy, strlen(legacy), &v1, &err) == 0 &&
		   frame_read(v1.p, v1.len, &f, &err) == 0,
	   "text is read");
	ok(f.channel == FRAME_CONTROL && f.nbuffers == 0 &&
		   part_is(f.part[FRAME_PARENT], "{}") &&
		   part_is(f.part[FRAME_METADATA], "{}") &&
		   part_is(f.part[FRAME_CONTENT],
			   "{\"n\":12345678901234567890123}"),
	   "its parts are what they were, byte for byte");
	ok(frame_to_legacy(&f, &back, &text, &err) == 0 && text &&
		   strstr(back.p, "\"msg_id\":\"7\",\"msg_type\":\"x\","
				  "\"buffers\":[]}"),
	   "and written, with id and type outside");
	v1.len = 0;
	ok(frame_from_legacy(true, "{\"header\":{}}", 13, &v1, &err) == 0 &&
		   frame_read(v1.p, v1.len, &f, &err) == 0 &&
		   f.channel == FRAME_SHELL,
	   "without a channel it is for shell");
	v1.len = 0;
	ok(frame_from_legacy(true, "{\"header\":1}", 12, &v1, &err) < 0 &&
		   frame_from_legacy(true, "{\"channel\":\"x\"}", 15, &v1,
				     &err) < 0 &&
		   frame_from_legacy(true, "[]", 2, &v1, &err) < 0,
	   "what is no message is refused");
}

static void test_buffers(void)
{
	struct part part[] = { part_of("{\"msg_id\":\"1\"}"), part_of("{}"),
			       part_of("{}"), part_of("{\"a\":1}") };
	struct part buffers[] = { { "\0x", 2 }, { "", 0 }, { "yz", 2 } };
	autobuf struct buf v1 = { 0 }, old = { 0 }, again = { 0 };
	struct sb_err err;
	struct frame f;
	bool text, same = true;

	frame_write(&v1, FRAME_IOPUB, part, buffers, 3);
	ok(frame_read(v1.p, v1.len, &f, &err) == 0 && f.nbuffers == 3 &&
		   part_equal(frame_buffer(&f, 0), buffers[0]) &&
		   part_equal(frame_buffer(&f, 1), buffers[1]) &&
		   part_equal(frame_buffer(&f, 2), buffers[2]),
	   "buffers are kept");
	ok(frame_to_legacy(&f, &old, &text, &err) == 0 && !text,
	   "with buffers the older framing is binary");
	ok(frame_from_legacy(false, old.p, old.len, &again, &err) == 0 &&
		   again.len == v1.len && memcmp(again.p, v1.p, v1.len) == 0,
	   "and comes back as it was");
	for (size_t n = 0; n < v1.len; n++)
		same = same && frame_read(v1.p, n, &f, &err) < 0;
	ok(same, "what is cut is refused");
	for (size_t n = 0; n < old.len; n++) {
		again.len = 0;
		same = same && (n > 20 || frame_from_legacy(false, old.p, n,
							    &again, &err) < 0);
	}
	ok(same, "in the older framing, too");
}

static void test_wire(void)
{
	struct part parts[5] = { part_of(""), part_of("{\"msg_id\":\"1\"}"),
				 part_of("{}"), part_of("{}"),
				 part_of("{\"a\":1}") };
	char signature[WIRE_SIGNATURE_LEN + 1];
	autobuf struct buf v1 = { 0 }, b = { 0 };
	struct sb_err err;
	struct frame f;

	frame_write(&v1, FRAME_SHELL, parts + 1, NULL, 0);
	frame_read(v1.p, v1.len, &f, &err);
	/* printf '{"msg_id":"1"}{}{}{"a":1}' | openssl sha256 -hmac key */
	wire_sign("key", &f, signature);
	is_str(signature,
	       "b5c3f3f2ae4bdd60a1ea8475a37961c8"
	       "cc8853392dcee28a7c72f2463bd7f890",
	       "a message is signed");
	parts[0] = part_of(signature);
	ok(wire_read("key", FRAME_SHELL, parts, 5, &b, &f, &err) == 0,
	   "a good one is taken");
	ok(wire_read("other", FRAME_SHELL, parts, 5, &b, &f, &err) < 0,
	   "of another key it is not");
	signature[0] ^= 1;
	ok(wire_read("key", FRAME_SHELL, parts, 5, &b, &f, &err) < 0,
	   "nor a wrong one");
	parts[0].len = 0;
	ok(wire_read("key", FRAME_SHELL, parts, 5, &b, &f, &err) < 0,
	   "nor none");
	ok(wire_read("key", FRAME_SHELL, parts, 4, &b, &f, &err) < 0,
	   "nor too few parts");
}

int main(void)
{
	test_jscan();
	test_legacy();
	test_buffers();
	test_wire();
	return tap_done();
}
