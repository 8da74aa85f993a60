/* SPDX-License-Identifier: Apache-2.0 */
/* The older framings of Jupyter's WebSocket. */
#include "config.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/utf8.h"
#include "guest/gateway-frame.h"

/* As they call the parts. */
static const char *const names[FRAME_NPARTS] = { "header", "parent_header",
						 "metadata", "content" };

/* The JSON and the buffers of the older binary framing: u32 n, u32 offset[n]
 * (big-endian); the JSON is the first of what they divide. */
static int split_binary(const char *data, size_t len, struct part **ret,
			size_t *ret_n, struct sb_err *err)
{
	autofree struct part *parts = NULL;
	uint32_t n, from, to;

	if (len < sizeof(n))
		return frame_bad(err, "it is too short");
	memcpy(&n, data, sizeof(n));
	n = be32toh(n);
	if (n < 1 || n > FRAME_MAX_BUFFERS + 1 || (n + 1) * sizeof(n) > len)
		return frame_bad(err, "it has the wrong number of parts");
	parts = xcalloc(n, sizeof(*parts));
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&from, data + (i + 1) * sizeof(n), sizeof(n));
		from = be32toh(from);
		to = len;
		if (i + 1 < n) {
			memcpy(&to, data + (i + 2) * sizeof(n), sizeof(n));
			to = be32toh(to);
		}
		if (from < (n + 1) * sizeof(n) || from > to || to > len)
			return frame_bad(err, "a part lies outside of it");
		parts[i] = (struct part){ data + from, to - from };
	}
	*ret = steal(&parts);
	*ret_n = n;
	return 0;
}

static int take_json(struct part json, struct part part[FRAME_NPARTS],
		     enum frame_channel *ret_channel, struct sb_err *err)
{
	struct part channel;

	if (!jscan_is_object(json))
		return frame_bad(err, "it is not a JSON object");
	for (int i = 0; i < FRAME_NPARTS; i++) {
		if (!jscan_get(json, names[i], &part[i]) ||
		    part_is(part[i], "null"))
			part[i] = part_of("{}");
		if (!jscan_is_object(part[i]))
			return frame_bad(err, "a part is not a JSON object");
	}
	/* The client of Jupyter's own server never says which. */
	*ret_channel = FRAME_SHELL;
	if (!jscan_str(json, "channel", &channel))
		return 0;
	return frame_channel_of(channel, ret_channel, err);
}

int frame_from_legacy(bool text, const char *data, size_t len, struct buf *out,
		      struct sb_err *err)
{
	autofree struct part *parts = NULL;
	struct part part[FRAME_NPARTS];
	enum frame_channel channel;
	size_t n = 1;

	if (text) {
		parts = xcalloc(1, sizeof(*parts));
		parts[0] = (struct part){ data, len };
	} else if (split_binary(data, len, &parts, &n, err) < 0) {
		return -1;
	}
	if (take_json(parts[0], part, &channel, err) < 0)
		return -1;
	frame_write(out, channel, part, parts + 1, n - 1);
	return 0;
}

/* The members of the JSON object, without its braces. */
static int put_members(const struct frame *f, struct buf *out,
		       struct sb_err *err)
{
	struct part s;

	s = frame_signed(f);
	if (!utf8_is_valid(s.p, s.len))
		return frame_bad(err, "it is not UTF-8");
	for (int i = 0; i < FRAME_NPARTS; i++) {
		buf_addf(out, "\"%s\":", names[i]);
		buf_add(out, f->part[i].p, f->part[i].len);
		buf_adds(out, ",");
	}
	buf_addf(out, "\"channel\":\"%s\"", frame_channel_name(f->channel));
	if (jscan_get(f->part[FRAME_HEADER], "msg_id", &s)) {
		buf_adds(out, ",\"msg_id\":");
		buf_add(out, s.p, s.len);
	}
	if (jscan_get(f->part[FRAME_HEADER], "msg_type", &s)) {
		buf_adds(out, ",\"msg_type\":");
		buf_add(out, s.p, s.len);
	}
	return 0;
}

static void put_u32(struct buf *out, uint32_t n)
{
	n = htobe32(n);
	buf_add(out, &n, sizeof(n));
}

int frame_to_legacy(const struct frame *f, struct buf *out, bool *ret_text,
		    struct sb_err *err)
{
	autobuf struct buf json = { 0 };
	uint32_t n = f->nbuffers + 1;
	size_t at = (n + 1) * sizeof(n);

	*ret_text = !f->nbuffers;
	buf_adds(&json, "{");
	if (put_members(f, &json, err) < 0)
		return -1;
	buf_adds(&json, ",\"buffers\":[]}");
	if (*ret_text) {
		buf_add(out, json.p, json.len);
		return 0;
	}
	put_u32(out, n);
	put_u32(out, at);
	at += json.len;
	for (size_t i = 0; i + 1 < n; i++) {
		put_u32(out, at);
		at += frame_buffer(f, i).len;
	}
	buf_add(out, json.p, json.len);
	for (size_t i = 0; i < f->nbuffers; i++)
		buf_add(out, frame_buffer(f, i).p, frame_buffer(f, i).len);
	return at <= UINT32_MAX ? 0 : frame_bad(err, "it is too large");
}

int frame_to_json(const struct frame *f, uint64_t seq, struct buf *out,
		  struct sb_err *err)
{
	buf_addf(out, "{\"seq\":%llu,", (unsigned long long)seq);
	if (put_members(f, out, err) < 0)
		return -1;
	buf_adds(out, ",\"buffers\":[");
	for (size_t i = 0; i < f->nbuffers; i++) {
		struct part b = frame_buffer(f, i);
		autofree char *text = base64_encode(b.p, b.len);

		buf_addf(out, "%s\"%s\"", i ? "," : "", text);
	}
	buf_adds(out, "]}");
	return 0;
}
