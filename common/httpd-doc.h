/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a route takes and gives, said once, as data beside its handler.  The
 * OpenAPI document is made of it, and the server refuses what it does not
 * name: a query parameter before the handler runs, a field of the body in
 * http_body_json().
 *
 * JSON in these tables is written with ' for ", so that it can be read.
 */

#include <limits.h>
#include <stdbool.h>

#include "common/err.h"

/* May be several at once: HTTP_STR | HTTP_NULL. */
enum http_type {
	HTTP_STR = 1 << 0,
	HTTP_INT = 1 << 1,
	HTTP_NUM = 1 << 2,
	HTTP_BOOL = 1 << 3,
	HTTP_NULL = 1 << 4,
	HTTP_OBJ = 1 << 5,  /* with .schema, or of any kind */
	HTTP_LIST = 1 << 6, /* of .schema or of .of */
	HTTP_MAP = 1 << 7,  /* any names, to .schema or .of */
	HTTP_BYTES = 1 << 8,
};

enum http_place {
	HTTP_AUTO, /* body of POST, PUT and PATCH; query of all else */
	HTTP_QUERY,
	HTTP_HEADER,
	HTTP_PATH, /* only to say more of a {segment} */
	HTTP_FORM, /* part of multipart/form-data */
	HTTP_RAW,  /* the whole body, as it is */
};

struct http_schema;

/* Lists of these end with .name == NULL. */
struct http_field {
	const char *name;
	unsigned int type; /* enum http_type */
	const char *text;  /* one line */
	enum http_place place;
	bool must;	    /* what is taken: it has to be given */
	bool maybe;	    /* what is given: it is not always there */
	const char *aka;    /* other names of it: "file|path_base64" */
	long long min, max; /* both 0: no limits; LLONG_MAX: none above */
	const char *words;  /* the only values: "utf-8|base64" */
	const char *dflt;   /* JSON */
	unsigned int of;    /* of a list or map */
	const struct http_schema *schema;
	const struct http_field *group; /* in place of all this: these, too */
};
#define HTTP_GROUP(fields)                    \
	{                                     \
		.name = "", .group = (fields) \
	}
#define HTTP_NO_MAX LLONG_MAX

/* An object that is given, shared under its name by all that refer to it. */
struct http_schema {
	const char *name;
	const struct http_field *fields;
	const char *text;
	const char *example; /* JSON */
	bool open;	     /* there may be other fields */
};

/* Lists of these end with .name == NULL. */
struct http_event {
	const char *name;
	const struct http_schema *data;
	const char *text;
};

/*
 * An answer that is no error.  One status may have several rows, of other
 * content types.  Lists end with .status == 0.
 */
struct http_answer {
	int status;
	const char *text;
	const struct http_schema *schema; /* application/json */
	const char *type;		  /* or this */
	const struct http_event *events;  /* or text/event-stream */
	const struct http_field *headers;
	bool list; /* of .schema */
};

/* Whether name is one of a list of words: "one|two". */
bool http_word_in(const char *name, const char *words);
