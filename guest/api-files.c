/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about files. */
#include "config.h"

#include "guest/api.h"
#include "guest/files-call.h"
#include "guest/files-doc.h"
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

#define USER                                                   \
	{                                                      \
		"user", HTTP_STR, "The account to act as",     \
			.words = "user|root", .dflt = "'user'" \
	}
#define PATH                                                        \
	{ "path", HTTP_STR,                                         \
	  "Absolute, or below the workspace; ~ is the user's home", \
	  .must = true, .aka = "file|path_base64" },                \
		USER
#define FOLDER                                                           \
	{ "path", HTTP_STR, "Where to look; the workspace if not given", \
	  .aka = "file|path_base64" },                                   \
		USER
#define HIDDEN                                                           \
	{                                                                \
		"hidden", HTTP_BOOL, "With names that begin with a dot", \
			.dflt = "false"                                  \
	}
/* Of what looks through a whole tree. */
#define SEARCH                                                                    \
	HIDDEN,                                                                   \
		{ "gitignore", HTTP_BOOL,                                         \
		  "Without .git and what a .gitignore there leaves out",          \
		  .dflt = "true" },                                               \
	{                                                                         \
		"timeout", HTTP_INT,                                              \
			"Seconds, then it answers with what it has found so far", \
			.max = FILES_MAX_SECONDS, .dflt = "30"                    \
	}

static const struct http_field path_in[] = { PATH, { 0 } };

static const struct http_field read_in[] = {
	PATH,
	{ "start_line", HTTP_INT, "First line, from 1", .min = 1,
	  .max = HTTP_NO_MAX },
	{ "end_line", HTTP_INT, "Last line, included", .min = 1,
	  .max = HTTP_NO_MAX },
	{ "offset", HTTP_INT, "First byte; not with lines",
	  .max = HTTP_NO_MAX },
	{ "limit", HTTP_INT, "Most bytes; not with lines",
	  .max = FILES_MAX_READ },
	{ "encoding", HTTP_STR,
	  "How to answer; if not given, text where it is UTF-8, else base64",
	  .words = "utf-8|base64" },
	{ 0 },
};

static const struct http_field write_in[] = {
	PATH,
	{ "content", HTTP_STR, "What is to be in it", .must = true },
	{ "encoding", HTTP_STR, "How content is written",
	  .words = "utf-8|base64", .dflt = "'utf-8'" },
	{ "append", HTTP_BOOL, "Add to the end", .dflt = "false" },
	{ "mode", HTTP_STR | HTTP_INT,
	  "Rights: octal digits as text, or their value as a number",
	  .max = 07777 },
	{ 0 },
};

static const struct http_field list_in[] = {
	FOLDER,
	{ "depth", HTTP_INT, "How many levels of folders", .min = 1,
	  .max = FILES_MAX_DEPTH, .dflt = "1" },
	{ "recursive", HTTP_BOOL, "All levels", .dflt = "false" },
	HIDDEN,
	{ "limit", HTTP_INT, "Most entries in one answer", .min = 1,
	  .max = FILES_MAX_LIST, .dflt = "1000" },
	{ "cursor", HTTP_STR, "Go on behind the answer that gave this" },
	{ 0 },
};

static const struct http_field download_in[] = {
	PATH,
	{ "Range", HTTP_STR, "Which bytes of a file: bytes=0-99", HTTP_HEADER },
	{ "If-Range", HTTP_STR, "An ETag: all of the file if it changed",
	  HTTP_HEADER },
	{ "If-None-Match", HTTP_STR, "An ETag: 304 if the file has it still",
	  HTTP_HEADER },
	{ 0 },
};

static const struct http_field put_in[] = {
	PATH,
	{ "body", HTTP_BYTES, "The bytes of the file", HTTP_RAW },
	{ 0 },
};

static const struct http_field upload_in[] = {
	{ "path", HTTP_STR, "Where to; a folder for more than one file",
	  .aka = "file|path_base64" },
	USER,
	{ "path", HTTP_STR, "The same, as a part of the form", HTTP_FORM },
	{ "file", HTTP_BYTES, "A file; there may be up to 100, of any name",
	  HTTP_FORM, .must = true },
	{ 0 },
};

static const struct http_field mkdir_in[] = {
	PATH,
	{ "parents", HTTP_BOOL, "With those above; it may be there already",
	  .dflt = "true" },
	{ 0 },
};

static const struct http_field delete_in[] = {
	PATH,
	{ "recursive", HTTP_BOOL, "A folder with all in it", .dflt = "false" },
	{ 0 },
};

static const struct http_field move_in[] = {
	{ "path", HTTP_STR, "From where", .must = true,
	  .aka = "source|src|file|path_base64" },
	{ "destination", HTTP_STR, "To where", .must = true,
	  .aka = "target|to|dst|destination_base64" },
	{ "overwrite", HTTP_BOOL, "Replace what is there", .dflt = "false" },
	USER,
	{ 0 },
};

static const struct http_field edit_in[] = {
	PATH,
	{ "old_string", HTTP_STR, "The text to replace, exactly", .must = true,
	  .aka = "old_str" },
	{ "new_string", HTTP_STR, "What is to stand there", .must = true,
	  .aka = "new_str" },
	{ "replace_all", HTTP_BOOL, "Everywhere; else it must be there once",
	  .dflt = "false" },
	{ 0 },
};

