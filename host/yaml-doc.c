/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file as JSON that remembers its lines. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/fs.h"
#include "common/json.h"
#include "host/yaml-doc.h"

#define MAX_FILE (64 * 1024)
#define MAX_DEPTH 8

struct line {
	char *field;
	size_t line;
};

struct yaml_doc {
	char *path;
	json_t *json;
	struct line *lines;
	size_t nlines;
};

/* A parser at work. */
struct source {
	struct yaml_doc *doc;
	yaml_parser_t parser;
	struct sb_err *err;
};

static int read_node(struct source *src, const yaml_event_t *ev,
		     const char *field, int depth, json_t **ret);

void yaml_doc_free(struct yaml_doc *doc)
{
	if (!doc)
		return;
	for (size_t i = 0; i < doc->nlines; i++)
		free(doc->lines[i].field);
	free(doc->lines);
	json_decref(doc->json);
	free(doc->path);
	free(doc);
}

json_t *yaml_doc_json(const struct yaml_doc *doc)
{
	return doc->json;
}

static void note_line(struct yaml_doc *doc, const char *field, size_t line)
{
	doc->lines = xrealloc(doc->lines, doc->nlines + 1, sizeof(*doc->lines));
	doc->lines[doc->nlines++] = (struct line){ xstrdup(field), line + 1 };
}

/* Whether field is above or part of it: "ports" of "ports[1].guest". */
static bool covers(const char *above, const char *field)
{
	size_t n = strlen(above);

	return strncmp(above, field, n) == 0 && strchr(".[", field[n]);
}

int yaml_doc_fail(const struct yaml_doc *doc, const char *field,
		  struct sb_err *err)
{
	const struct line *best = NULL;

	for (size_t i = 0; i < doc->nlines; i++)
		if (covers(doc->lines[i].field, field) &&
		    (!best ||
		     strlen(doc->lines[i].field) > strlen(best->field)))
			best = &doc->lines[i];
	if (!best)
		return sb_wrap(err, "%s", doc->path);
	return sb_wrap(err, "%s:%zu", doc->path, best->line);
}

static int bad_yaml(struct source *src, size_t line, const char *what)
{
	return sb_fail(src->err, SB_INVALID, "%s:%zu: %s", src->doc->path,
		       line + 1, what);
}

static int next(struct source *src, yaml_event_t *ev)
{
	const char *problem;

	if (yaml_parser_parse(&src->parser, ev))
		return 0;
	problem = src->parser.problem;
	return bad_yaml(src, src->parser.problem_mark.line,
			problem ? problem : "this is not YAML");
}

/* Decimal digits in the one form that prints the same again. */
static json_t *read_integer(const char *s)
{
	const char *digits = s + (s[0] == '-');
	long long n;

	if ((digits[0] == '0' && (digits[1] || digits != s)) ||
	    parse_num(s, LLONG_MIN, LLONG_MAX, &n) < 0)
		return NULL;
	return json_integer(n);
}

