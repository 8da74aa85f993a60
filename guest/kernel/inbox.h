/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the I/O thread hands to the main thread: requests, the answer to
 * input(), and the word to stop.
 */

#include <pthread.h>

#include "guest/kernel/request.h"

#define INBOX_MAX 4096		     /* requests that wait */
#define INBOX_MAX_BYTES (256U << 20) /* and their bytes */

struct inbox {
	pthread_mutex_t lock;
	struct request_list list;
	size_t n, bytes;
	struct request *input; /* the input_reply that came */
	bool want_input;
	bool stop;
	int fd; /* readable: look again */
};

int inbox_init(struct inbox *in, struct sb_err *err);
void inbox_done(struct inbox *in);

/* The I/O thread's side. */
void inbox_put(struct inbox *in, struct request *r /* takes */);
void inbox_input(struct inbox *in, struct request *r /* takes */);
void inbox_stop(struct inbox *in);
bool inbox_full(struct inbox *in);
/* All execute_requests that wait are to be answered as aborted. */
void inbox_abort(struct inbox *in);
void inbox_wake(struct inbox *in);

/* The main thread's side: the next request, or NULL.  *ret_stop: for ever. */
struct request *inbox_take(struct inbox *in, bool *ret_stop);
void inbox_want_input(struct inbox *in, bool want);
struct request *inbox_take_input(struct inbox *in, bool *ret_stop);
/* Forget that there was something to look at; poll fd after looking. */
void inbox_clear(struct inbox *in);
