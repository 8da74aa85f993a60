/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A YAML file as JSON that remembers its lines.  Plain scalars follow the core
 * schema of YAML 1.2 (so "no" is a text); anchors, tags and a second document
 * are refused.  Templates and the configuration are small and written by
 * people: what they need is a message that says where.
 */

#include <jansson.h>

#include "common/err.h"
#include "common/util.h"

struct yaml_doc;

/*
 * Read a file, whose top must be a map.  One without content is an empty map.
 * SB_INVALID with "FILE:LINE: what" if it is not YAML.
 */
int yaml_doc_read(const char *path, struct yaml_doc **ret, struct sb_err *err);
void yaml_doc_free(struct yaml_doc *doc);
DEFINE_AUTO(struct yaml_doc *, yaml_doc_free, yaml_doc_auto_free)
#define autoyaml __attribute__((cleanup(yaml_doc_auto_free)))

/* The content; it belongs to doc. */
json_t *yaml_doc_json(const struct yaml_doc *doc);

/*
 * Put "FILE:LINE: " before the message in err, with the line in which a field
 * such as "ports[1].guest" stands, or what is nearest above it.  Returns -1.
 */
int yaml_doc_fail(const struct yaml_doc *doc, const char *field,
		  struct sb_err *err);
