/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Code of a language whose variables stay: in the shared kernel for it. */

#include "common/httpd.h"
#include "guest/run.h"
#include "guest/toolchain.h"

/*
 * Run it, and answer as if it were a program: exit_code, stdout, stderr and the
 * rest.  On failure the request is still to be answered.
 */
int code_state_run(struct http_req *req /* takes */, const struct toolchain *tc,
		   const struct run_params *params, const char *code,
		   struct sb_err *err);
