/* SPDX-License-Identifier: Apache-2.0 */
/* Code in a kernel that keeps its state: POST /v1/run. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/cell.h"
#include "guest/files-changed.h"
#include "guest/files.h"
#include "guest/glob.h"
#include "guest/guestd.h"
#include "guest/kernel.h"
#include "guest/run.h"

#define MAX_UNREAD (32 * 1024 * 1024)
#define RESULTS "auto|pickle|none"

/* One request and the cell that it runs. */
struct run {
	struct guestd *g;
	struct http_req *req;	    /* or */
	struct http_stream *stream; /* of events */
	bool answered;		    /* the stream has it all */
	json_t *body;		    /* and into it: */
	const char *code, *result, *kernel, *kernel_id;
	const json_t *globs;
	bool files; /* those that change are wanted */
	struct run_params params;
	struct files_moment *before;
	struct cell *cell;
	char *workspace, *result_text, *answer_text;
};

static void run_free(struct run *r)
{
	cell_free(r->cell);
	files_moment_free(r->before);
	json_decref(r->body);
	free(r->workspace);
	free(r->result_text);
	free(r->answer_text);
	free(r);
}

/* One who does not read is cut off: the journal has it all. */
static void on_output(void *arg, const char *event, const json_t *content)
{
	const struct run *r = arg;
	autofree char *text = NULL;

	if (!r->stream)
		return;
	text = json_print(content);
	if (http_stream_event(r->stream, NULL, event, text) > MAX_UNREAD)
		http_stream_abort(r->stream);
}

static void make_answer(void *arg)
{
	struct run *r = arg;
	autojson json_t *j = cell_answer(r->cell);
	const json_t *result = json_object_get(j, "result");

	if (r->files) {
		files_enter(false);
		files_changed(r->before, j);
		files_leave();
	}
	if (!r->req && !json_is_null(result))
		r->result_text = json_print(result);
	r->answer_text = json_print(j);
}

/* A stream frees the run when it is closed. */
static void send_answer(void *arg)
{
	struct run *r = arg;

	if (r->stream) {
		r->answered = true;
		if (r->result_text)
			http_stream_event(r->stream, NULL, "result",
					  r->result_text);
		http_stream_event(r->stream, NULL, "end", r->answer_text);
		http_stream_end(r->stream);
		return;
	}
	if (r->req)
		http_reply(r->req, 200, "application/json", r->answer_text,
			   strlen(r->answer_text));
	run_free(r);
}

static void on_end(void *arg)
{
	struct run *r = arg;

	if (r->files || cell_is_large(r->cell)) {
		loop_work(r->g->loop, make_answer, send_answer, r);
		return;
	}
	make_answer(r);
	send_answer(r);
}

/* Who leaves before the end leaves the cell behind, and its time limit. */
static void on_close(struct http_stream *s, void *arg)
{
	struct run *r = arg;

	r->stream = NULL;
	if (r->answered)
		run_free(r);
}

static const struct http_stream_ops stream_ops = { .on_close = on_close };

static int find_kernel(const struct run *r, struct kernel **ret,
		       struct sb_err *err)
{
	struct gateway *gw = r->g->gateway;

	if (r->kernel_id)
		return gateway_find(gw, r->kernel_id, ret, err);
	return str_empty(r->kernel) ? gateway_default(gw, ret, err)
				    : gateway_shared(gw, r->kernel, ret, err);
}

static int parse_files(struct run *r, struct sb_err *err)
{
	const json_t *files = json_object_get(r->body, "files"), *glob;
	bool good = !files || json_is_boolean(files) ||
		    (json_is_array(files) &&
		     json_array_size(files) <= FILES_CHANGED_MAX_GLOBS);
	size_t i;

	json_array_foreach(files, i, glob)
		good = good && json_string_length(glob) > 0 &&
		       json_string_length(glob) <= GLOB_MAX_PATTERN;
	if (!good)
		return sb_fail(err, SB_INVALID,
			       "'files' must be true, false or a list of at "
			       "most %d patterns for paths, each of at most "
			       "%d bytes",
			       FILES_CHANGED_MAX_GLOBS, GLOB_MAX_PATTERN);
	r->files = json_is_true(files) || json_array_size(files);
	r->globs = json_is_array(files) ? files : NULL;
	return 0;
}

