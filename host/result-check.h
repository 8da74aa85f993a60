/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whether a tree is as sandbox-kernel(1) describes it. */

#include "host/result-private.h"

struct check_error {
	const char *what; /* is wrong, or too large */
	bool limit;
};

int check_tree(struct result *r, const json_t *root, struct check_error *err);

struct check {
	struct result *r;
	struct check_error *err;
	size_t nodes, text;
	int depth;
};

typedef int check_fn(struct check *c, const json_t *node);

/* Say what is wrong, and return -1. */
int check_bad(struct check *c, const char *what);
check_fn check_node;
/* A list of nodes. */
check_fn check_items;
/* A string without NUL at key, of at most max bytes; else NULL. */
const char *check_text(const json_t *node, const char *key, size_t max);

/* ---- result-check-frame.c ---- */
check_fn check_column, check_index, check_frame, check_series;

/* ---- result-check-text.c: the texts of leaves ---- */

/* "-0x1f"; the digits are not counted. */
bool check_hex(const char *s, size_t len);
/* What str() makes of a Decimal. */
bool check_decimal(const char *s);
bool check_uuid(const char *s);
/* A name that Python takes for a field, in any script. */
bool check_name(const char *s, size_t len);
