/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of results: what it shows, and what it refuses. */
#include "config.h"

#include <stdlib.h>

#include "common/json.h"
#include "host/result.h"
#include "tests/unit/tap.h"

/* A result around a node, with some small buffers. */
#define BUFFERS                                                           \
	"\"QQ==\", \"AQIDBAUGBwg=\", \"AAAAAAAA8D8AAAAAAAAEQA==\", \"\"," \
	"\"7aCAeA==\", \"AQAAAAAAAAACAAAAAAAAAA==\", \"AgE=\""

static int parse(const char *node, struct result **ret, struct sb_err *err)
{
	autofree char *text = xasprintf("{\"version\": 1, \"value\": %s, "
					"\"truncated\": false, "
					"\"buffers\": [" BUFFERS "]}",
					node);
	autojson json_t *j = NULL;

	if (json_parse(text, strlen(text), &j, err) < 0)
		return -1;
	return result_parse(j, ret, err);
}

static void check_show(const char *node, const char *want)
{
	autoresult struct result *r = NULL;
	autobuf struct buf b = { 0 };
	struct sb_err err = { 0 };

	if (parse(node, &r, &err) < 0) {
		ok(false, node);
		printf("# %s\n", err.msg);
		return;
	}
	result_show(r, &b, 4096);
	is_str(b.p ? b.p : "", want, node);
}

static const char *const shows[][2] = {
	{ "null", "" },
	{ "[null, true, 1, 0.1, -0.0, \"it's\"]",
	  "[None, True, 1, 0.1, -0.0, \"it's\"]" },
	{ "1e22", "1e+22" },
	{ "{\"t\":\"int\",\"v\":\"-0x100000000000000000\"}",
	  "-295147905179352825856" },
	{ "{\"t\":\"float\",\"v\":\"nan\"}", "nan" },
	{ "{\"t\":\"complex\",\"v\":[2.0,-3.5]}", "(2-3.5j)" },
	{ "{\"t\":\"bytes\",\"b\":0}", "b'A'" },
	{ "{\"t\":\"bytearray\",\"b\":6}", "bytearray(b'\\x02\\x01')" },
	{ "{\"t\":\"str\",\"b\":4}", "'\\ud800x'" },
	{ "\"\\u001b[31m\\u202e\\u009b\"", "'\\x1b[31m\\u202e\\x9b'" },
	{ "{\"t\":\"tuple\",\"v\":[1]}", "(1,)" },
	{ "{\"t\":\"tuple\",\"name\":\"P\",\"fields\":[\"x\"],\"v\":[1]}",
	  "P(x=1)" },
	{ "{\"t\":\"set\",\"v\":[]}", "set()" },
	{ "{\"t\":\"image\",\"mime\":\"a/\\u001b\",\"mode\":\"L\","
	  "\"size\":[2,3],\"b\":0}",
	  "<image a/\\x1b, 2 x 3, 1 bytes>" },
	{ "{\"t\":\"frozenset\",\"v\":[1]}", "frozenset({1})" },
	{ "{\"t\":\"dict\",\"v\":[[\"a\",1],[2,[]]]}", "{'a': 1, 2: []}" },
	{ "{\"t\":\"range\",\"v\":[0,5,1]}", "range(0, 5)" },
	{ "{\"t\":\"datetime\",\"v\":\"2024-02-29T01:02:00-05:00\"}",
	  "datetime.datetime(2024, 2, 29, 1, 2, tzinfo=datetime.timezone("
	  "datetime.timedelta(days=-1, seconds=68400)))" },
	{ "{\"t\":\"timedelta\",\"v\":[0,0,0]}", "datetime.timedelta(0)" },
	{ "{\"t\":\"decimal\",\"v\":\"1E+999999999\"}",
	  "Decimal('1E+999999999')" },
	{ "{\"t\":\"fraction\",\"v\":[1,3]}", "Fraction(1, 3)" },
	{ "{\"t\":\"path\",\"v\":\"/a\"}", "PosixPath('/a')" },
	{ "{\"t\":\"missing\",\"v\":\"NaT\"}", "NaT" },
	{ "{\"t\":\"ndarray\",\"dtype\":\"<f8\",\"shape\":[2],\"b\":2}",
	  "array([1. , 2.5])" },
	{ "{\"t\":\"ndarray\",\"dtype\":\"|u1\",\"shape\":[2,4],\"b\":1}",
	  "array([[1, 2, 3, 4],\n       [5, 6, 7, 8]], dtype=uint8)" },
	{ "{\"t\":\"ndarray\",\"dtype\":\"<f8\",\"shape\":[9,0],\"b\":3}",
	  "array([], shape=(9, 0), dtype=float64)" },
	{ "{\"t\":\"ndarray\",\"dtype\":\"O\",\"shape\":[2],\"v\":[1,null]}",
	  "array([1, None], dtype=object)" },
	{ "{\"t\":\"scalar\",\"dtype\":\"|i1\",\"shape\":[],\"b\":0}", "65" },
	{ "{\"t\":\"dataframe\",\"columns\":{\"t\":\"index\",\"names\":[null],"
	  "\"data\":{\"t\":\"ndarray\",\"dtype\":\"O\",\"shape\":[2],"
	  "\"v\":[\"n\",\"f\"]}},\"index\":{\"t\":\"index\",\"names\":[null],"
	  "\"data\":{\"t\":\"range\",\"v\":[0,2,1]}},\"data\":["
	  "{\"t\":\"ndarray\",\"dtype\":\"<i8\",\"shape\":[2],\"b\":5},"
	  "{\"t\":\"ndarray\",\"dtype\":\"<f8\",\"shape\":[2],\"b\":2}]}",
	  "   n    f\n0  1  1.0\n1  2  2.5" },
	{ "{\"t\":\"object\",\"type\":\"m.C\",\"repr\":\"<C\\u001b]0;x>\"}",
	  "<C\\x1b]0;x>" },
	{ "[{\"t\":\"later\",\"type\":\"m.C\",\"repr\":\"c\",\"b\":99}]",
	  "[<m.C: c>]" },
	{ "{\"t\":\"truncated\",\"type\":\"list\",\"reason\":\"depth\"}",
	  "<list left out: depth>" },
	{ "{\"t\":\"pickle\",\"b\":0}", "<pickle: 1 bytes>" },
};

