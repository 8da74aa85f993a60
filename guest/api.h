/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The handlers of guestd's routes, by the file that they are in. */

#include "common/httpd.h"

/* The tables: of files in api-files.c, of Jupyter's in api-jupyter.c, of all
 * the rest in api.c. */
extern const struct http_route files_routes[];
extern const struct http_route jupyter_routes[];
extern const struct http_route guestd_routes[];

/* api-auth.c */
void post_ticket(struct http_req *req);

/* api-code.c */
void post_code(struct http_req *req);

/* api-jupyter.c */
void get_jupyter(struct http_req *req);
void get_kernelspecs(struct http_req *req);
void get_kernelspec(struct http_req *req);
void get_kernelspec_file(struct http_req *req);
void get_kernels(struct http_req *req);
void post_kernels(struct http_req *req);
void get_kernel(struct http_req *req);
void delete_kernel(struct http_req *req);
void post_kernel_interrupt(struct http_req *req);
void post_kernel_restart(struct http_req *req);
void get_kernel_channels(struct http_req *req);
void get_kernel_messages(struct http_req *req);

/* api-logs.c */
void get_logs(struct http_req *req);

/* api-processes.c */
void get_processes(struct http_req *req);
void get_process(struct http_req *req);
void get_process_output(struct http_req *req);
void post_process_stdin(struct http_req *req);
void post_process_signal(struct http_req *req);
void delete_process(struct http_req *req);

/* api-run.c */
void post_run(struct http_req *req);

/* api-sessions.c */
void get_sessions(struct http_req *req);
void post_sessions(struct http_req *req);
void get_session(struct http_req *req);
void patch_session(struct http_req *req);
void delete_session(struct http_req *req);
struct jupyter_sessions;
void jupyter_sessions_free(struct jupyter_sessions *all);

/* api-shell.c */
void post_shell_exec(struct http_req *req);
void post_shell_stream(struct http_req *req);

/* api-terminal.c */
void get_terminals(struct http_req *req);
void post_terminal(struct http_req *req);
void get_terminal(struct http_req *req);
void delete_terminal(struct http_req *req);
void get_terminal_ws(struct http_req *req);
void get_terminal_page(struct http_req *req);

/* api-system.c */
void get_health(struct http_req *req);
void get_ready(struct http_req *req);
void get_sandbox(struct http_req *req);
void get_openapi(struct http_req *req);
void get_metrics(struct http_req *req);
