/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of the route tables as JSON Schema (draft 2020-12). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/httpd-private.h"
#include "common/json.h"

json_t *schema_json(const char *text)
{
	autofree char *copy = xstrdup(text);
	json_t *j;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	j = json_loads(copy, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	if (!j) /* our own mistake, in a table */
		abort();
	return j;
}

json_t *schema_ref(const struct http_schema *s)
{
	return json_pack("{s:o}", "$ref",
			 json_sprintf("#/components/schemas/%s", s->name));
}

/* "type": one word, or the list of them. */
static void put_type(json_t *j, unsigned int type)
{
	static const struct {
		unsigned int type;
		const char *name;
	} names[] = {
		{ HTTP_STR | HTTP_BYTES, "string" },
		{ HTTP_INT, "integer" },
		{ HTTP_NUM, "number" },
		{ HTTP_BOOL, "boolean" },
		{ HTTP_OBJ | HTTP_MAP, "object" },
		{ HTTP_LIST, "array" },
		{ HTTP_NULL, "null" },
	};
	autojson json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (type & names[i].type)
			json_array_append_new(list, json_str(names[i].name));
	if (json_array_size(list) == 1)
		json_object_set(j, "type", json_array_get(list, 0));
	else if (json_array_size(list))
		json_object_set(j, "type", list);
	if (type & HTTP_BYTES)
		json_put(j, "format", json_str("binary"));
}

static void put_words(json_t *j, const struct http_field *f)
{
	json_t *list = json_array();
	size_t len;

	for (const char *w = f->words; *w; w += len + (w[len] == '|')) {
		len = strcspn(w, "|");
		json_array_append_new(list, json_text(w, len));
	}
	if (f->type & HTTP_NULL)
		json_array_append_new(list, json_null());
	json_put(j, "enum", list);
}

/* What a list or a map is of. */
static json_t *schema_items(const struct http_field *f)
{
	json_t *j;

	if (f->schema)
		return schema_ref(f->schema);
	j = json_object();
	put_type(j, f->of);
	return j;
}

json_t *schema_field(const struct http_field *f)
{
	json_t *j = json_object();

	if (f->type & HTTP_OBJ && f->schema) {
		if (f->type & HTTP_NULL)
			json_put(j, "oneOf",
				 json_pack("[o, {s:s}]", schema_ref(f->schema),
					   "type", "null"));
		else
			json_put(j, "$ref",
				 json_sprintf("#/components/schemas/%s",
					      f->schema->name));
		return j;
	}
	put_type(j, f->type);
	if (f->type & HTTP_LIST)
		json_put(j, "items", schema_items(f));
	if (f->type & HTTP_MAP)
		json_put(j, "additionalProperties", schema_items(f));
	if (f->max)
		json_put(j, "minimum", json_integer(f->min));
	if (f->max && f->max != HTTP_NO_MAX)
		json_put(j, "maximum", json_integer(f->max));
	if (f->words)
		put_words(j, f);
	if (f->dflt)
		json_put(j, "default", schema_json(f->dflt));
	return j;
}

static void put_fields(json_t *properties, json_t *required,
		       const struct http_field *fields)
{
	for (const struct http_field *f = fields; f && f->name; f++) {
		json_t *j;

		if (f->group) {
			put_fields(properties, required, f->group);
			continue;
		}
		j = schema_field(f);
		if (f->text)
			json_put(j, "description", json_str(f->text));
		json_put(properties, f->name, j);
		if (!f->maybe)
			json_array_append_new(required, json_str(f->name));
	}
}

json_t *schema_object(const struct http_field *fields)
{
	json_t *properties = json_object(), *required = json_array();
	json_t *j = json_pack("{s:s, s:o}", "type", "object", "properties",
			      properties);

	put_fields(properties, required, fields);
	if (json_array_size(required))
		json_object_set(j, "required", required);
	json_decref(required);
	return j;
}