static int parse_body(struct run *r, struct sb_err *err)
{
	r->result = "auto";
	if (http_body_json(r->req, &r->body, err) < 0 ||
	    json_get_str(r->body, "code", &r->code, err) < 0 ||
	    json_get_str(r->body, "result", &r->result, err) < 0 ||
	    json_get_str(r->body, "kernel", &r->kernel, err) < 0 ||
	    json_get_str(r->body, "kernel_id", &r->kernel_id, err) < 0 ||
	    run_parse(r->body, &r->params, err) < 0 || parse_files(r, err) < 0)
		return -1;
	if (!r->code)
		return sb_fail(err, SB_INVALID, "'code' is missing");
	if (!http_word_in(r->result, RESULTS))
		return sb_fail(err, SB_INVALID,
			       "'result' must be \"auto\", \"pickle\" or "
			       "\"none\"");
	if (r->kernel && r->kernel_id)
		return sb_fail(err, SB_INVALID,
			       "'kernel' and 'kernel_id' exclude each other");
	return 0;
}

static void start(struct run *r, struct kernel *k)
{
	const char *accept = http_header(r->req, "accept");
	struct cell_config cfg = { .loop = r->g->loop,
				   .k = k,
				   .code = r->code,
				   .result = r->result,
				   .timeout_ms = r->params.timeout_ms,
				   .max_output = r->params.max_output,
				   .on_end = on_end,
				   .arg = r };

	if (accept && strstr(accept, "text/event-stream")) {
		cfg.on_output = on_output;
		r->stream = http_stream_begin(steal(&r->req), 200,
					      "text/event-stream", &stream_ops,
					      r);
	}
	r->cell = cell_start(&cfg);
}

static void begin(void *arg)
{
	struct run *r = arg;
	struct kernel *k;
	struct sb_err err;

	if (find_kernel(r, &k, &err) < 0) {
		http_fail(r->req, &err);
		run_free(r);
		return;
	}
	start(r, k);
}

static void look_before(void *arg)
{
	struct run *r = arg;

	files_enter(false);
	r->before = files_moment_new(r->workspace, r->globs,
				     FILES_CHANGED_MAX_LOOKS);
	files_leave();
}

static void post_run(struct http_req *req)
{
	struct run *r = xcalloc(1, sizeof(*r));
	struct sb_err err;

	r->g = http_ctx(req);
	r->req = req;
	if (parse_body(r, &err) < 0) {
		http_fail(req, &err);
		run_free(r);
	} else if (r->files) {
		r->workspace = xstrdup(run_workspace(r->g));
		loop_work(r->g->loop, look_before, begin, r);
	} else {
		begin(r);
	}
}

