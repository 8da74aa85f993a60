/* SPDX-License-Identifier: Apache-2.0 */
/* What the routes for files answer with. */
#include "config.h"

#include <stddef.h>

#include "guest/files-doc.h"

/* As files_put_name() puts it. */
#define PATH                                                              \
	{ "path", HTTP_STR, "The absolute path" },                        \
	{                                                                 \
		"path_base64", HTTP_STR, "Its bytes, if it is not UTF-8", \
			.maybe = true                                     \
	}
#define SUCCESS                                     \
	{                                           \
		"success", HTTP_BOOL, "Always true" \
	}

/* As files_entry() puts it; not all of it is there if opt. */
#define ENTRY(opt)                                                          \
	{ "name", HTTP_STR, "The last part of the path", .maybe = (opt) },  \
		PATH,                                                       \
		{ "type", HTTP_STR, "What it is", .maybe = (opt),           \
		  .words = "file|directory|symlink|fifo|socket|device" },   \
		{ "is_dir", HTTP_BOOL, "Whether it is a folder",            \
		  .maybe = (opt) },                                         \
		{ "size", HTTP_INT, "Bytes", .maybe = (opt) },              \
		{ "mode", HTTP_STR, "Rights, in octal", .maybe = (opt) },   \
		{ "uid", HTTP_INT, "Owner", .maybe = (opt) },               \
		{ "gid", HTTP_INT, "Group", .maybe = (opt) },               \
		{ "mtime", HTTP_NUM, "Last change, seconds since 1970",     \
		  .maybe = (opt) },                                         \
		{ "target", HTTP_STR, "Of a symlink", .maybe = true },      \
	{                                                                   \
		"target_base64", HTTP_STR, "Its bytes, if it is not UTF-8", \
			.maybe = true                                       \
	}

#define ENTRY_EXAMPLE                                               \
	"'name': 'passwd', 'path': '/etc/passwd', 'type': 'file',"  \
	" 'is_dir': false, 'size': 1024, 'mode': '0644', 'uid': 0," \
	" 'gid': 0, 'mtime': 1760000000.5"

static const struct http_schema entry_schema = {
	"FileEntry",
	(const struct http_field[]){ ENTRY(false), { 0 } },
	"A file, folder or whatever else has a name",
	"{" ENTRY_EXAMPLE "}",
};

static const struct http_schema listed_schema = {
	"ListedEntry",
	(const struct http_field[]){
		ENTRY(false),
		{ "depth", HTTP_INT, "How many levels down, from 1" },
		{ 0 } },
	"An entry of a list",
	"{" ENTRY_EXAMPLE ", 'depth': 1}",
};

static const struct http_schema exists_schema = {
	"FileExists",
	(const struct http_field[]){ ENTRY(true),
				     { "exists", HTTP_BOOL, "Whether it does" },
				     { 0 } },
	"Whether a file exists, and then the facts about it",
	"{'path': '/nowhere', 'exists': false}",
};

static const struct http_schema read_schema = {
	"FileContent",
	(const struct http_field[]){
		PATH,
		{ "encoding", HTTP_STR, "How content is written",
		  .words = "utf-8|base64" },
		{ "content", HTTP_STR, "What was read" },
		{ "bytes", HTTP_INT, "How much that is" },
		{ "size", HTTP_INT, "Of the whole file" },
		{ "truncated", HTTP_BOOL, "Whether there is more behind it" },
		{ 0 } },
	"Some or all of a file",
	"{'path': '/tmp/hello.txt', 'encoding': 'utf-8', 'content': 'hello',"
	" 'bytes': 5, 'size': 5, 'truncated': false}",
};

static const struct http_schema written_schema = {
	"FileWritten",
	(const struct http_field[]){
		SUCCESS,
		PATH,
		{ "bytes_written", HTTP_INT, "How much was written" },
		{ 0 } },
	"A file was written",
	"{'success': true, 'path': '/tmp/hello.txt', 'bytes_written': 5}",
};

static const struct http_schema list_schema = {
	"FileList",
	(const struct http_field[]){ PATH,
				     { "entries", HTTP_LIST, "In a fixed order",
				       .schema = &listed_schema },
				     { "cursor", HTTP_STR | HTTP_NULL,
				       "There is more: ask again with this" },
				     { 0 } },
	"What is in a folder",
	NULL,
};

static const struct http_schema one_uploaded_schema = {
	"UploadedFile",
	(const struct http_field[]){
		PATH, { "size", HTTP_INT, "Its bytes" }, { 0 } },
	"A file that was uploaded",
	"{'path': '/tmp/hello.bin', 'size': 5}",
};

static const struct http_schema uploaded_schema = {
	"Uploaded",
	(const struct http_field[]){
		SUCCESS,
		{ "files", HTTP_LIST, "All of them",
		  .schema = &one_uploaded_schema },
		PATH,
		{ "size", HTTP_INT, "Of the first of them, as is path" },
		{ 0 } },
	"Files were uploaded",
	"{'success': true, 'files': [{'path': '/tmp/hello.bin', 'size': 5}],"
	" 'path': '/tmp/hello.bin', 'size': 5}",
};

