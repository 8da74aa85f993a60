/* SPDX-License-Identifier: Apache-2.0 */
/* What tables of routes say: what is refused for it, what is made of it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/httpd-private.h"
#include "common/json.h"
#include "host/api-util.h"
#include "host/api.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void run_nothing(struct http_req *req)
{
}

static const struct http_field group[] = {
	{ "limit", HTTP_INT, "How many", .min = 1, .max = 9, .dflt = "3" },
	{ "kind", HTTP_STR | HTTP_NULL, "Which", .words = "a|b" },
	{ 0 },
};

static const struct http_field in[] = {
	{ "id", HTTP_STR, "Which one", HTTP_PATH },
	{ "path", HTTP_STR, "Where", .must = true, .aka = "file|path_base64" },
	HTTP_GROUP(group),
	{ "wait", HTTP_BOOL, "Whether", HTTP_QUERY },
	{ "If-Match", HTTP_STR, "Only if", HTTP_HEADER },
	{ 0 },
};

static const struct http_schema thing = {
	"Thing",
	(const struct http_field[]){
		{ "n", HTTP_INT, "A number" },
		{ "more", HTTP_LIST, "Others", .of = HTTP_STR, .maybe = true },
		{ 0 } },
	"A thing",
	"{'n': 1}",
};

static const struct http_event events[] = {
	{ "news", &thing, "Something new" },
	{ 0 },
};

static const struct http_answer out[] = {
	{ 200, "The thing", &thing },
	{ 200, NULL, .events = events },
	{ 0 },
};

static const struct http_route routes[] = {
	{ "POST",
	  "/a/{id}",
	  run_nothing,
	  0,
	  "Do it",
	  { "/old/{id}" },
	  in,
	  out,
	  { SB_NOTFOUND },
	  .example = "{'path': 'x'}" },
	{ "GET",
	  "/a/{id}",
	  run_nothing,
	  HTTP_PUBLIC,
	  "See it",
	  { NULL },
	  in,
	  out,
	  .example = "{'path': 'x'}" },
	{ "GET", "/free", run_nothing, 0, "Not described" },
	{ HTTP_ANY,
	  "/a/{id}/{rest...}",
	  run_nothing,
	  HTTP_STREAM_BODY | HTTP_LENIENT,
	  "Another's",
	  { NULL },
	  in,
	  out },
	{ 0 },
};

static const struct http_table tables[] = {
	{ "things", "All about things", routes },
	{ 0 },
};

static bool takes_query(const struct http_route *r, const char *target)
{
	struct http_target t;
	struct sb_err err;
	bool good;

	if (target_parse(target, &t, &err) < 0)
		abort();
	good = route_check_query(r, &t, &err) == 0;
	target_done(&t);
	return good;
}

static bool takes_body(const struct http_route *r, const char *text)
{
	autojson json_t *body = schema_json(text);
	struct sb_err err;

	return route_check_body(r, body, &err) == 0;
}

static void test_checks(void)
{
	const struct http_route *post = &routes[0], *get = &routes[1];

	ok(takes_body(post, "{}"), "nothing at all");
	ok(takes_body(post, "{'path': 1, 'limit': 2}"),
	   "fields, and a group's");
	ok(takes_body(post, "{'file': 1}"), "another name");
	ok(!takes_body(post, "{'pat': 1}"), "not a part of a name");
	ok(!takes_body(post, "{'path_base': 1}"), "nor of another");
	ok(!takes_body(post, "{'wait': 1}"), "not what is for the query");
	ok(!takes_body(post, "{'id': 1}"), "nor for the path");
	ok(!takes_body(post, "{'If-Match': 1}"), "nor for the head");
	ok(takes_query(post, "/a/1?wait=1"), "a query");
	ok(!takes_query(post, "/a/1?path=x"), "not what is for the body");
	ok(takes_query(get, "/a/1?path=x&limit=2&wait&file"),
	   "all of it in the query of a GET");
	ok(!takes_query(get, "/a/1?path=x&x"), "but nothing else");
	ok(!takes_body(get, "{'path': 1}"), "and no body");
	ok(takes_query(&routes[2], "/free?x=1") &&
		   takes_body(&routes[2], "{'x': 1}"),
	   "what is not described takes all");
}

static const struct http_route *found(const char *method, const char *target,
				      struct buf *allow)
{
	const struct http_route *r;
	struct http_target t;
	struct sb_err err;
	const char *path;

	if (target_parse(target, &t, &err) < 0)
		abort();
	r = route_find(tables, &t, method, &path, allow);
	target_done(&t);
	return r;
}

static void test_any(void)
{
	const struct http_route *any = &routes[3];
	autobuf struct buf allow = { 0 };

	ok(found("PUT", "/a/1/b", &allow) == any &&
		   found("OPTIONS", "/a/1/b/c", &allow) == any && !allow.len,
	   "any method of what nobody else has");
	ok(found("GET", "/a/1", &allow) == &routes[1], "but not of others");
	buf_done(&allow);
	ok(!found("PUT", "/a/1", &allow) && allow.len &&
		   strcmp(allow.p, "POST, GET, HEAD") == 0,
	   "also if they have other methods");
}

/* The value at a path such as "paths /a get". */
static json_t *at(json_t *j, const char *path)
{
	autofree char *copy = xstrdup(path);
	char *rest = copy, *key;

	while (j && (key = strsep(&rest, " ")))
		j = json_is_array(j) ? json_array_get(j, atoi(key))
				     : json_object_get(j, key);
	return j;
}

