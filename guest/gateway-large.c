/* SPDX-License-Identifier: Apache-2.0 */
/* What is said in place of a message that is too large for a client. */
#include "config.h"

#include <stdlib.h>

#include "common/json.h"
#include "guest/gateway-large.h"

#define MAX_KEPT 4096 /* of what is taken over */

static void keep(json_t *j, struct part content, const char *name)
{
	struct part v;
	autojson json_t *value = NULL;

	if (jscan_get(content, name, &v) && v.len <= MAX_KEPT &&
	    json_parse(v.p, v.len, &value, NULL) == 0)
		json_put(j, name, steal(&value));
}

static void put_error(json_t *j, struct part content, const char *note)
{
	json_put(j, "ename", json_str("MessageTooLarge"));
	keep(j, content, "ename");
	json_put(j, "evalue", json_str(note));
	json_put(j, "traceback", json_pack("[s]", note));
}

static json_t *display(struct part content, const char *note)
{
	json_t *j = json_object();

	json_put(j, "data", json_pack("{s:s}", "text/plain", note));
	json_put(j, "metadata", json_object());
	keep(j, content, "transient");
	keep(j, content, "execution_count");
	return j;
}

/* Of all replies, only this one may be "ok" without what was asked for. */
static json_t *reply(struct part type, struct part content, const char *note)
{
	bool ran = part_is(type, "execute_reply");
	struct part status = { "", 0 };
	json_t *j = json_object();

	jscan_str(content, "status", &status);
	if (ran && part_is(status, "ok")) {
		json_put(j, "status", json_str("ok"));
		json_put(j, "payload", json_array());
		json_put(j, "user_expressions", json_object());
	} else {
		json_put(j, "status", json_str("error"));
		put_error(j, content, note);
	}
	if (ran)
		keep(j, content, "execution_count");
	return j;
}

/* NULL: nothing that a client could use. */
static json_t *in_place(const struct frame *f, const char *note)
{
	struct part type = { "", 0 }, content = f->part[FRAME_CONTENT];
	json_t *j;

	jscan_str(f->part[FRAME_HEADER], "msg_type", &type);
	if (f->channel != FRAME_IOPUB)
		return reply(type, content, note);
	if (part_is(type, "execute_result") || part_is(type, "display_data") ||
	    part_is(type, "update_display_data"))
		return display(content, note);
	j = json_object();
	if (part_is(type, "error")) {
		put_error(j, content, note);
	} else if (part_is(type, "stream")) {
		json_put(j, "name", json_str("stdout"));
		keep(j, content, "name");
		json_put(j, "text", json_str(note));
	} else {
		json_decref(steal(&j));
	}
	return j;
}

void gateway_large(struct kernel *k, const struct frame *f, uint64_t seq,
		   size_t size, struct buf *out)
{
	autofree char *url =
		xasprintf("/v1/kernels/%s/messages?after=%llu&limit=1",
			  kernel_id(k), (unsigned long long)seq - 1);
	autofree char *note = xasprintf(
		"[%zu bytes, too large for this connection: GET %s]\n", size,
		url);
	autofree char *meta = xasprintf(
		"{\"sandbox\":{\"size\":%zu,\"url\":\"%s\"}}", size, url);
	autojson json_t *j = in_place(f, note);
	autofree char *content = j ? json_print(j) : NULL;
	struct part part[FRAME_NPARTS] = {
		[FRAME_HEADER] = f->part[FRAME_HEADER],
		[FRAME_PARENT] = f->part[FRAME_PARENT],
		[FRAME_METADATA] = part_of(meta),
	};

	if (!j) {
		kernel_make_notice(k, f->part[FRAME_PARENT], part_of(meta),
				   note, out);
		return;
	}
	part[FRAME_CONTENT] = part_of(content);
	frame_write(out, f->channel, part, NULL, 0);
}
