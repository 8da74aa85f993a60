/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI 3.1 document of a server, made of its route tables. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/httpd-private.h"
#include "common/json.h"

static const struct http_field problem_fields[] = {
	{ "type", HTTP_STR, "Always about:blank" },
	{ "title", HTTP_STR, "The words of the status" },
	{ "status", HTTP_INT, "The status of the answer", .min = 400,
	  .max = 599 },
	{ "code", HTTP_STR, "A word that stays the same, for programs" },
	{ "detail", HTTP_STR, "What is wrong, for people" },
	{ "message", HTTP_STR, "The same as detail" },
	{ "reason", HTTP_STR, "The title, where Jupyter's clients look" },
	{ "remediation", HTTP_STR, "What to do about it", .maybe = true },
	{ 0 },
};

const struct http_schema http_problem_schema = {
	"Problem",
	problem_fields,
	"An error (RFC 9457)",
	"{'type': 'about:blank', 'title': 'Not Found', 'status': 404,"
	" 'code': 'not-found', 'detail': 'there is no process p9',"
	" 'message': 'there is no process p9',"
	" 'reason': 'Not Found'}",
};

/* What an error means here; those without are never answered. */
static const char *const fail_texts[SB_NCODES] = {
	[SB_INVALID] = "The request is wrong: the message says in what",
	[SB_AUTH] = "The token is missing or wrong",
	[SB_DENIED] = "Not allowed: by the rights of the user, or for the "
		      "Host or Origin of the request",
	[SB_NOTFOUND] = "There is no such thing",
	[SB_CONFLICT] = "It exists already, or is in the wrong state",
	[SB_LIMIT] = "Larger than is accepted",
	[SB_MISSING] = "Something must be installed or built first",
	[SB_SYSTEM] = "The machine failed",
	[SB_GUEST] = "The guest failed or broke the protocol",
	[SB_UPGRADE] = "Only a WebSocket can be had here",
	[SB_BUSY] = "Not now: try again later",
	[SB_TIMEOUT] = "It took too long",
	[SB_NOSPACE] = "The disk is full",
};

static json_t *components(json_t *doc, const char *kind)
{
	return json_object_get(json_object_get(doc, "components"), kind);
}

static void add_schemas(json_t *schemas, const struct http_field *fields);

static void add_schema(json_t *schemas, const struct http_schema *s)
{
	json_t *j;

	if (!s || json_object_get(schemas, s->name))
		return;
	j = schema_object(s->fields);
	if (s->text)
		json_put(j, "description", json_str(s->text));
	if (s->open)
		json_put(j, "additionalProperties", json_true());
	if (s->example)
		json_put(j, "examples",
			 json_pack("[o]", schema_json(s->example)));
	json_put(schemas, s->name, j);
	add_schemas(schemas, s->fields);
}

static void add_schemas(json_t *schemas, const struct http_field *fields)
{
	for (const struct http_field *f = fields; f && f->name; f++) {
		add_schema(schemas, f->schema);
		add_schemas(schemas, f->group);
	}
}

/* "post_v1_shell_exec" */
static json_t *operation_id(const char *method, const char *path)
{
	autobuf struct buf b = { 0 };
	bool gap = true;

	for (const char *p = method; *p; p++)
		buf_addf(&b, "%c", tolower((unsigned char)*p));
	for (const char *p = path; *p; p++) {
		if (!isalnum((unsigned char)*p)) {
			gap = true;
			continue;
		}
		buf_addf(&b, gap ? "_%c" : "%c", *p);
		gap = false;
	}
	return json_str(b.p);
}

static json_t *headers_json(const struct http_field *fields)
{
	json_t *j = json_object();

	for (const struct http_field *f = fields; f->name; f++)
		json_put(j, f->name,
			 json_pack("{s:s, s:o}", "description", f->text,
				   "schema", schema_field(f)));
	return j;
}

/*
 * OpenAPI 3.1 has no words for events: x-events says what they mean, and $defs
 * what their data is.
 */