static const struct http_schema done_schema = {
	"FileDone",
	(const struct http_field[]){ SUCCESS,
				     PATH,
				     { "destination", HTTP_STR,
				       "Of a move or a copy", .maybe = true },
				     { "destination_base64", HTTP_STR,
				       "Its bytes, if it is not UTF-8",
				       .maybe = true },
				     { 0 } },
	"It was done",
	"{'success': true, 'path': '/tmp/new/folder'}",
};

static const struct http_schema edit_schema = {
	"FileEdited",
	(const struct http_field[]){
		SUCCESS,
		PATH,
		{ "replacements", HTTP_INT, "How many times" },
		{ 0 } },
	"Text was replaced",
	"{'success': true, 'path': '/tmp/hello.txt', 'replacements': 1}",
};

static const struct http_schema glob_schema = {
	"FilesFound",
	(const struct http_field[]){
		PATH,
		{ "entries", HTTP_LIST, "What matches",
		  .schema = &entry_schema },
		{ "truncated", HTTP_BOOL, "Whether there are more" },
		{ 0 } },
	"Files by their names",
	NULL,
};

static const struct http_schema match_schema = {
	"Match",
	(const struct http_field[]){
		PATH,
		{ "line", HTTP_INT, "Its number, from 1" },
		{ "text", HTTP_STR, "The line, or its first 1000 bytes" },
		{ "before", HTTP_LIST, "Lines before, with context",
		  .of = HTTP_STR, .maybe = true },
		{ "after", HTTP_LIST, "Lines after, with context",
		  .of = HTTP_STR, .maybe = true },
		{ 0 } },
	"A line that matches",
	"{'path': '/etc/passwd', 'line': 1,"
	" 'text': 'root:x:0:0:root:/root:/bin/bash'}",
};

static const struct http_schema grep_schema = {
	"LinesFound",
	(const struct http_field[]){
		PATH,
		{ "matches", HTTP_LIST, "The lines", .schema = &match_schema },
		{ "files_searched", HTTP_INT, "How many files were read" },
		{ "truncated", HTTP_BOOL, "Whether there are more" },
		{ 0 } },
	"Lines by what is in them",
	NULL,
};

static const struct http_schema change_schema = {
	"FileChange",
	(const struct http_field[]){
		{ "event", HTTP_STR, "The event's name" }, PATH, { 0 } },
	"A change",
	"{'event': 'create', 'path': '/tmp/hello.txt'}",
};

static const struct http_event watch_events[] = {
	{ "ready", &change_schema, "First: changes are seen from here on" },
	{ "create", &change_schema, "It is new, or was moved here" },
	{ "modify", &change_schema, "Something was written to it" },
	{ "write", &change_schema, "Who wrote to it has closed it" },
	{ "attrib", &change_schema, "Rights, owner or times" },
	{ "delete", &change_schema, "It is gone, or was moved away" },
	{ "overflow", &change_schema, "Some were missed: look for yourself" },
	{ 0 },
};

static const struct http_field file_headers[] = {
	{ "ETag", HTTP_STR, "Changes with the file; not of /proc or a tar" },
	{ "Accept-Ranges", HTTP_STR, "bytes, if parts can be asked for" },
	{ "Content-Disposition", HTTP_STR, "A name to save it under" },
	{ 0 },
};

static const struct http_field range_headers[] = {
	{ "Content-Range", HTTP_STR, "Which bytes of how many" },
	{ 0 },
};

const struct http_answer files_read_out[] = {
	{ 200, "What was read", &read_schema },
	{ 0 },
};
const struct http_answer files_write_out[] = {
	{ 200, "It is written", &written_schema },
	{ 0 },
};
const struct http_answer files_list_out[] = {
	{ 200, "The entries", &list_schema },
	{ 0 },
};
const struct http_answer files_download_out[] = {
	{ 200, "The file, or a folder as tar",
	  .type = "application/octet-stream", .headers = file_headers },
	{ 200, NULL, .type = "application/x-tar" },
	{ 206, "A part of the file", .type = "application/octet-stream",
	  .headers = range_headers },
	{ 304, "The file is what you have" },
	{ 416, "The file has no such part", .headers = range_headers },
	{ 0 },
};
const struct http_answer files_upload_out[] = {
	{ 200, "All is in its place", &uploaded_schema },
	{ 0 },
};
const struct http_answer files_stat_out[] = {
	{ 200, "The facts", &entry_schema },
	{ 0 },
};
const struct http_answer files_exists_out[] = {
	{ 200, "Whether it does", &exists_schema },
	{ 0 },
};
const struct http_answer files_done_out[] = {
	{ 200, "It is done", &done_schema },
	{ 0 },
};
const struct http_answer files_edit_out[] = {
	{ 200, "It is replaced", &edit_schema },
	{ 0 },
};
const struct http_answer files_glob_out[] = {
	{ 200, "What matches", &glob_schema },
	{ 0 },
};
const struct http_answer files_grep_out[] = {
	{ 200, "What matches", &grep_schema },
	{ 0 },
};
const struct http_answer files_watch_out[] = {
	{ 200, "The changes", .events = watch_events },
	{ 0 },
};
