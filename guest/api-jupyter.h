/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the routes of Jupyter take and give.  Jupyter has defined them, and its
 * clients send more than is named here: their rows are lenient.
 */

#include "common/httpd.h"

extern const struct http_answer jupyter_version_out[], jupyter_document_out[],
	jupyter_yaml_out[];

extern const struct http_field kernelspec_in[], kernelspec_file_in[];
extern const struct http_answer kernelspecs_out[], kernelspec_out[],
	kernelspec_file_out[];

extern const struct http_field kernel_start_in[], kernel_default_in[],
	kernel_in[], kernel_channels_in[], kernel_messages_in[];
extern const struct http_answer kernels_out[], kernel_started_out[],
	kernel_out[], kernel_done_out[], kernel_channels_out[],
	kernel_messages_out[];
#define KERNEL_MAX_MESSAGES 1000

struct kernel;
/* Answer when the kernel is up, or say that it did not start. */
typedef void (*kernel_reply)(struct http_req *req /* takes */,
			     struct kernel *k);
void kernel_when_up(struct http_req *req /* takes */, struct kernel *k,
		    kernel_reply reply);

extern const struct http_field session_start_in[], session_change_in[],
	session_in[];
extern const struct http_answer sessions_out[], session_started_out[],
	session_out[], session_ended_out[];
