/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sandboxes/{id}/logs */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/logs.h"

/* Without ?follow at most this much of a log's end is answered. */
#define MAX_REPLY (8 << 20)
#define MAX_LINES 1000000000

static void reply_once(struct http_req *req, int fd, off_t offset)
{
	autobuf struct buf b = { 0 };
	char block[65536];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == 0)
		offset = MAX(offset, st.st_size - MAX_REPLY);
	while (b.len < MAX_REPLY &&
	       (n = pread(fd, block, sizeof(block), offset)) > 0) {
		buf_add(&b, block, n);
		offset += n;
	}
	http_reply(req, 200, "text/plain; charset=utf-8", b.p ? b.p : "",
		   b.len);
}

static void api_logs(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	const char *source = http_query(req, "source");
	autofree char *path = NULL;
	autoclose int fd = -1;
	long long lines = LLONG_MAX;
	bool follow = false;
	struct sandbox *sb;
	struct sb_err err;
	off_t offset;

	if (api_find(req, &sb) < 0)
		return;
	if (http_query_bool(req, "follow", &follow, &err) < 0 ||
	    http_query_int(req, "lines", 0, MAX_LINES, &lines, &err) < 0 ||
	    logs_open(d, sb, source ? source : "serial", &fd, &path, &err) <
		    0) {
		http_fail(req, &err);
		return;
	}
	offset = logs_tail(fd, lines);
	if (follow)
		logs_follow(d, sb, req, steal_fd(&fd), path, offset);
	else
		reply_once(req, fd, offset);
}

static const struct http_field logs_in[] = {
	API_SANDBOX_ID,
	{ "source", HTTP_STR, "Which log", .words = "serial|guestd|qemu",
	  .dflt = "'serial'" },
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