static const struct http_field run_in[] = {
	{ "code", HTTP_STR, "What to run", .must = true },
	{ "kernel_id", HTTP_STR, "Where; else in the kernel that all share" },
	{ "kernel", HTTP_STR,
	  "Where: in the one that all share of this specification, such as "
	  "'sandbox-python'; see /api/kernelspecs" },
	{ "timeout", HTTP_NUM,
	  "Seconds that it may run, then it is interrupted, and that it may "
	  "wait before for other code; 0: any",
	  .min = 0, .max = 7 * 24 * 3600, .dflt = "0" },
	{ "max_output", HTTP_INT,
	  "Bytes of stdout, and of stderr, in the answer", .min = 0,
	  .max = RUN_MAX_OUTPUT, .dflt = "1048576" },
	{ "result", HTTP_STR,
	  "How to give the value of the last expression: as data, as what only "
	  "those should unpickle who trust the sandbox, or not",
	  .words = RESULTS, .dflt = "'auto'" },
	{ "files", HTTP_BOOL | HTTP_LIST,
	  "Whether to list the files that change, or patterns for their paths",
	  .of = HTTP_STR, .dflt = "false" },
	{ 0 },
};
static const struct http_schema value_schema = {
	"RunResult",
	(const struct http_field[]){
		{ "version", HTTP_INT, "Of the format: 1" },
		{ "value", 0, "A node, as sandbox-kernel(1) has it" },
		{ "truncated", HTTP_BOOL, "Whether something was left out" },
		{ "data", HTTP_OBJ, "By MIME type, if it is no plain data",
		  .maybe = true },
		{ "buffers", HTTP_LIST, "What nodes refer to, in base64",
		  .of = HTTP_STR },
		{ 0 } },
	"The value of a cell",
	"{'version': 1, 'value': {'t': 'tuple', 'v': [1, {'t': 'bytes',"
	" 'b': 0}]}, 'truncated': false, 'buffers': ['AAE=']}",
};
static const struct http_schema file_schema = {
	"RunFile",
	(const struct http_field[]){
		{ "path", HTTP_STR, "Where it is" },
		{ "path_base64", HTTP_STR, "The same, if it is not UTF-8",
		  .maybe = true },
		{ "size", HTTP_INT, "Bytes" },
		{ "mtime", HTTP_NUM, "Seconds since 1970" },
		{ "mime", HTTP_STR, "By its name" },
		{ "created", HTTP_BOOL, "Whether it is new" },
		{ "content", HTTP_STR,
		  "In base64, if it has 1 MiB at most and all have 16",
		  .maybe = true },
		{ 0 } },
	"A file that a cell wrote",
};
static const struct http_field cell_fields[] = {
	{ "status", HTTP_STR, "How it ended",
	  .words = "ok|error|timeout|aborted" },
	{ "stdout", HTTP_STR, "What it printed" },
	{ "stderr", HTTP_STR, "What it printed there" },
	{ "result", HTTP_OBJ | HTTP_NULL,
	  "The last expression; null if there is none, it is None, or the cell "
	  "failed",
	  .schema = &value_schema },
	{ "outputs", HTTP_LIST, "Results, displays and errors in their order",
	  .of = HTTP_OBJ },
	{ "error", HTTP_OBJ, "ename, evalue, traceback", .maybe = true },
	{ "execution_count", HTTP_INT | HTTP_NULL, "Number of the cell" },
	{ "truncated", HTTP_BOOL, "Whether there was more output" },
	{ "timed_out", HTTP_BOOL, "Whether it took too long" },
	{ "kernel_id", HTTP_STR | HTTP_NULL, "Where it ran" },
	{ "kernel_restarted", HTTP_BOOL, "Whether its state is lost" },
	{ "duration_ms", HTTP_INT, "How long it took" },
	{ "files", HTTP_LIST, "What changed, if that was asked", .maybe = true,
	  .schema = &file_schema },
	{ "files_truncated", HTTP_BOOL, "Whether there may be more",
	  .maybe = true },
	{ 0 },
};
static const struct http_schema run_schema = { "Run", cell_fields,
					       "How a cell ended" };
static const struct http_schema text_schema = {
	"RunText",
	(const struct http_field[]){
		{ "name", HTTP_STR, "Which stream", .words = "stdout|stderr" },
		{ "text", HTTP_STR, "What came" },
		{ 0 } },
	"Output as it was printed",
	.open = true,
};
static const struct http_schema output_schema = {
	"RunOutput",
	(const struct http_field[]){
		{ "output_type", HTTP_STR, "As in notebooks",
		  .words = "execute_result|display_data|update_display_data|"
			   "error" },
		{ 0 } },
	"A result, a display or an error, as in notebooks",
	.open = true,
};
static const struct http_event cell_events[] = {
	{ "stdout", &text_schema, "Output" },
	{ "stderr", &text_schema, "The same, there" },
	{ "output", &output_schema, "What a cell shows" },
	{ "result", &value_schema, "Its value, if it has one" },
	{ "end", &run_schema, "The last event: the whole answer" },
	{ 0 },
};
static const struct http_answer run_out[] = {
	{ 200, "How it ended", &run_schema },
	{ 200, NULL, .events = cell_events },
	{ 0 },
};

/* clang-format off */
const struct http_route run_routes[] = {
	{ "POST", "/v1/run", post_run, 0,
	  "Run code in a kernel that keeps its state", { NULL },
	  run_in, run_out, { SB_NOTFOUND, SB_DENIED, SB_MISSING },
	  .example = "{'code': '6 * 7', 'timeout': 10}" },
	{ 0 },
};
/* clang-format on */
