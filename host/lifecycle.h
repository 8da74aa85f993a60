/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The life of sandboxes: who may begin, what happens when a boot ends, a
 * machine dies or a time is up, and how each leaves.  Loop's thread only.
 */

#include "host/daemon.h"

/*
 * Begin a new sandbox, or boot the stopped one of that name again.  Takes the
 * contents of spec.  key (may be NULL) is the caller's Idempotency-Key: asking
 * twice with the same one gives the same sandbox.
 */
int lifecycle_up(struct daemon *d, struct spec *spec, const char *key,
		 struct sandbox **ret, struct sb_err *err);

/* Answer req once sb is ready, or has failed. */
void lifecycle_wait(struct sandbox *sb, struct http_req *req /* takes */);

/*
 * Let it vanish, from any state.  Returns at once; the burial goes on behind.
 * A preserved one keeps its disk and its share unless purge.
 */
int lifecycle_down(struct daemon *d, struct sandbox *sb, bool purge,
		   struct sb_err *err);

/* Pause or resume, and answer req with the sandbox. */
void lifecycle_pause(struct daemon *d, struct sandbox *sb, bool pause,
		     struct http_req *req /* takes */);

/* End it seconds from now; 0: never. */
int lifecycle_ttl(struct daemon *d, struct sandbox *sb, long long seconds,
		  struct sb_err *err);

/* What libvirt tells of a machine; any thread. */
void lifecycle_vm_event(void *daemon, const char *domain, enum vm_event ev,
			const char *detail);
