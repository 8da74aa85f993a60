/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A request, as it came.  It is shared by the thread that answers it and by
 * every message that names it as parent, and so counted; it never changes,
 * but for its place in a queue and `aborted`, which the inbox owns.
 */

#include <stdatomic.h>
#include <sys/queue.h>

#include "common/util.h"
#include "guest/kernel/connection.h"
#include "guest/kernel/wire.h"

struct request {
	atomic_int refs;
	enum channel channel;
	char *type; /* msg_type of the header */
	struct slice ids[WIRE_MAX_IDS];
	size_t nids;
	struct slice header, metadata, content;
	struct slice *buffers;
	size_t nbuffers;
	size_t bytes;
	bool aborted;
	TAILQ_ENTRY(request) link;
};
TAILQ_HEAD(request_list, request);

/* SB_INVALID when a part is not the JSON object that it must be. */
int request_new(enum channel channel, const struct wire_msg *m,
		struct request **ret, struct sb_err *err);
struct request *request_ref(struct request *r); /* NULL is handed through */
void request_unref(struct request *r);
DEFINE_AUTO(struct request *, request_unref, auto_request_cleanup)
#define autorequest __attribute__((cleanup(auto_request_cleanup)))
