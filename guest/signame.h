/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Signals by their names, in JSON. */

#include <jansson.h>

#include "common/err.h"

/* 15, "15", "TERM" or "SIGTERM"; SB_INVALID for all else. */
int signame_parse(const json_t *v, int *ret, struct sb_err *err);

/* "SIGTERM"; null for 0. */
json_t *signame_json(int signum);
