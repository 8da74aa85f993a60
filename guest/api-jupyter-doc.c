/* SPDX-License-Identifier: Apache-2.0 */
/* What the routes of Jupyter take and give. */
#include "config.h"

#include "guest/api-jupyter.h"

static const struct http_schema version_schema = {
	"JupyterVersion",
	(const struct http_field[]){ { "version", HTTP_STR, "Of the gateway" },
				     { 0 } },
	"What answers here",
	"{'version': '0.1'}",
};
const struct http_answer jupyter_version_out[] = {
	{ 200, "The version", &version_schema },
	{ 0 },
};
const struct http_answer jupyter_document_out[] = {
	{ 200, "The document", &http_openapi_schema },
	{ 0 },
};
const struct http_answer jupyter_yaml_out[] = {
	{ 200, "The document", .type = "application/yaml" },
	{ 0 },
};

static const struct http_schema kernelspec_schema = {
	"KernelSpec",
	(const struct http_field[]){
		{ "name", HTTP_STR, "What to start it by" },
		{ "spec", HTTP_OBJ,
		  "Its kernel.json: argv, display_name, language, env, "
		  "interrupt_mode, metadata" },
		{ "resources", HTTP_MAP, "Where its logos are",
		  .of = HTTP_STR },
		{ 0 } },
	"A kernel that can be started",
	NULL,
};
static const struct http_schema kernelspecs_schema = {
	"KernelSpecs",
	(const struct http_field[]){
		{ "default", HTTP_STR, "The name of that for who names none" },
		{ "kernelspecs", HTTP_MAP, "By name",
		  .schema = &kernelspec_schema },
		{ 0 } },
	"The kernels that can be started",
	NULL,
};
const struct http_answer kernelspecs_out[] = {
	{ 200, "The kernels", &kernelspecs_schema },
	{ 0 },
};
const struct http_field kernelspec_in[] = {
	{ "name", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ 0 },
};
const struct http_answer kernelspec_out[] = {
	{ 200, "The kernel", &kernelspec_schema },
	{ 0 },
};
const struct http_field kernelspec_file_in[] = {
	{ "name", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ "file", HTTP_STR, "One of its resources", HTTP_PATH },
	{ 0 },
};
const struct http_answer kernelspec_file_out[] = {
	{ 200, "The file", .type = "application/octet-stream" },
	{ 200, "The file", .type = "application/json" },
	{ 200, "The file", .type = "image/png" },
	{ 200, "The file", .type = "image/svg+xml" },
	{ 200, "The file", .type = "text/css" },
	{ 200, "The file", .type = "text/javascript" },
	{ 0 },
};

static const struct http_schema kernel_schema = {
	"Kernel",
	(const struct http_field[]){
		{ "id", HTTP_STR, "Its UUID" },
		{ "name", HTTP_STR, "That of its specification" },
		{ "last_activity", HTTP_STR, "When it last said something" },
		{ "execution_state", HTTP_STR, "What it does",
		  .words = "starting|idle|busy|restarting|dead|terminating" },
		{ "connections", HTTP_INT, "How many clients it has" },
		{ "reason", HTTP_STR,
		  "Why it is dead: oom, signal N, exit N, or that it did not "
		  "start",
		  .maybe = true },
		{ "message", HTTP_STR, "The same as a sentence",
		  .maybe = true },
		{ "pid", HTTP_INT, "Its process", .maybe = true },
		{ 0 } },
	"A kernel",
	"{'id': 'a1c0b1fe-7c3f-4b0e-9d0c-0b5a3b8e1f11', 'name':"
	" 'sandbox-python', 'last_activity': '2026-01-31T12:34:56.789012Z',"
	" 'execution_state': 'idle', 'connections': 1, 'pid': 812}",
};
const struct http_answer kernels_out[] = {
	{ 200, "All kernels", &kernel_schema, .list = true },
	{ 0 },
};
const struct http_field kernel_start_in[] = {
	{ "name", HTTP_STR, "Which; else the default of /api/kernelspecs" },
	{ "path", HTTP_STR,
	  "Where it runs: a folder, or the nearest folder above that there "
	  "is, below the workspace" },
	{ "env", HTTP_MAP, "Added to its environment", .of = HTTP_STR },
	{ "kernel_id", HTTP_STR, "The UUID that it gets" },
	{ 0 },
};
const struct http_answer kernel_started_out[] = {
	{ 201, "It is being started; messages to it wait until it is up",
	  &kernel_schema },
	{ 0 },
};
const struct http_field kernel_default_in[] = {
	{ "kernel", HTTP_STR, "That of which specification; else of Python" },
	{ 0 },
};
const struct http_field kernel_in[] = {
	{ "id", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ 0 },
};
const struct http_answer kernel_out[] = {
	{ 200, "The kernel", &kernel_schema },
	{ 0 },
};
const struct http_answer kernel_done_out[] = {
	{ 204, "Done" },
	{ 0 },
};
const struct http_field kernel_channels_in[] = {
	{ "id", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ "session_id", HTTP_STR,
	  "The client's; one that comes back under it gets what it missed" },
	{ "after", HTTP_INT, "Begin after the message of this number", .min = 0,
	  .max = HTTP_NO_MAX },
	{ 0 },
};
const struct http_answer kernel_channels_out[] = {
	{ 101, "The WebSocket, in the sub-protocol "
	       "v1.kernel.websocket.jupyter.org or, without one, in JSON" },
	{ 0 },
};

