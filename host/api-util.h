/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the handlers of several families use. */

#include "host/daemon.h"

/* The sandbox that {id} names; otherwise req is answered and -1 returned. */
int api_find(struct http_req *req, struct sandbox **ret);
