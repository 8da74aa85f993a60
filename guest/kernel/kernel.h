/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The kernel of this process.  Two threads: the main thread runs Python, and
 * the I/O thread owns the sockets, never touches Python and never needs the
 * GIL.  They meet in the inbox and the outbox only.
 *
 * Locks: out.lock, in.lock and irq.lock are never held together.
 */

#include "common/json.h"
#include "guest/kernel/capture.h"
#include "guest/kernel/channels.h"
#include "guest/kernel/inbox.h"
#include "guest/kernel/interrupt.h"
#include "guest/kernel/outbox.h"
#include "guest/kernel/session.h"

/* How long a subscriber may take nothing before it loses messages. */
#define KERNEL_STALL_S 30
/* How long the main thread may take to end after shutdown_request. */
#define KERNEL_STOP_MS 3000

struct kernel {
	char *file; /* the connection file */
	struct connection conn;
	struct outbox out;
	struct inbox in;
	struct capture cap;
	struct interrupt irq;
	pthread_t thread;
	atomic_bool leave; /* the I/O thread is to send the rest and end */
	atomic_bool sweep; /* it is to read all and abort what waits */

	/* Under out.lock. */
	char *info;    /* content of kernel_info_reply */
	json_t *comms; /* {id: {"target_name": …}} */

	/* The I/O thread's own. */
	struct session session;
	struct channels ch;
	struct wire_seen *seen;
	struct outgoing *pending; /* what iopub has no room for */
	int64_t stalled;	  /* since when; 0: it is not */
	int64_t stall_ms;	  /* how long it may be */
	int64_t hold_ms;	  /* how long who left is waited for */
	int64_t held_until;	  /* and until when he is; 0: he is not */
	bool told;		  /* that it was longer */
	int64_t stop_at;	  /* when the process ends by force; 0: never */
	int parent_fd;		  /* the launcher's pidfd, or -1 */
	int64_t log_since;	  /* of the lines that are counted */
	unsigned int logged;
};

/* Bind, capture, and start the I/O thread. */
int kernel_start(struct kernel *k, const char *file, const char *info,
		 struct sb_err *err);
/* Send what is left, and end the I/O thread. */
void kernel_stop(struct kernel *k);

/* Any thread: status busy, idle or starting, with that parent. */
void kernel_status(struct kernel *k, const char *state, struct request *parent);

/* The I/O thread: act on a request, or hand it to the main thread. */
void kernel_dispatch(struct kernel *k, struct request *r /* takes */);

/* The I/O thread: past the outbox, which may wait for a slow subscriber.  Not
 * for iopub. */
void kernel_send_now(struct kernel *k, struct outgoing *o /* takes */);

/* The I/O thread: one line to what was stderr before, if it takes it. */
void kernel_log(struct kernel *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
