/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The value of a cell as data: what our kernels send on request, as
 * sandbox-kernel(1) has it.  A cell can send the same kind of message itself,
 * so all of it is bounded before it is kept or parsed.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/util.h"
#include "guest/gateway-frame.h"

#define CELL_RESULT_MIME "application/vnd.sandbox.result+json"
/* Bytes of buffers, which the kernel is told, and of the tree around them. */
#define CELL_RESULT_MAX (32 * 1024 * 1024)
#define CELL_RESULT_MAX_TREE (64 * 1024 * 1024)

struct cell_result {
	bool there, too_large;
	struct buf tree;  /* JSON */
	struct buf bytes; /* of all buffers */
	size_t *end;	  /* of each in bytes */
	size_t n;
};
void cell_result_done(struct cell_result *r);

/* Keep the result that a message has, in place of one before; false if it has
 * none. */
bool cell_result_take(struct cell_result *r, const struct frame *f);

/* {version, value, truncated, data?, buffers[base64]}, JSON null for none. */
json_t *cell_result_json(const struct cell_result *r);

/* The same for a kernel that sends none, of the MIME bundle that it shows. */
json_t *cell_result_of_bundle(json_t *data);

/*
 * JSON text of a kernel, or NULL when it is none, or small as text and huge in
 * memory.  A NUL becomes U+FFFD, as few programs can read one.
 */
json_t *cell_parse(struct part text);