static const struct http_field glob_in[] = {
	FOLDER,
	{ "pattern", HTTP_STR, "Such as **/*.c", .must = true },
	SEARCH,
	{ "limit", HTTP_INT, "Most entries", .min = 1, .max = FILES_MAX_FOUND,
	  .dflt = "1000" },
	{ 0 },
};

static const struct http_field grep_in[] = {
	FOLDER,
	{ "pattern", HTTP_STR, "A POSIX extended regular expression",
	  .must = true, .aka = "regex" },
	{ "ignore_case", HTTP_BOOL, "a is A", .dflt = "false" },
	{ "include", HTTP_STR, "Only files whose names match this pattern",
	  .aka = "glob" },
	{ "context", HTTP_INT, "Lines to give before and after",
	  .max = FILES_MAX_CONTEXT, .dflt = "0" },
	SEARCH,
	{ "limit", HTTP_INT, "Most matches", .min = 1, .max = FILES_MAX_FOUND,
	  .dflt = "1000" },
	{ 0 },
};

static const struct http_field watch_in[] = {
	PATH,
	{ "recursive", HTTP_BOOL, "With all folders below", .dflt = "false" },
	{ 0 },
};

/* clang-format off */
const struct http_route files_routes[] = {
	{ "GET", "/v1/file/read", run_read, 0,
	  "Text of a file, by lines or bytes", { "/file/read" }, read_in,
	  files_read_out, { SB_NOTFOUND, SB_LIMIT },
	  .example = "{'path': '/etc/passwd', 'end_line': 2}" },
	{ "POST", "/v1/file/read", run_read, 0,
	  "Text of a file, by lines or bytes", { "/file/read" }, read_in,
	  files_read_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc/passwd', 'end_line': 2}" },
	{ "POST", "/v1/file/write", run_write, 0,
	  "Write a file in one step, or append", { "/file/write" }, write_in,
	  files_write_out, { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/hello.txt', 'content': 'hello'}",
	  .text = "Folders above it are made. Readers see the old file or the "
		  "new one, never a part." },
	{ "GET", "/v1/file/list", run_list, 0, "Entries of a folder",
	  { "/file/list" }, list_in, files_list_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc', 'limit': 3}" },
	{ "POST", "/v1/file/list", run_list, 0, "Entries of a folder",
	  { "/file/list" }, list_in, files_list_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc', 'limit': 3}" },
	{ "GET", "/v1/file/download", file_download, 0,
	  "The bytes of a file, or a folder as tar", { "/file/download" },
	  download_in, files_download_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc/passwd'}" },
	{ "PUT", "/v1/file", run_put, HTTP_STREAM_BODY,
	  "Write the body to a file", { NULL }, put_in, files_upload_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/hello.bin'}",
	  .text = "Of any size. Nothing is in its place before all has come." },
	{ "POST", "/v1/file/upload", run_upload, HTTP_STREAM_BODY,
	  "Write the files of a form", { "/file/upload" }, upload_in,
	  files_upload_out, { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/hello.bin'}" },
	{ "GET", "/v1/file/stat", run_stat, 0, "Facts about a file", { NULL },
	  path_in, files_stat_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc/passwd'}" },
	{ "GET", "/v1/file/exists", run_exists, 0, "Whether a file exists",
	  { NULL }, path_in, files_exists_out,
	  .example = "{'path': '/etc/passwd'}" },
	{ "POST", "/v1/file/mkdir", run_mkdir, 0, "Make a folder", { NULL },
	  mkdir_in, files_done_out, { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/new/folder'}" },
	{ "POST", "/v1/file/delete", run_delete, 0, "Delete a file or folder",
	  { NULL }, delete_in, files_done_out, { SB_NOTFOUND, SB_CONFLICT },
	  .example = "{'path': '/tmp/new', 'recursive': true}" },
	{ "POST", "/v1/file/move", run_move, 0, "Move a file or folder",
	  { NULL }, move_in, files_done_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/a', 'destination': '/tmp/b'}" },
	{ "POST", "/v1/file/copy", run_copy, 0, "Copy a file or folder",
	  { NULL }, move_in, files_done_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/a', 'destination': '/tmp/b'}" },
	{ "POST", "/v1/file/edit", run_edit, 0, "Replace text in a file",
	  { NULL }, edit_in, files_edit_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE },
	  .example = "{'path': '/tmp/hello.txt', 'old_string': 'hello',"
		     " 'new_string': 'goodbye'}" },
	{ "POST", "/v1/file/glob", run_glob, 0, "Find files by their names",
	  { NULL }, glob_in, files_glob_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc', 'pattern': '*.conf'}" },
	{ "POST", "/v1/grep/search", run_grep, 0,
	  "Find lines by a regular expression", { NULL }, grep_in,
	  files_grep_out, { SB_NOTFOUND },
	  .example = "{'path': '/etc/passwd', 'pattern': '^root:'}" },
	{ "GET", "/v1/file/watch", file_watch, 0,
	  "Changes of a file or folder, as events", { NULL }, watch_in,
	  files_watch_out, { SB_NOTFOUND, SB_BUSY },
	  .example = "{'path': '/tmp'}",
	  .text = "Of a folder: of what is in it and, if asked for, in all "
		  "folders below." },
	{ 0 },
};
/* clang-format on */