static json_t *read_scalar(const yaml_event_t *ev)
{
	const char *s = (const char *)ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	json_t *number;

	if (ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return json_text(s, len);
	if (!*s || strcmp(s, "~") == 0 || strcmp(s, "null") == 0)
		return json_null();
	if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
		return json_boolean(s[0] == 't');
	number = read_integer(s);
	return number ? number : json_text(s, len);
}

/* The event is consumed; *end says that the list is over. */
static int read_item(struct source *src, yaml_event_t *ev, const char *field,
		     int depth, json_t *list, bool *end)
{
	autofree char *path = NULL;
	json_t *value;

	*end = ev->type == YAML_SEQUENCE_END_EVENT;
	if (*end)
		return 0;
	path = xasprintf("%s[%zu]", field, json_array_size(list));
	note_line(src->doc, path, ev->start_mark.line);
	if (read_node(src, ev, path, depth, &value) < 0)
		return -1;
	json_array_append_new(list, value);
	return 0;
}

static int read_list(struct source *src, const char *field, int depth,
		     json_t **ret)
{
	autojson json_t *list = json_array();
	bool end = false;

	while (!end) {
		yaml_event_t ev;
		int rc;

		if (next(src, &ev) < 0)
			return -1;
		rc = read_item(src, &ev, field, depth, list, &end);
		yaml_event_delete(&ev);
		if (rc < 0)
			return -1;
	}
	*ret = steal(&list);
	return 0;
}

static int read_pair(struct source *src, const yaml_event_t *key,
		     const char *field, int depth, json_t *map)
{
	const char *name = (const char *)key->data.scalar.value;
	autofree char *path = NULL;
	yaml_event_t ev;
	json_t *value;
	int rc;

	if (key->type != YAML_SCALAR_EVENT ||
	    strlen(name) != key->data.scalar.length)
		return bad_yaml(src, key->start_mark.line,
				"a key must be a plain text");
	if (json_object_get(map, name))
		return sb_fail(src->err, SB_INVALID,
			       "%s:%zu: %s: this key is there twice",
			       src->doc->path, key->start_mark.line + 1, name);
	path = xasprintf("%s%s%s", field, *field ? "." : "", name);
	note_line(src->doc, path, key->start_mark.line);
	if (next(src, &ev) < 0)
		return -1;
	rc = read_node(src, &ev, path, depth, &value);
	yaml_event_delete(&ev);
	if (rc == 0)
		json_put(map, name, value);
	return rc;
}

static int read_map(struct source *src, const char *field, int depth,
		    json_t **ret)
{
	autojson json_t *map = json_object();
	bool end = false;

	while (!end) {
		yaml_event_t key;
		int rc = 0;

		if (next(src, &key) < 0)
			return -1;
		end = key.type == YAML_MAPPING_END_EVENT;
		if (!end)
			rc = read_pair(src, &key, field, depth, map);
		yaml_event_delete(&key);
		if (rc < 0)
			return -1;
	}
	*ret = steal(&map);
	return 0;
}

static int read_node(struct source *src, const yaml_event_t *ev,
		     const char *field, int depth, json_t **ret)
{
	size_t line = ev->start_mark.line;

	if (depth == MAX_DEPTH)
		return bad_yaml(src, line, "nested too deeply");
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		if (ev->data.scalar.tag || ev->data.scalar.anchor)
			break;
		*ret = read_scalar(ev);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
		if (ev->data.sequence_start.tag ||
		    ev->data.sequence_start.anchor)
			break;
		return read_list(src, field, depth + 1, ret);
	case YAML_MAPPING_START_EVENT:
		if (ev->data.mapping_start.tag || ev->data.mapping_start.anchor)
			break;
		return read_map(src, field, depth + 1, ret);
	default:
		break;
	}
	return bad_yaml(src, line, "tags, anchors and aliases cannot be used");
}

/* What stands at the top of the stream, outside of the one document's node. */
static int read_top(struct source *src, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		if (!src->doc->json)
			return 0;
		return bad_yaml(src, ev->start_mark.line,
				"there can be one document only");
	case YAML_MAPPING_START_EVENT:
		return read_node(src, ev, "", 0, &src->doc->json);
	default:
		return bad_yaml(
			src, ev->start_mark.line,
			"lines of the form 'key: value' must stand here");
	}
}

static int read_stream(struct source *src)
{
	bool end = false;

	while (!end) {
		yaml_event_t ev;
		int rc;

		if (next(src, &ev) < 0)
			return -1;
		end = ev.type == YAML_STREAM_END_EVENT;
		rc = read_top(src, &ev);
		yaml_event_delete(&ev);
		if (rc < 0)
			return -1;
	}
	if (!src->doc->json)
		src->doc->json = json_object();
	return 0;
}

int yaml_doc_read(const char *path, struct yaml_doc **ret, struct sb_err *err)
{
	autoyaml struct yaml_doc *doc = xcalloc(1, sizeof(*doc));
	struct source src = { .doc = doc, .err = err };
	autofree char *text = NULL;
	size_t len;
	int rc;

	doc->path = xstrdup(path);
	if (fs_read(path, MAX_FILE, &text, &len, err) < 0)
		return -1;
	if (!yaml_parser_initialize(&src.parser))
		abort(); /* out of memory */
	yaml_parser_set_input_string(&src.parser, (unsigned char *)text, len);
	rc = read_stream(&src);
	yaml_parser_delete(&src.parser);
	if (rc == 0)
		*ret = steal(&doc);
	return rc;
}
