/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The host's end of a sandbox's control channel: lines of JSON over the UNIX
 * socket behind the guest's virtio-serial port.  Blocking; what the guest says
 * is bounded and every wait has a deadline.
 */

#include <jansson.h>

#include "common/err.h"
#include "host/task.h"

struct control;

/* Connect to QEMU's socket, which exists as soon as the machine does. */
int control_open(const char *path, const struct cancel *cancel,
		 struct control **ret, struct sb_err *err);
void control_close(struct control *c);

/*
 * Send a message and wait until a monotonic deadline for the answer of the
 * given type.  The guest's {"type":"error"} becomes SB_GUEST; answers of other
 * types (an echo of an earlier question) are skipped, up to a megabyte of them.
 */
int control_ask(struct control *c, const json_t *msg, const char *type,
		int64_t deadline_ms, json_t **ret, struct sb_err *err);
