/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON body of a request, up to where something would be run or touched;
 * and the same bytes as a line of a log.
 */
#include "config.h"

#include <string.h>

#include "common/httpd-private.h"
#include "common/json.h"
#include "common/log-line.h"
#include "guest/files-call.h"
#include "guest/run.h"
#include "tests/fuzz/fuzz.h"

static const struct http_field fields[] = {
	HTTP_GROUP(run_fields),
	{ "path", HTTP_STR, "Of a file", .aka = "file|path_base64" },
	{ 0 },
};
static const struct http_answer answers[] = { { 200, "Done" }, { 0 } };

/* One that takes only what it names, and one that takes all. */
static const struct http_route routes[] = {
	{ .method = "POST", .in = fields, .out = answers },
	{ .method = "POST" },
};

/* What is printed must be read back as what it was. */
static void check_print(const json_t *j)
{
	autofree char *text = json_print(j);
	autojson json_t *back = NULL;

	if (json_parse(text, strlen(text), &back, NULL) < 0 ||
	    !json_equal(j, back))
		abort();
}

static void parse_bodies(const struct http_req *req)
{
	autojson json_t *body = NULL;
	struct run_params params;
	struct file_call call;
	struct sb_err err;

	if (http_body_json(req, &body, &err) < 0)
		return;
	if (!json_is_object(body))
		abort();
	check_print(body);
	if (run_parse(body, &params, &err) == 0 &&
	    (params.timeout_ms < 0 || params.max_output > RUN_MAX_OUTPUT))
		abort();
	if (file_call_parse(&call, req, &err) == 0) {
		if (call.path && call.path[0] != '/')
			abort();
		file_call_done(&call);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	struct guestd g = { 0 };
	struct http_req req = { .ctx = &g };
	autojson json_t *record = log_line_json(text, len);
	autobuf struct buf out = { 0 };

	log_record_text(record, &out);
	for (size_t i = 0; i < out.len; i++)
		if ((unsigned char)out.p[i] < 0x20)
			abort();
	log_line_time(text, len);
	buf_add(&req.body, data, len);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		req.route = &routes[i];
		parse_bodies(&req);
	}
	buf_done(&req.body);
	return 0;
}
