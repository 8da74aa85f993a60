/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a cell as data. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/json.h"
#include "guest/cell-result.h"
#include "guest/text.h"

#define VERSION 1
#define MAX_REPR 4096 /* the whole is in the bundle */
#define OBJECT_WEIGHT 8
#define MAX_WEIGHT (4 * 1024 * 1024)

void cell_result_done(struct cell_result *r)
{
	buf_done(&r->tree);
	buf_done(&r->bytes);
	free(r->end);
	*r = (struct cell_result){ 0 };
}

/* About how much memory it takes when it is parsed, in units of a number. */
static size_t weigh(struct part text)
{
	size_t weight = 1;
	bool quoted = false;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			i += c == '\\';
		else if (c == '{')
			weight += OBJECT_WEIGHT;
		else if (c == '[' || c == ',')
			weight++;
	}
	return weight;
}

/* \u0000 has as many bytes as \ufffd. */
static void replace_nuls(char *text, size_t len)
{
	for (size_t i = 0; i + 6 <= len; i++) {
		if (text[i] != '\\')
			continue;
		if (memcmp(text + i, "\\u0000", 6) == 0)
			memcpy(text + i, "\\ufffd", 6);
		i++; /* what it escapes, which may be another */
	}
}

json_t *cell_parse(struct part text)
{
	autofree char *copy = NULL;

	if (weigh(text) > MAX_WEIGHT)
		return NULL;
	if (memmem(text.p, text.len, "\\u0000", 6)) {
		copy = xmalloc(text.len);
		memcpy(copy, text.p, text.len);
		replace_nuls(copy, text.len);
		text.p = copy;
	}
	return json_loadb(text.p, text.len, 0, NULL);
}

/* The bytes of all buffers, or more than the limit. */
static size_t count_bytes(const struct frame *f)
{
	size_t sum = 0;

	for (size_t i = 0; i < f->nbuffers && sum <= CELL_RESULT_MAX; i++)
		sum += frame_buffer(f, i).len;
	return sum;
}

bool cell_result_take(struct cell_result *r, const struct frame *f)
{
	struct part data, tree;

	if (!jscan_get(f->part[FRAME_CONTENT], "data", &data) ||
	    !jscan_get(data, CELL_RESULT_MIME, &tree))
		return false;
	cell_result_done(r);
	r->there = true;
	r->too_large = tree.len > CELL_RESULT_MAX_TREE ||
		       count_bytes(f) > CELL_RESULT_MAX ||
		       weigh(tree) > MAX_WEIGHT;
	if (r->too_large)
		return true;
	buf_add(&r->tree, tree.p, tree.len);
	r->end = xcalloc(f->nbuffers + 1, sizeof(*r->end));
	for (r->n = 0; r->n < f->nbuffers; r->n++) {
		struct part b = frame_buffer(f, r->n);

		buf_add(&r->bytes, b.p, b.len);
		r->end[r->n] = r->bytes.len;
	}
	return true;
}

static json_t *buffers(const struct cell_result *r)
{
	json_t *list = json_array();
	size_t start = 0;

	for (size_t i = 0; i < r->n; start = r->end[i++]) {
		autofree char *text =
			base64_encode(r->bytes.p + start, r->end[i] - start);

		json_array_append_new(list, json_string_nocheck(text));
	}
	return list;
}

static json_t *make(json_t *value /* takes */, bool truncated,
		    json_t *data /* takes; may be NULL */,
		    json_t *bytes /* takes */)
{
	json_t *j = json_object();

	json_put(j, "version", json_integer(VERSION));
	json_put(j, "value", value);
	json_put(j, "truncated", json_boolean(truncated));
	if (data)
		json_put(j, "data", data);
	json_put(j, "buffers", bytes);
	return j;
}

json_t *cell_result_json(const struct cell_result *r)
{
	autojson json_t *tree = NULL;
	json_t *value, *data;

	if (!r->there)
		return json_null();
	if (r->too_large)
		return make(json_pack("{s:s, s:s, s:s}", "t", "truncated",
				      "type", "", "reason", "bytes"),
			    true, NULL, json_array());
	tree = cell_parse((struct part){ r->tree.p, r->tree.len });
	value = json_object_get(tree, "value");
	data = json_object_get(tree, "data");
	if (!value || json_is_null(value) ||
	    json_int_or(tree, "version", 0) != VERSION)
		return json_null();
	return make(json_incref(value), json_bool_or(tree, "truncated", false),
		    json_is_object(data) ? json_incref(data) : NULL,
		    buffers(r));
}

json_t *cell_result_of_bundle(json_t *data)
{
	const json_t *plain = json_object_get(data, "text/plain");
	const char *s = json_is_string(plain) ? json_string_value(plain) : "";
	size_t len = json_string_length(plain);
	json_t *value = json_object();

	if (len > MAX_REPR)
		len = text_whole(s, MAX_REPR);
	json_put(value, "t", json_str("object"));
	json_put(value, "type", json_str(""));
	json_put(value, "repr", json_text(s, len));
	return make(value, false, json_incref(data), json_array());
}
