/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sandboxes/{id}/logs */
#include "config.h"

#include <limits.h>
#include <stdlib.h>

#include "common/util.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/logs.h"

/* Two files of a log, at most; it may grow while it is read. */
#define MAX_REPLY (2 * LOG_READ_MAX_TAIL)
#define MAX_LINES 1000000000

static void reply_once(struct http_req *req, struct log_reader *r)
{
	autobuf struct buf b = { 0 };
	const char *data;
	size_t n;

	while (b.len < MAX_REPLY && (n = log_reader_bytes(r, &data)) > 0)
		buf_add(&b, data, n);
	http_reply(req, 200, "text/plain; charset=utf-8", b.p ? b.p : "",
		   b.len);
}

static void api_logs(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	const char *source = http_query(req, "source");
	long long lines = LLONG_MAX;
	bool follow = false;
	struct sandbox *sb;
	struct sb_err err;
	struct logs *l;

	if (api_find(req, &sb) < 0)
		return;
	if (http_query_bool(req, "follow", &follow, &err) < 0 ||
	    http_query_int(req, "lines", 0, MAX_LINES, &lines, &err) < 0 ||
	    logs_open(d, sb, source ? source : "serial", &l, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	log_reader_tail(logs_reader(l), lines, 0);
	if (follow) {
		logs_follow(d, sb, req, l);
	} else {
		reply_once(req, logs_reader(l));
		logs_close(l);
	}
}

static const struct http_field logs_in[] = {
	API_SANDBOX_ID,
	{ "source", HTTP_STR, "Which log",
	  .words = "serial|guestd|kernel|desktop|qemu", .dflt = "'serial'" },
	{ "lines", HTTP_INT, "Only the last ones", .max = MAX_LINES },
	{ "follow", HTTP_BOOL, "Go on until the sandbox is gone",
	  .dflt = "false" },
	{ 0 },
};

static const struct http_answer logs_out[] = {
	{ 200, "The log, or its end", .type = "text/plain" },
	{ 0 },
};

/* clang-format off */
const struct http_route log_routes[] = {
	{ "GET", "/v1/sandboxes/{id}/logs", api_logs, 0,
	  "The serial console's, guestd's or QEMU's log", { NULL },
	  logs_in, logs_out, { SB_NOTFOUND },
	  .text = "Of a sandbox that failed, too." },
	{ 0 },
};
/* clang-format on */