static void is_json(json_t *doc, const char *path, const char *want)
{
	autojson json_t *j = schema_json(want);
	autofree char *got = NULL;

	if (ok(json_equal(at(doc, path), j), path))
		return;
	got = at(doc, path) ? json_print(at(doc, path)) : NULL;
	printf("# %s\n", got ? got : "nothing");
}

static int let_in(void *ctx, struct http_req *req, struct sb_err *err)
{
	return 0;
}

static void test_document(void)
{
	struct httpd h = { .cfg = { .routes = tables,
				    .title = "t",
				    .about = "a",
				    .version = "1",
				    .authorize = let_in } };
	const char *text = httpd_openapi(&h);
	autojson json_t *doc = NULL;
	struct sb_err err;

	ok(json_parse(text, strlen(text), &doc, &err) == 0, "a document");
	ok(httpd_openapi(&h) == text, "is made once");
	is_json(doc, "openapi", "'3.1.0'");
	is_json(doc, "paths /a/{id} post operationId", "'post_a_id'");
	is_json(doc, "paths /old/{id} post x-alias-of", "'/a/{id}'");
	is_json(doc, "paths /old/{id} post operationId", "'post_old_id'");
	is_json(doc, "paths /a/{id} get security", "[]");
	is_json(doc, "paths /a/{id} post parameters 0",
		"{'name': 'id', 'in': 'path', 'description': 'Which one',"
		" 'required': true, 'schema': {'type': 'string'}}");
	is_json(doc, "paths /a/{id} get parameters 2",
		"{'name': 'file', 'in': 'query', 'description':"
		" 'Another name for path', 'schema': {'type': 'string'}}");
	is_json(doc,
		"paths /a/{id} post requestBody content application/json "
		"schema properties limit",
		"{'type': 'integer', 'minimum': 1, 'maximum': 9, 'default': 3,"
		" 'description': 'How many'}");
	is_json(doc,
		"paths /a/{id} post requestBody content application/json "
		"schema properties kind",
		"{'type': ['string', 'null'], 'enum': ['a', 'b', null],"
		" 'description': 'Which'}");
	is_json(doc,
		"paths /a/{id} post requestBody content application/json "
		"schema allOf 0 anyOf 2",
		"{'required': ['path_base64']}");
	is_json(doc, "paths /a/{id} post responses 404",
		"{'$ref': '#/components/responses/not-found'}");
	is_json(doc,
		"paths /a/{id} post responses 200 content text/event-stream "
		"schema $defs news",
		"{'$ref': '#/components/schemas/Thing'}");
	ok(at(doc, "paths /a/{id} post responses 401") &&
		   !at(doc, "paths /a/{id} get responses 401"),
	   "what is public refuses nobody");
	is_json(doc, "components schemas Thing required", "['n']");
	is_json(doc, "paths /a/{id}/{rest} put operationId", "'put_a_id_rest'");
	is_json(doc, "paths /a/{id}/{rest} delete parameters 1 name", "'rest'");
	free(h.openapi);
}

static const struct http_field *find_field(const struct http_field *fields,
					   const char *name)
{
	const struct http_field *found = NULL;

	for (const struct http_field *f = fields; !found && f->name; f++)
		if (f->group)
			found = find_field(f->group, name);
		else if (strcmp(f->name, name) == 0)
			found = f;
	return found;
}

/* Whether an object has what its schema says, and nothing else. */
static bool has_all(const json_t *j, const struct http_field *fields)
{
	bool good = true;

	for (const struct http_field *f = fields; f->name; f++) {
		if (f->group ? has_all(j, f->group)
			     : f->maybe || json_object_get(j, f->name))
			continue;
		printf("# no '%s'\n", f->name);
		good = false;
	}
	return good;
}

static bool is_like(const json_t *j, const struct http_schema *s)
{
	bool good = has_all(j, s->fields);
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)j, key, v)
		if (!find_field(s->fields, key)) {
			printf("# '%s' is not described\n", key);
			good = false;
		}
	return good;
}

static void test_sandboxd(void)
{
	const struct http_field *create = sandbox_routes[0].in;
	struct sandbox_port ports[] = { { 4001, 22, "ssh" },
					{ 4002, 8765, "guestd" } };
	autospec struct spec spec;
	autojson json_t *j = NULL, *s = NULL;
	struct sandbox *sb;
	struct sb_err err;
	const char *key;
	json_t *v;

	for (const struct http_table *t = api_routes; t->rows; t++)
		for (const struct http_route *r = t->rows; r->run; r++)
			ok(r->out && r->summary, r->path);
	spec_init(&spec);
	s = spec_to_json(&spec);
	json_object_foreach(s, key, v)
		ok(find_field(create, key), key);
	for (const struct http_field *f = create; f->name; f++)
		ok(f->place != HTTP_AUTO || json_object_get(s, f->name),
		   f->name);

	spec.name = xstrdup("demo");
	sb = sandbox_new(scratch_dir, &spec);
	fs_mkdirs(sb->dir, 0700, &err);
	sandbox_write_ports(sb, ports, 2, &err);
	sb->state = SANDBOX_FAILED;
	sb_fail(&sb->cause, SB_GUEST, "it fell over");
	sb_hint(&sb->cause, "put it up");
	j = sandbox_json(sb);
	ok(is_like(j, &api_sandbox_schema), "a sandbox is as described");
	ok(is_like(at(j, "ports 0"), &api_port_schema), "so is a port");
	ok(is_like(at(j, "ssh"),
		   find_field(api_sandbox_schema.fields, "ssh")->schema),
	   "and the way in by SSH");
	sandbox_free(sb);
}

int main(void)
{
	scratch_init();
	test_checks();
	test_any();
	test_document();
	test_sandboxd();
	return tap_done();
}
