/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* From a request to an operation on files, and back. */

#include "common/httpd.h"
#include "guest/files.h"

/*
 * Read path, target and the rest from query and body; relative paths are
 * below the workspace.  On success file_call_done() is due.
 */
int file_call_parse(struct file_call *c, const struct http_req *req,
		    struct sb_err *err);
void file_call_done(struct file_call *c);

/* The absolute form of a path; the caller's. */
struct guestd;
char *file_absolute(const struct guestd *g, const char *path);

/* files-download.c: the bytes of a file, with ranges and entity tag. */
void file_download(struct http_req *req);
/* The same for a file that is open, of this type. */
void file_send(struct http_req *req /* takes */, int fd /* takes */,
	       const char *name, const char *type);
/* files-watch.c: changes of a path as events. */
void file_watch(struct http_req *req);
/* files-upload.c: the body, or the files of the form that it is, to disk. */
void file_upload(struct http_req *req, bool form);

/* Run op for the request on a thread of the pool and reply with its answer. */
void file_call_run(struct http_req *req /* takes */, file_op op);
/* The same for an op on a folder, which is the workspace if none is given. */
void file_call_run_in(struct http_req *req /* takes */, file_op op);
