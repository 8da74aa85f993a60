/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The reader of a Server-Sent Events stream that may be hostile. */

#include <stddef.h>

#include "common/err.h"

#define SSE_MAX_EVENT (1024 * 1024)

/* Non-zero ends the stream.  event is "message" if it has no name. */
typedef int (*sse_handler)(void *arg, const char *event, const char *data);

struct sse;
struct sse *sse_new(sse_handler on_event, void *arg);
void sse_free(struct sse *s);
/* 0 to go on, 1 when the handler wants no more, -1 when an event is longer
 * than SSE_MAX_EVENT. */
int sse_feed(struct sse *s, const char *data, size_t len, struct sb_err *err);
