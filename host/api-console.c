/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sandboxes/{id}/console/screenshot */
#include "config.h"

#include <string.h>

#include "common/util.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/console.h"
#include "host/logs.h"

static int as_text(struct http_req *req, bool *ret, struct sb_err *err)
{
	const char *format = http_query(req, "format");

	*ret = format && strcmp(format, "text") == 0;
	if (format && !*ret && strcmp(format, "png") != 0)
		return sb_fail(err, SB_INVALID,
			       "format '%s' is not png or text", format);
	return 0;
}

/* It is drawn from the log of the serial console, so it needs no guestd, and
 * no machine that runs. */
static void api_screenshot(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	autofree struct console *c = NULL;
	autobuf struct buf b = { 0 };
	struct sandbox *sb;
	struct sb_err err;
	struct logs *l;
	bool text;

	if (api_find(req, &sb) < 0)
		return;
	if (as_text(req, &text, &err) < 0 ||
	    logs_open(d, sb, "serial", &l, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	console_init(c);
	console_read(c, logs_reader(l));
	logs_close(l);
	if (text) {
		console_text(c, &b);
		http_reply(req, 200, "text/plain; charset=utf-8",
			   b.p ? b.p : "", b.len);
	} else {
		console_png(c, &b);
		http_reply(req, 200, "image/png", b.p, b.len);
	}
}

static const struct http_field screenshot_in[] = {
	API_SANDBOX_ID,
	{ "format", HTTP_STR, "As a picture or as its text",
	  .words = "png|text", .dflt = "'png'" },
	{ 0 },
};

static const struct http_answer screenshot_out[] = {
	{ 200, "The screen", .type = "image/png" },
	{ 200, NULL, .type = "text/plain" },
	{ 0 },
};

/* clang-format off */
const struct http_route console_routes[] = {
	{ "GET", "/v1/sandboxes/{id}/console/screenshot", api_screenshot, 0,
	  "What the machine's console shows", { NULL },
	  screenshot_in, screenshot_out, { SB_NOTFOUND },
	  .text = "While it boots, when guestd is dead, and of a sandbox that "
		  "failed, too." },
	{ 0 },
};
/* clang-format on */
