/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The five ZeroMQ sockets, and the only file that knows ZeroMQ.  All calls but
 * channels_open() come from the I/O thread.
 */

#include "guest/kernel/connection.h"

struct channels {
	void *ctx;
	void *sock[CHANNELS];
};

/* Bind; the ports that were 0 are then known in c. */
int channels_open(struct channels *ch, struct connection *c,
		  struct sb_err *err);
/* Send what is left for at most linger_ms, and close. */
void channels_close(struct channels *ch, int linger_ms);

/*
 * One message, without waiting: 1 and its frames, which live until the next
 * call; 0 when there is none; -1 when it was too large and is gone.
 */
int channels_recv(struct channels *ch, enum channel which,
		  const struct slice **ret_frames, size_t *ret_n);

/*
 * Send frames as one message.  -1 when iopub's subscribers have no room: later
 * again.  To a peer that is gone, nothing is sent.
 */
int channels_send(struct channels *ch, enum channel which,
		  const struct slice *frames, size_t n);

/* What a subscriber of iopub cannot take: drop it for him, or not. */
void channels_set_lossy(struct channels *ch, bool lossy);

/*
 * Wait until a channel of mask (1 << which) has a message, or an fd of fds is
 * readable, or timeout_ms.  Returns the mask of channels; sets ready[].
 */
unsigned int channels_wait(struct channels *ch, unsigned int mask,
			   const int *fds, bool *ready, size_t nfds,
			   int timeout_ms);
