/* SPDX-License-Identifier: Apache-2.0 */
/* What a route takes, as OpenAPI: parameters and bodies. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/httpd-private.h"
#include "common/json.h"

static json_t *parameter(const char *name, const char *in, const char *text)
{
	json_t *p = json_pack("{s:s, s:s}", "name", name, "in", in);

	if (text)
		json_put(p, "description", json_str(text));
	return p;
}

/* The field that says more of a {segment}, or NULL. */
static const struct http_field *path_field(const struct http_field *fields,
					   const char *name, size_t len)
{
	for (const struct http_field *f = fields; f && f->name; f++) {
		const struct http_field *in = path_field(f->group, name, len);

		if (in)
			return in;
		if (f->place == HTTP_PATH && strlen(f->name) == len &&
		    memcmp(f->name, name, len) == 0)
			return f;
	}
	return NULL;
}

static void add_segments(json_t *list, const struct http_route *r,
			 const char *path)
{
	static const struct http_field any = { .type = HTTP_STR };
	size_t n = 0;

	while ((n = route_segment(&path, n))) {
		autofree char *name = NULL;
		const struct http_field *f;
		json_t *p;

		if (*path != '{')
			continue;
		name = xstrndup(path + 1, strcspn(path + 1, ".}"));
		f = path_field(r->in, name, strlen(name));
		p = parameter(name, "path", f ? f->text : NULL);
		json_put(p, "required", json_true());
		json_put(p, "schema", schema_field(f ? f : &any));
		json_array_append_new(list, p);
	}
}

static json_t *aka_text(const struct http_field *f, const char *name)
{
	return json_sprintf(str_ends(name, "_base64")
				    ? "The bytes of %s as base64"
				    : "Another name for %s",
			    f->name);
}

/* Call fn with each of a field's other names. */
static void each_aka(const struct http_field *f,
		     void (*fn)(json_t *to, const struct http_field *f,
				const char *name),
		     json_t *to)
{
	size_t len;

	for (const char *w = f->aka; w && *w; w += len + (w[len] == '|')) {
		autofree char *name = NULL;

		len = strcspn(w, "|");
		name = xstrndup(w, len);
		fn(to, f, name);
	}
}

static void add_aka_parameter(json_t *list, const struct http_field *f,
			      const char *name)
{
	autojson json_t *text = aka_text(f, name);
	json_t *p = parameter(name, "query", json_string_value(text));

	json_put(p, "schema", schema_field(f));
	json_array_append_new(list, p);
}

static void add_parameters(json_t *list, const struct http_route *r,
			   const struct http_field *fields,
			   const json_t *example)
{
	for (const struct http_field *f = fields; f && f->name; f++) {
		enum http_place place = route_place(r, f);
		json_t *p;

		add_parameters(list, r, f->group, example);
		if (f->group || (place != HTTP_QUERY && place != HTTP_HEADER))
			continue;
		p = parameter(f->name, place == HTTP_QUERY ? "query" : "header",
			      f->text);
		/* Another name of it may be given instead. */
		if (f->must && !f->aka)
			json_put(p, "required", json_true());
		json_put(p, "schema", schema_field(f));
		if (json_object_get(example, f->name))
			json_object_set(p, "example",
					json_object_get(example, f->name));
		json_array_append_new(list, p);
		each_aka(f, add_aka_parameter, list);
	}
}

static void add_aka_property(json_t *properties, const struct http_field *f,
			     const char *name)
{
	json_t *j = schema_field(f);

	json_put(j, "description", aka_text(f, name));
	json_put(properties, name, j);
}

static void add_choice(json_t *list, const struct http_field *f,
		       const char *name)
{
	json_array_append_new(list, json_pack("{s:[s]}", "required", name));
}

static void require(json_t *schema, const struct http_field *f)
{
	json_t *list;

	if (!f->aka) {
		list = json_object_get(schema, "required");
		if (!list) {
			list = json_array();
			json_put(schema, "required", list);
		}
		json_array_append_new(list, json_str(f->name));
		return;
	}
	list = json_array();
	add_choice(list, f, f->name);
	each_aka(f, add_choice, list);
	if (!json_object_get(schema, "allOf"))
		json_put(schema, "allOf", json_array());
	json_array_append_new(json_object_get(schema, "allOf"),
			      json_pack("{s:o}", "anyOf", list));
}

/* The fields of one place as the schema of a body; false if there is none. */
static bool add_body_fields(json_t *schema, const struct http_route *r,
			    const struct http_field *fields,
			    enum http_place place)
{
	json_t *properties = json_object_get(schema, "properties");
	bool any = false;

	for (const struct http_field *f = fields; f && f->name; f++) {
		json_t *j;

		any |= add_body_fields(schema, r, f->group, place);
		if (f->group || route_place(r, f) != place)
			continue;
		any = true;
		j = schema_field(f);
		json_put(j, "description", json_str(f->text));
		json_put(properties, f->name, j);
		each_aka(f, add_aka_property, properties);
		if (f->must)
			require(schema, f);
	}
	return any;
}

static void add_body(json_t *content, const struct http_route *r,
		     enum http_place place, const char *type, json_t *example)
{
	json_t *schema =
		json_pack("{s:s, s:{}, s:b}", "type", "object", "properties",
			  "additionalProperties",
			  place == HTTP_FORM || r->flags & HTTP_LENIENT);
	json_t *media;

	if (!add_body_fields(schema, r, r->in, place)) {
		json_decref(schema);
		return;
	}
	if (place == HTTP_RAW) { /* there is one field: the body itself */
		json_t *raw = json_object_iter_value(json_object_iter(
			json_object_get(schema, "properties")));

		json_incref(raw);
		json_decref(schema);
		schema = raw;
	}
	media = json_pack("{s:o}", "schema", schema);
	if (example && place == HTTP_AUTO)
		json_object_set(media, "example", example);
	json_put(content, type, media);
}

/* Whether an empty body would not do. */
static bool must_come(json_t *content)
{
	const json_t *schema = json_object_get(
		json_object_get(content, "application/json"), "schema");

	return !schema || json_object_get(schema, "required") ||
	       json_object_get(schema, "allOf");
}

void openapi_request(json_t *op, const struct http_route *r, const char *path)
{
	autojson json_t *example = r->example ? schema_json(r->example) : NULL;
	autojson json_t *params = json_array();
	autojson json_t *content = json_object();

	add_segments(params, r, path);
	add_parameters(params, r, r->in, example);
	if (json_array_size(params))
		json_object_set(op, "parameters", params);
	add_body(content, r, HTTP_AUTO, "application/json", example);
	add_body(content, r, HTTP_FORM, "multipart/form-data", NULL);
	add_body(content, r, HTTP_RAW, "application/octet-stream", NULL);
	if (json_object_size(content))
		json_put(op, "requestBody",
			 json_pack("{s:O, s:b}", "content", content, "required",
				   must_come(content)));
}
