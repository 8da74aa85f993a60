/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A kernel: a process that runs code, its sockets, and the journal of what it
 * said.  It keeps its id when its process is started again, and its process
 * outlives guestd, which finds it again.  Everything belongs to the loop's
 * thread.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/err.h"
#include "guest/gateway-frame.h"
#include "guest/gateway.h"
#include "guest/kernel-journal.h"

#define KERNEL_ID_LEN 36

/*
 * STARTING → READY when it answers, RESTARTING → STARTING, STOPPING → GONE,
 * → DEAD by itself from all but the last two.
 */
enum kernel_state {
	KERNEL_STARTING,
	KERNEL_READY,
	KERNEL_RESTARTING,
	KERNEL_DEAD,
	KERNEL_STOPPING,
	KERNEL_GONE,
};

struct kernel_config {
	const char *id;	  /* NULL: a new one */
	const char *name; /* of its specification; NULL: the default */
	const char *cwd;  /* NULL: the workspace; or what it is in */
	const json_t *env;
	bool warm; /* nobody's yet */
};

int kernel_start(struct gateway *gw, const struct kernel_config *cfg,
		 struct kernel **ret, struct sb_err *err);
/* Find one again that an earlier guestd started: its folder. */
int kernel_adopt(struct gateway *gw, const char *id, struct kernel **ret,
		 struct sb_err *err);
/* Forget it; its process goes on. */
void kernel_free(struct kernel *k);

const char *kernel_id(const struct kernel *k);
const char *kernel_name(const struct kernel *k);
enum kernel_state kernel_state(const struct kernel *k);
/* Why it is dead, as a sentence; NULL when it is not. */
const char *kernel_message(const struct kernel *k);
bool kernel_is_busy(const struct kernel *k);
/* Whether what it is sent now is what it runs next, as far as we know. */
bool kernel_is_free(const struct kernel *k);
/* Whether all have it who ask for no more than its name. */
bool kernel_is_shared(const struct kernel *k);
/* Monotonic, of the last message. */
int64_t kernel_active_ms(const struct kernel *k);
/* The model, as Jupyter has it. */
json_t *kernel_json(const struct kernel *k);
struct kernel_journal *kernel_journal(struct kernel *k);
struct gateway *kernel_gateway(struct kernel *k);

/*
 * Send it a message, of which data are the bytes.  They wait while it is not
 * up.  Returns how many bytes wait; above KERNEL_QUEUE_HIGH send no more until
 * on_change.
 */
#define KERNEL_QUEUE_HIGH (8 * 1024 * 1024)
size_t kernel_send(struct kernel *k, const struct frame *f, struct part data);

/*
 * A message for one client alone, as if the kernel had printed text on stderr;
 * parent is a header, added to out.
 */
void kernel_make_notice(struct kernel *k, struct part parent,
			struct part metadata, const char *text,
			struct buf *out);

int kernel_interrupt(struct kernel *k, struct sb_err *err);
void kernel_restart(struct kernel *k);
/* Ends in KERNEL_GONE, after which it does not exist. */
void kernel_stop(struct kernel *k);

/*
 * Who is told: of each message, once it is in the journal, and of each change
 * of state or room in the queue; who came first is told first.  A listener may
 * take itself away, but no other one; in KERNEL_GONE it must.
 */
struct kernel_listener {
	TAILQ_ENTRY(kernel_listener) next;
	void (*on_message)(void *arg, uint64_t seq, const struct frame *f);
	void (*on_change)(void *arg);
	void *arg;
};
void kernel_listen(struct kernel *k, struct kernel_listener *l);
void kernel_unlisten(struct kernel *k, struct kernel_listener *l);

/*
 * Clients: how many there are, and from which message on one that comes back
 * has missed something.
 */
struct kernel_client {
	LIST_ENTRY(kernel_client) next;
	const char *session; /* may be NULL */
	/* Whether answers to this session are for it. */
	bool (*has_session)(const void *arg, struct part session);
	/* Another has come with that session: it must leave its seat. */
	void (*on_replaced)(void *arg);
	void *arg;
};
void kernel_seat_take(struct kernel *k, struct kernel_client *c,
		      uint64_t *ret_from, bool *ret_alone);
/* Whether answers to this session are for any of them. */
bool kernel_seat_claimed(const struct kernel *k, struct part session);
/* next is the first message that it may not have. */
void kernel_seat_leave(struct kernel *k, struct kernel_client *c,
		       uint64_t next);

/* A random id, "8-4-4-4-12" hex digits. */
void kernel_new_id(char out[KERNEL_ID_LEN + 1]);
