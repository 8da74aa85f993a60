/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The routes of guestd: one table in each api-*.c, beside its handlers. */

#include "common/httpd.h"

extern const struct http_route auth_routes[];
extern const struct http_route code_routes[];
extern const struct http_route files_routes[];
extern const struct http_route jupyter_routes[];
extern const struct http_route lab_routes[];
extern const struct http_route log_routes[];
extern const struct http_route port_routes[];
extern const struct http_route process_routes[];
extern const struct http_route record_routes[];
extern const struct http_route run_routes[];
extern const struct http_route action_routes[];
extern const struct http_route clipboard_routes[];
extern const struct http_route input_routes[];
extern const struct http_route screen_routes[];
extern const struct http_route shell_routes[];
extern const struct http_route system_routes[];
extern const struct http_route terminal_routes[];
extern const struct http_route vnc_routes[];

/* All of them, in api.c. */
extern const struct http_table guestd_routes[];

/* The rows of Jupyter's sessions, which are in a file of their own. */
void get_sessions(struct http_req *req);
void post_sessions(struct http_req *req);
void get_session(struct http_req *req);
void patch_session(struct http_req *req);
void delete_session(struct http_req *req);
struct guestd;
struct jupyter_sessions;
/* Those of an earlier guestd; after its kernels were found. */
void jupyter_sessions_load(struct guestd *g);
void jupyter_sessions_free(struct jupyter_sessions *all);
