/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reading a multipart/form-data body (RFC 7578) as it comes. */

#include <stddef.h>

#include "common/err.h"

/* Each returns -1 with err to stop the reading. */
struct multipart_ops {
	/* A part begins; filename is NULL for a plain field. */
	int (*on_part)(void *arg, const char *name, const char *filename,
		       struct sb_err *err);
	int (*on_data)(void *arg, const char *data, size_t len,
		       struct sb_err *err);
	int (*on_part_end)(void *arg, struct sb_err *err);
};

struct multipart;
/* NULL when the Content-Type (may be NULL) is not one with a boundary. */
struct multipart *multipart_new(const char *content_type,
				const struct multipart_ops *ops, void *arg,
				struct sb_err *err);
void multipart_free(struct multipart *m);
int multipart_feed(struct multipart *m, const char *data, size_t len,
		   struct sb_err *err);
/* -1 unless the body was whole. */
int multipart_end(const struct multipart *m, struct sb_err *err);
