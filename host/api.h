/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The routes of sandboxd: one table in each api-*.c, beside its handlers. */

#include "common/httpd.h"

extern const struct http_route console_routes[];
extern const struct http_route image_routes[];
extern const struct http_route log_routes[];
extern const struct http_route page_routes[];
extern const struct http_route port_routes[];
extern const struct http_route proxy_routes[];
extern const struct http_route sandbox_routes[];
extern const struct http_route system_routes[];

/* All of them, in api.c. */
extern const struct http_table api_routes[];
