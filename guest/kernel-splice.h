/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The connections of clients to the sockets of a kernel: what one side says
 * goes to the other byte for byte.  A client that does not read has no
 * influence on the kernel, nor so on others: what it is to read is kept for it.
 */

#include "common/loop.h"

/* All of one kernel. */
struct kernel_splices;

/*
 * dir is the kernel's, with its sockets; spools (borrowed) is for files, with at
 * most max bytes for a client.
 */
struct kernel_splices *kernel_splice_new(struct loop *loop, const char *dir,
					 const char *spools, uint64_t max);
/* Cuts them. */
void kernel_splice_free(struct kernel_splices *all);

/* Connect the client that waits at server with the kernel's socket s-NUMBER. */
void kernel_splice_accept(struct kernel_splices *all, uv_stream_t *server,
			  int number);
int kernel_splice_count(const struct kernel_splices *all);
