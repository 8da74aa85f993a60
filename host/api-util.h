/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the handlers of several families use. */

#include "host/daemon.h"

/* The sandbox that {id} names; otherwise req is answered and -1 returned. */
int api_find(struct http_req *req, struct sandbox **ret);

/* {id} of a path, for the tables. */
#define API_SANDBOX_ID                                                 \
	{                                                              \
		"id", HTTP_STR, "Id or name of the sandbox", HTTP_PATH \
	}

/* As sandbox_json(), sandbox_port_json() and sandbox_event_json() have it. */
extern const struct http_schema api_sandbox_schema;
extern const struct http_schema api_port_schema;
extern const struct http_schema api_state_schema;
extern const struct http_schema api_mount_schema;
