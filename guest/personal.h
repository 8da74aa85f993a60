/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Making this machine one particular sandbox: entropy, clock, host name,
 * machine id, environment and shared folders, as the host asks for them.
 */

#include <jansson.h>

#include "common/err.h"
#include "guest/message.h"

/*
 * Apply all of it, in order.  The first step that fails is an error with its
 * name; what came before it stays.  *ret_receipt says what was done.
 */
int personal_apply(const struct message_personalise *p, const char *run_dir,
		   json_t **ret_receipt, struct sb_err *err);

/* Keep message and receipt for a restarted guestd, and read them again. */
int personal_save(const char *run_dir, const json_t *msg, const json_t *receipt,
		  struct sb_err *err);
int personal_load(const char *run_dir, json_t **ret_msg, json_t **ret_receipt,
		  struct sb_err *err);

/* Whether a shared folder is mounted at path. */
bool personal_is_mounted(const char *path);