static const char *const refused[] = {
	"{}",
	"{\"t\":1}",
	"{\"t\":\"\"}",
	"{\"t\":\"int\",\"v\":\"12\"}",
	"{\"t\":\"int\",\"v\":12}",
	"{\"t\":\"bytes\",\"b\":7}",
	"{\"t\":\"bytes\",\"b\":-1}",
	"{\"t\":\"bytes\",\"b\":0.0}",
	"{\"t\":\"bytes\"}",
	"[{\"t\":\"bytes\",\"b\":0},{\"t\":\"bytes\",\"b\":0}]",
	"{\"t\":\"set\",\"v\":[[]]}",
	"{\"t\":\"dict\",\"v\":[[[],1]]}",
	"{\"t\":\"dict\",\"v\":[[1]]}",
	"{\"t\":\"dict\",\"v\":{}}",
	"{\"t\":\"set\",\"v\":[{\"t\":\"tuple\",\"v\":[[]]}]}",
	"{\"t\":\"range\",\"v\":[0,1,0]}",
	"{\"t\":\"range\",\"v\":[0,1]}",
	"{\"t\":\"fraction\",\"v\":[1,{\"t\":\"int\",\"v\":\"-0x0\"}]}",
	"{\"t\":\"tuple\",\"name\":\"P\",\"fields\":[\"x;\"],\"v\":[1]}",
	"{\"t\":\"tuple\",\"name\":\"P\",\"fields\":[],\"v\":[1]}",
	"{\"t\":\"datetime\",\"v\":\"2023-02-29T01:02:03\"}",
	"{\"t\":\"datetime\",\"v\":\"2023-02-28T25:02:03\"}",
	"{\"t\":\"datetime\",\"v\":\"2023-02-28T01:02:03\",\"zone\":"
	"\"../../etc/passwd\"}",
	"{\"t\":\"decimal\",\"v\":\"1_0\"}",
	"{\"t\":\"uuid\",\"v\":\"x\"}",
	"{\"t\":\"timedelta\",\"v\":[9999999999,0,0]}",
	"{\"t\":\"ndarray\",\"dtype\":\"<f8\",\"shape\":[3],\"b\":2}",
	"{\"t\":\"ndarray\",\"dtype\":\"<f8\",\"shape\":[-2],\"b\":2}",
	"{\"t\":\"ndarray\",\"dtype\":\"<f8\",\"shape\":[2.0],\"b\":2}",
	"{\"t\":\"ndarray\",\"dtype\":\"<f8\","
	"\"shape\":[4611686018427387904,4,2],\"b\":2}",
	"{\"t\":\"ndarray\",\"dtype\":\"|S0\",\"shape\":[1000000],\"b\":3}",
	"{\"t\":\"ndarray\",\"dtype\":\"|O8\",\"shape\":[1],\"b\":1}",
	"{\"t\":\"ndarray\",\"dtype\":\"<f8,<f8\",\"shape\":[1],\"b\":2}",
	"{\"t\":\"ndarray\",\"dtype\":\"(2,)<f8\",\"shape\":[1],\"b\":2}",
	"{\"t\":\"ndarray\",\"dtype\":\"|b1\",\"shape\":[2],\"b\":6}",
	"{\"t\":\"ndarray\",\"dtype\":\"O\",\"shape\":[2],\"v\":[1]}",
	"{\"t\":\"scalar\",\"dtype\":\"|u1\",\"shape\":[1],\"b\":0}",
	"{\"t\":\"object\",\"repr\":\"x\"}",
};