static json_t *events_json(json_t *schemas, const struct http_event *events)
{
	json_t *texts = json_object(), *data = json_object();

	for (const struct http_event *e = events; e->name; e++) {
		add_schema(schemas, e->data);
		json_put(texts, e->name, json_str(e->text));
		json_put(data, e->name, schema_ref(e->data));
	}
	return json_pack("{s:{s:s, s:s, s:o}, s:o}", "schema", "type", "string",
			 "description",
			 "Server-Sent Events; the data of each is JSON, as "
			 "$defs has it under the event's name",
			 "$defs", data, "x-events", texts);
}

static void add_content(json_t *content, json_t *schemas,
			const struct http_answer *a)
{
	if (a->schema) {
		json_t *j = schema_ref(a->schema);

		if (a->list)
			j = json_pack("{s:s, s:o}", "type", "array", "items",
				      j);
		add_schema(schemas, a->schema);
		json_put(content, "application/json",
			 json_pack("{s:o}", "schema", j));
	} else if (a->events) {
		json_put(content, "text/event-stream",
			 events_json(schemas, a->events));
	} else if (a->type) {
		json_put(content, a->type,
			 str_starts(a->type, "text/")
				 ? json_pack("{s:{s:s}}", "schema", "type",
					     "string")
				 : json_pack("{s:{}}", "schema"));
	}
}

static void add_answer(json_t *responses, json_t *schemas,
		       const struct http_answer *a)
{
	json_t *r, *content;
	char key[16];

	snprintf(key, sizeof(key), "%d", a->status);
	r = json_object_get(responses, key);
	if (!r) {
		r = json_pack("{s:s}", "description", a->text);
		json_put(responses, key, r);
	}
	if (a->headers)
		json_put(r, "headers", headers_json(a->headers));
	if (!a->schema && !a->events && !a->type)
		return;
	content = json_object_get(r, "content");
	if (!content) {
		content = json_object();
		json_put(r, "content", content);
	}
	add_content(content, schemas, a);
}

static void add_fail(json_t *doc, json_t *responses, enum sb_code code)
{
	json_t *shared = components(doc, "responses");
	const char *name = sb_code_name(code);
	char key[16];

	snprintf(key, sizeof(key), "%d", sb_code_http(code));
	if (json_object_get(responses, key))
		return;
	json_put(responses, key,
		 json_pack("{s:o}", "$ref",
			   json_sprintf("#/components/responses/%s", name)));
	if (!json_object_get(shared, name))
		json_put(shared, name,
			 json_pack("{s:s, s:{s:{s:o}}}", "description",
				   fail_texts[code], "content",
				   "application/problem+json", "schema",
				   schema_ref(&http_problem_schema)));
}

static json_t *responses_json(const struct httpd_config *cfg, json_t *doc,
			      const struct http_route *r, bool has_body)
{
	json_t *j = json_object();

	for (const struct http_answer *a = r->out; a && a->status; a++)
		add_answer(j, components(doc, "schemas"), a);
	for (size_t i = 0; i < HTTP_MAX_FAILS && r->fails[i]; i++)
		add_fail(doc, j, r->fails[i]);
	add_fail(doc, j, SB_INVALID);
	add_fail(doc, j, SB_DENIED);
	if (has_body)
		add_fail(doc, j, SB_LIMIT);
	if (!(r->flags & HTTP_PUBLIC) && cfg->authorize) {
		add_fail(doc, j, SB_AUTH);
		add_fail(doc, j, SB_BUSY);
	}
	add_fail(doc, j, SB_SYSTEM);
	return j;
}

static void add_operation(json_t *paths, const char *method, const char *path,
			  json_t *op /* takes */)
{
	json_t *item = json_object_get(paths, path);
	autofree char *key = xstrdup(method);

	for (char *s = key; *s; s++)
		*s = (char)tolower((unsigned char)*s);
	json_put(op, "operationId", operation_id(method, path));
	if (!item) {
		item = json_object();
		json_put(paths, path, item);
	}
	json_put(item, key, op);
}

/* OpenAPI has no word for any method, nor for all that follows. */
static void add_operations(json_t *paths, const struct http_route *r,
			   const char *path, json_t *op /* takes */)
{
	static const char *const any[] = { "GET", "POST", "PUT", "PATCH",
					   "DELETE" };
	const char *dots = strstr(path, "...}");
	autofree char *shown =
		dots ? xasprintf("%.*s}", (int)(dots - path), path)
		     : xstrdup(path);

	if (strcmp(r->method, HTTP_ANY) != 0) {
		add_operation(paths, r->method, shown, op);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(any); i++)
		add_operation(paths, any[i], shown, json_copy(op));
	json_decref(op);
}

