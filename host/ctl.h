/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a run of sandboxctl carries from function to function. */

#include <stdbool.h>

struct hclient;

struct ctl {
	bool json;		/* --json */
	struct hclient *daemon; /* ctl-daemon.c opens it on first use */
};