static void test_refused(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct result *r = NULL;
		struct sb_err err = { 0 };

		ok(parse(refused[i], &r, &err) < 0 && err.code == SB_GUEST,
		   refused[i]);
		result_free(r);
	}
}

/* depth lists in each other, or n numbers in one. */
static enum sb_code try_size(size_t depth, size_t n)
{
	autobuf struct buf b = { 0 };
	struct result *r = NULL;
	struct sb_err err = { 0 };

	for (size_t i = 0; i < depth; i++)
		buf_adds(&b, "[");
	for (size_t i = 0; i < n; i++)
		buf_adds(&b, i ? ",0" : "0");
	for (size_t i = 0; i < depth; i++)
		buf_adds(&b, "]");
	parse(b.p, &r, &err);
	result_free(r);
	return err.code;
}

static void test_limits(void)
{
	is_int(try_size(64, 1), SB_OK, "64 deep");
	is_int(try_size(1000, 1), SB_LIMIT, "1000 deep");
	is_int(try_size(1, 200000), SB_OK, "200,000 nodes");
	is_int(try_size(1, 300000), SB_LIMIT, "300,000 nodes");
}

/* buffers: a JSON list. */
static bool takes_buffers(const char *buffers)
{
	autofree char *text = xasprintf(
		"{\"version\": 1, \"value\": 1, \"buffers\": %s}", buffers);
	autojson json_t *j = NULL;
	struct result *r = NULL;
	bool taken;

	taken = json_parse(text, strlen(text), &j, NULL) == 0 &&
		result_parse(j, &r, NULL) == 0;
	result_free(r);
	return taken;
}

static void test_buffers(void)
{
	ok(takes_buffers("[\"\", \"QUI=\"]"), "good base64");
	ok(!takes_buffers("[\"QUI\"]"), "no padding");
	ok(!takes_buffers("[\"QUJ=\"]"), "bits behind the end");
	ok(!takes_buffers("[\"Q===\"]"), "too much padding");
	ok(!takes_buffers("[\"QU I\"]"), "a space");
	ok(!takes_buffers("[1]"), "a number");
	ok(!takes_buffers("{}"), "an object");
}

static void test_max(void)
{
	autoresult struct result *r = NULL;
	autobuf struct buf b = { 0 };

	if (!ok(parse("[\"\u00e4\u00e4\u00e4\u00e4\", 2]", &r, NULL) == 0,
		"parse"))
		return;
	result_show(r, &b, 8);
	is_str(b.p, "['\u00e4\u2026", "cut between characters");
}

static void test_plain(void)
{
	static const char node[] =
		"{\"t\":\"dict\",\"v\":[[\"a\",{\"t\":\"tuple\",\"v\":[1,"
		"{\"t\":\"ndarray\",\"dtype\":\"|u1\",\"shape\":[2,4],"
		"\"b\":1}]}],[\"b\",{\"t\":\"bytes\",\"b\":0}],"
		"[\"d\",{\"t\":\"dict\",\"v\":[[1,2]]}]]}";
	autoresult struct result *r = NULL;
	autojson json_t *j = NULL;
	autofree char *text = NULL;

	if (!ok(parse(node, &r, NULL) == 0, "parse"))
		return;
	j = result_plain(r);
	text = json_print(j);
	is_str(text,
	       "{\"a\":[1,[[1,2,3,4],[5,6,7,8]]],"
	       "\"b\":{\"t\":\"bytes\",\"base64\":\"QQ==\"},"
	       "\"d\":{\"t\":\"dict\",\"v\":[[1,2]]}}",
	       "plain");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(shows); i++)
		check_show(shows[i][0], shows[i][1]);
	test_refused();
	test_limits();
	test_buffers();
	test_max();
	test_plain();
	return tap_done();
}
