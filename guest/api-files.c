/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about files. */
#include "config.h"

#include "guest/api.h"
#include "guest/files-call.h"
#include "guest/guestd.h"

static void run_read(struct http_req *req)
{
	file_call_run(req, files_read);
}

static void run_write(struct http_req *req)
{
	file_call_run(req, files_write);
}

static void run_list(struct http_req *req)
{
	file_call_run_in(req, files_list);
}

static void run_stat(struct http_req *req)
{
	file_call_run(req, files_stat);
}

static void run_exists(struct http_req *req)
{
	file_call_run(req, files_exists);
}

static void run_mkdir(struct http_req *req)
{
	file_call_run(req, files_mkdir);
}

static void run_delete(struct http_req *req)
{
	file_call_run(req, files_delete);
}

static void run_move(struct http_req *req)
{
	file_call_run(req, files_move);
}

static void run_copy(struct http_req *req)
{
	file_call_run(req, files_copy);
}

static void run_edit(struct http_req *req)
{
	file_call_run(req, files_edit);
}

static void run_glob(struct http_req *req)
{
	file_call_run_in(req, files_glob);
}

static void run_grep(struct http_req *req)
{
	file_call_run_in(req, files_grep);
}

static void run_put(struct http_req *req)
{
	file_upload(req, false);
}

static void run_upload(struct http_req *req)
{
	file_upload(req, true);
}

const struct http_route files_routes[] = {
	/* clang-format off */
	{ "GET", "/v1/file/read", run_read, 0,
	  "Text of a file, by lines or bytes", { "/file/read" } },
	{ "POST", "/v1/file/read", run_read, 0,
	  "Text of a file, by lines or bytes", { "/file/read" } },
	{ "POST", "/v1/file/write", run_write, 0,
	  "Write a file in one step, or append", { "/file/write" } },
	{ "GET", "/v1/file/list", run_list, 0,
	  "Entries of a folder", { "/file/list" } },
	{ "POST", "/v1/file/list", run_list, 0,
	  "Entries of a folder", { "/file/list" } },
	{ "GET", "/v1/file/download", file_download, 0,
	  "The bytes of a file, or a folder as tar", { "/file/download" } },
	{ "PUT", "/v1/file", run_put, HTTP_STREAM_BODY,
	  "Write the body to a file", { NULL } },
	{ "POST", "/v1/file/upload", run_upload, HTTP_STREAM_BODY,
	  "Write the files of a form", { "/file/upload" } },
	{ "GET", "/v1/file/stat", run_stat, 0,
	  "Facts about a file", { NULL } },
	{ "GET", "/v1/file/exists", run_exists, 0,
	  "Whether a file exists", { NULL } },
	{ "POST", "/v1/file/mkdir", run_mkdir, 0,
	  "Make a folder", { NULL } },
	{ "POST", "/v1/file/delete", run_delete, 0,
	  "Delete a file or folder", { NULL } },
	{ "POST", "/v1/file/move", run_move, 0,
	  "Move a file or folder", { NULL } },
	{ "POST", "/v1/file/copy", run_copy, 0,
	  "Copy a file or folder", { NULL } },
	{ "POST", "/v1/file/edit", run_edit, 0,
	  "Replace text in a file", { NULL } },
	{ "POST", "/v1/file/glob", run_glob, 0,
	  "Find files by their names", { NULL } },
	{ "POST", "/v1/grep/search", run_grep, 0,
	  "Find lines by a regular expression", { NULL } },
	{ "GET", "/v1/file/watch", file_watch, 0,
	  "Changes of a file or folder, as events", { NULL } },
	{ NULL, NULL, NULL, 0, NULL, { NULL } },
	/* clang-format on */
};