const struct http_field kernel_messages_in[] = {
	{ "id", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ "after", HTTP_INT, "Only messages after this number", .min = 0,
	  .max = HTTP_NO_MAX, .dflt = "0" },
	{ "parent", HTTP_STR, "Only what answers the request of this msg_id" },
	{ "limit", HTTP_INT, "At most so many", .min = 1,
	  .max = KERNEL_MAX_MESSAGES, .dflt = "1000" },
	{ 0 },
};
static const struct http_schema messages_schema = {
	"KernelMessages",
	(const struct http_field[]){
		{ "messages", HTTP_LIST,
		  "Each with seq, channel, header, "
		  "parent_header, metadata, content, buffers",
		  .of = HTTP_OBJ },
		{ "last", HTTP_INT, "The last of these: go on after it" },
		{ "first", HTTP_INT, "The oldest that is kept" },
		{ "next", HTTP_INT, "The next to come" },
		{ 0 } },
	"Some messages of a kernel",
	NULL,
};
const struct http_answer kernel_messages_out[] = {
	{ 200, "The messages", &messages_schema },
	{ 0 },
};

static const struct http_schema session_schema = {
	"JupyterSession",
	(const struct http_field[]){
		{ "id", HTTP_STR, "Its UUID" },
		{ "path", HTTP_STR, "Of the notebook" },
		{ "name", HTTP_STR, "Of the notebook, may be empty" },
		{ "type", HTTP_STR, "notebook, console, …" },
		{ "kernel", HTTP_OBJ | HTTP_NULL, "Its kernel",
		  .schema = &kernel_schema },
		{ "notebook", HTTP_OBJ, "Path and name once more",
		  .maybe = true },
		{ 0 } },
	"A notebook and its kernel",
	NULL,
};
/* What Jupyter's own server says. */
static const struct http_schema refusal_schema = {
	"JupyterRefusal",
	(const struct http_field[]){
		{ "message", HTTP_STR, "What is wrong" },
		{ "short_message", HTTP_STR, "The same", .maybe = true },
		{ "reason", HTTP_STR, "The status as words" },
		{ 0 } },
	"Why not",
	NULL,
};
const struct http_answer sessions_out[] = {
	{ 200, "All sessions whose kernels there are", &session_schema,
	  .list = true },
	{ 0 },
};
const struct http_field session_change_in[] = {
	{ "id", HTTP_STR, "Of the session", HTTP_PATH },
	{ "path", HTTP_STR | HTTP_NULL, "Of the notebook" },
	{ "name", HTTP_STR | HTTP_NULL, "Of the notebook" },
	{ "type", HTTP_STR | HTTP_NULL, "notebook, console, …" },
	{ "kernel", HTTP_OBJ | HTTP_NULL,
	  "The id of one that runs, or the name of one to start" },
	{ 0 },
};
const struct http_field session_start_in[] = {
	{ "path", HTTP_STR, "Of the notebook; its kernel runs there",
	  .must = true },
	{ "type", HTTP_STR, "notebook, console, …", .must = true },
	{ "name", HTTP_STR | HTTP_NULL, "Of the notebook" },
	{ "kernel", HTTP_OBJ | HTTP_NULL,
	  "The id of one that runs, or the name of one to start" },
	{ 0 },
};
const struct http_answer session_started_out[] = {
	{ 201, "The session, which may have been there", &session_schema },
	{ 501, "There is no such kernel", &refusal_schema },
	{ 0 },
};
const struct http_field session_in[] = {
	{ "id", HTTP_STR, "Of the session", HTTP_PATH },
	{ 0 },
};
const struct http_answer session_out[] = {
	{ 200, "The session", &session_schema },
	{ 0 },
};
const struct http_answer session_ended_out[] = {
	{ 204, "Session and kernel are gone" },
	{ 410, "The kernel was gone before", &refusal_schema },
	{ 0 },
};
