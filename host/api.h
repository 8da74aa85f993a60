/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The routes of sandboxd; api-*.c has the handlers of one family each. */

#include "common/httpd.h"

/* The whole table, in api.c. */
extern const struct http_route api_routes[];

void api_sandbox_create(struct http_req *req);
void api_sandbox_list(struct http_req *req);
void api_sandbox_get(struct http_req *req);
void api_sandbox_delete(struct http_req *req);
void api_sandbox_pause(struct http_req *req);
void api_sandbox_resume(struct http_req *req);
void api_sandbox_ttl(struct http_req *req);

void api_ports_list(struct http_req *req);
void api_ports_add(struct http_req *req);
void api_ports_remove(struct http_req *req);

void api_logs(struct http_req *req);

void api_image_list(struct http_req *req);
void api_image_get(struct http_req *req);
void api_image_make(struct http_req *req);
void api_image_delete(struct http_req *req);

void api_health(struct http_req *req);
void api_metrics(struct http_req *req);
void api_openapi(struct http_req *req);
void api_events(struct http_req *req);
void api_templates(struct http_req *req);
void api_doctor(struct http_req *req);
