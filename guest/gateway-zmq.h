/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The ZeroMQ sockets of a kernel, on the daemon's loop.  libzmq is loaded when
 * the first kernel is: with all that it needs it would nearly double the memory
 * of a guestd that runs none.
 */

#include <stddef.h>

#include "common/err.h"
#include "common/loop.h"
#include "guest/gateway-frame.h"

struct zlink;

struct zlink_ops {
	/* A message from what follows its delimiter on. */
	void (*on_message)(void *arg, enum frame_channel c,
			   const struct part *parts, size_t n);
	/* zlink_send() may work again. */
	void (*on_writable)(void *arg);
};

#define ZLINK_DELIMITER "<IDS|MSG>"
/* Bytes in a part; what a kernel sends beyond it cuts its connection. */
#define ZLINK_MAX_PART (512L * 1024 * 1024)

/*
 * Connect to the sockets PREFIX-1 (shell), -2 (control), -3 (stdin) and -4
 * (iopub), which need not be there yet.  Who comes back under the same identity
 * gets the answers to what he asked before.  SB_MISSING without libzmq.
 */
int zlink_open(struct loop *l, const char *prefix, const char *identity,
	       const struct zlink_ops *ops, void *arg, struct zlink **ret,
	       struct sb_err *err);
/*
 * Connect anew where answers come from.  A kernel that does not look at its
 * sockets still has the old one of our identity when we come back with it, and
 * then never hears us.
 */
void zlink_connect_again(struct zlink *z);
/* Not from within its own callbacks. */
void zlink_close(struct zlink *z);

/* 0, or -1 when the kernel takes no more now: wait for on_writable. */
int zlink_send(struct zlink *z, enum frame_channel c, const struct part *parts,
	       size_t n);

/* After all links are closed. */
void zlink_unload(void);
