/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The routes of guestd: one table in each api-*.c, beside its handlers. */

#include "common/httpd.h"

extern const struct http_route auth_routes[];
extern const struct http_route code_routes[];
extern const struct http_route files_routes[];
extern const struct http_route log_routes[];
extern const struct http_route process_routes[];
extern const struct http_route shell_routes[];
extern const struct http_route system_routes[];
extern const struct http_route terminal_routes[];

/* All of them, in api.c. */
extern const struct http_table guestd_routes[];
