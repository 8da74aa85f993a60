/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Screenshots: what is asked, and the answer.  For tables of routes. */

#include "common/httpd.h"
#include "guest/screen-module.h"

/* The query of a screenshot, and what it is answered with. */
extern const struct http_field shot_in[];
extern const struct http_answer shot_out[];
void shot_get(struct http_req *req);

/* The words for 'format'. */
#define SHOT_FORMATS "png|jpeg|jpg|webp|ppm"

/* "image/png" */
const char *shot_type(enum picture_format format);
/* Whether a format has a quality: JPEG and WebP. */
bool shot_has_quality(enum picture_format format);
/* One of SHOT_FORMATS. */
int shot_parse_format(const char *name, enum picture_format *ret,
		      struct sb_err *err);
/* What shot_json() makes. */
extern const struct http_schema shot_schema;
/* A taken screenshot as JSON, its bytes in base64. */
json_t *shot_json(const struct screen_shot *s);