static void add_aliases(json_t *paths, const struct http_route *r,
			const json_t *op)
{
	for (size_t i = 0; i < HTTP_MAX_ALIASES && r->alias[i]; i++) {
		json_t *copy = json_copy((json_t *)op);

		openapi_request(copy, r, r->alias[i]);
		json_put(copy, "description",
			 json_sprintf("Another name for %s.", r->path));
		json_put(copy, "deprecated", json_false());
		json_put(copy, "x-alias-of", json_str(r->path));
		add_operations(paths, r, r->alias[i], copy);
	}
}

static void add_route(json_t *doc, const struct httpd_config *cfg,
		      const struct http_route *r, const char *tag)
{
	json_t *paths = json_object_get(doc, "paths");
	json_t *schemas = components(doc, "schemas");
	json_t *op = json_object();

	if (tag)
		json_put(op, "tags", json_pack("[s]", tag));
	json_put(op, "summary", json_str(r->summary));
	json_put(op, "description",
		 r->text ? json_str(r->text) : json_sprintf("%s.", r->summary));
	openapi_request(op, r, r->path);
	add_schemas(schemas, r->in);
	json_put(op, "responses",
		 responses_json(cfg, doc, r,
				json_object_get(op, "requestBody")));
	if (r->flags & HTTP_LENIENT)
		json_put(op, "x-takes-more", json_true());
	if (r->flags & HTTP_PUBLIC)
		json_put(op, "security", json_array());
	else if (cfg->authorize && strcmp(r->method, "GET") == 0)
		json_put(op, "security",
			 json_pack("[{s:[]}, {s:[]}, {s:[]}]", "token", "jwt",
				   "ticket"));
	add_aliases(paths, r, op);
	add_operations(paths, r, r->path, op);
}

static void add_security(json_t *doc)
{
	json_t *schemes = components(doc, "securitySchemes");

	json_put(doc, "security",
		 json_pack("[{s:[]}, {s:[]}]", "token", "jwt"));
	json_put(schemes, "token",
		 json_pack("{s:s, s:s, s:s}", "type", "http", "scheme",
			   "bearer", "description",
			   "The token of this sandbox"));
	json_put(schemes, "jwt",
		 json_pack("{s:s, s:s, s:s, s:s}", "type", "http", "scheme",
			   "bearer", "bearerFormat", "JWT", "description",
			   "Where there is a JWT_SECRET; and required, with "
			   "JWT_AUTH_REQUIRED"));
	json_put(schemes, "ticket",
		 json_pack("{s:s, s:s, s:s, s:s}", "type", "apiKey", "in",
			   "query", "name", "ticket", "description",
			   "One of POST /v1/tickets, good for one GET"));
}

static json_t *document(const struct httpd_config *cfg)
{
	json_t *tags = json_array();
	json_t *doc = json_pack(
		"{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:[{s:s, s:s}], s:o,"
		" s:{}, s:{s:{}, s:{}, s:{}}}",
		"openapi", "3.1.0", "info", "title", cfg->title, "description",
		cfg->about, "version", cfg->version, "license", "name",
		"Apache-2.0", "identifier", "Apache-2.0", "servers", "url", "/",
		"description", "Where this document came from", "tags", tags,
		"paths", "components", "schemas", "responses",
		"securitySchemes");

	add_schema(components(doc, "schemas"), &http_problem_schema);
	if (cfg->authorize)
		add_security(doc);
	else
		json_put(doc, "security", json_array());
	for (const struct http_table *t = cfg->routes; t->rows; t++) {
		if (t->tag)
			json_array_append_new(
				tags, json_pack("{s:s, s:s}", "name", t->tag,
						"description", t->text));
		for (const struct http_route *r = t->rows; r->run; r++)
			if (r->out || !(r->flags & HTTP_URL_TOKEN))
				add_route(doc, cfg, r, t->tag);
	}
	return doc;
}

const char *httpd_openapi(struct httpd *h)
{
	autojson json_t *doc = NULL;

	if (!h->openapi) {
		doc = document(&h->cfg);
		h->openapi = json_print(doc);
	}
	return h->openapi;
}
