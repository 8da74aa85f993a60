/* SPDX-License-Identifier: Apache-2.0 */
/* The three framings of Jupyter's WebSocket. */
#include "config.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/utf8.h"
#include "guest/gateway-frame.h"

static const char *const channels[FRAME_NCHANNELS] = { "shell", "control",
						       "stdin", "iopub" };
/* As the older framings call the parts. */
static const char *const names[FRAME_NPARTS] = { "header", "parent_header",
						 "metadata", "content" };

static int bad(struct sb_err *err, const char *why)
{
	return sb_fail(err, SB_INVALID, "not a message of Jupyter's: %s", why);
}

const char *frame_channel_name(enum frame_channel c)
{
	return channels[c];
}

static int channel_of(struct part name, enum frame_channel *ret,
		      struct sb_err *err)
{
	for (int i = 0; i < FRAME_NCHANNELS; i++)
		if (part_is(name, channels[i])) {
			*ret = i;
			return 0;
		}
	return bad(err, "there is no such channel");
}

/* ith number of the head; the first says how many follow. */
static uint64_t number(const char *data, size_t i)
{
	uint64_t n;

	memcpy(&n, data + i * sizeof(n), sizeof(n));
	return le64toh(n);
}

/* Between the ith offset and the next. */
static struct part piece(const char *data, size_t i)
{
	uint64_t from = number(data, i + 1), to = number(data, i + 2);

	return (struct part){ data + from, to - from };
}

/* Parts in their order, within the message, all of it used. */
static int check_offsets(const char *data, size_t len, struct sb_err *err)
{
	uint64_t n = len >= sizeof(n) ? number(data, 0) : 0, last;

	if (n < FRAME_NPARTS + 2 || n > FRAME_NPARTS + 2 + FRAME_MAX_BUFFERS)
		return bad(err, "it has the wrong number of parts");
	last = (n + 1) * sizeof(n);
	if (last > len || number(data, 1) != last)
		return bad(err, "its parts do not begin after the head");
	for (size_t i = 1; i <= n; i++) {
		if (number(data, i) < last || number(data, i) > len)
			return bad(err, "a part lies outside of it");
		last = number(data, i);
	}
	return last == len ? 0 : bad(err, "its parts end too early");
}

int frame_read(const char *data, size_t len, struct frame *ret,
	       struct sb_err *err)
{
	struct frame f = { .data = data };

	if (check_offsets(data, len, err) < 0 ||
	    channel_of(piece(data, 0), &f.channel, err) < 0)
		return -1;
	f.nbuffers = number(data, 0) - FRAME_NPARTS - 2;
	for (int i = 0; i < FRAME_NPARTS; i++) {
		f.part[i] = piece(data, i + 1);
		if (!jscan_is_object(f.part[i]))
			return bad(err, "a part is not a JSON object");
	}
	*ret = f;
	return 0;
}

struct part frame_buffer(const struct frame *f, size_t i)
{
	return piece(f->data, 1 + FRAME_NPARTS + i);
}

struct part frame_signed(const struct frame *f)
{
	const struct part *last = &f->part[FRAME_CONTENT];

	return (struct part){ f->part[0].p,
			      last->p + last->len - f->part[0].p };
}

static void put_number(struct buf *out, uint64_t n)
{
	n = htole64(n);
	buf_add(out, &n, sizeof(n));
}

void frame_write(struct buf *out, enum frame_channel c,
		 const struct part part[FRAME_NPARTS],
		 const struct part *buffers, size_t nbuffers)
{
	uint64_t n = FRAME_NPARTS + 2 + nbuffers;
	uint64_t at = (n + 1) * sizeof(n);

	put_number(out, n);
	put_number(out, at);
	put_number(out, at += strlen(channels[c]));
	for (int i = 0; i < FRAME_NPARTS; i++)
		put_number(out, at += part[i].len);
	for (size_t i = 0; i < nbuffers; i++)
		put_number(out, at += buffers[i].len);
	buf_adds(out, channels[c]);
	for (int i = 0; i < FRAME_NPARTS; i++)
		buf_add(out, part[i].p, part[i].len);
	for (size_t i = 0; i < nbuffers; i++)
		buf_add(out, buffers[i].p, buffers[i].len);
}

/* The JSON and the buffers of the older binary framing: u32 n, u32 offset[n]
 * (big-endian); the JSON is the first of what they divide. */
static int split_binary(const char *data, size_t len, struct part **ret,
			size_t *ret_n, struct sb_err *err)
{
	autofree struct part *parts = NULL;
	uint32_t n, from, to;

	if (len < sizeof(n))
		return bad(err, "it is too short");
	memcpy(&n, data, sizeof(n));
	n = be32toh(n);
	if (n < 1 || n > FRAME_MAX_BUFFERS + 1 || (n + 1) * sizeof(n) > len)
		return bad(err, "it has the wrong number of parts");
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
			return bad(err, "a part lies outside of it");
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
		return bad(err, "it is not a JSON object");
	for (int i = 0; i < FRAME_NPARTS; i++) {
		if (!jscan_get(json, names[i], &part[i]) ||
		    part_is(part[i], "null"))
			part[i] = part_of("{}");
		if (!jscan_is_object(part[i]))
			return bad(err, "a part is not a JSON object");
	}
	/* The client of Jupyter's own server never says which. */
	*ret_channel = FRAME_SHELL;
	if (!jscan_str(json, "channel", &channel))
		return 0;
	return channel_of(channel, ret_channel, err);
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
		return bad(err, "it is not UTF-8");
	for (int i = 0; i < FRAME_NPARTS; i++) {
		buf_addf(out, "\"%s\":", names[i]);
		buf_add(out, f->part[i].p, f->part[i].len);
		buf_adds(out, ",");
	}
	buf_addf(out, "\"channel\":\"%s\"", channels[f->channel]);
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
	return at <= UINT32_MAX ? 0 : bad(err, "it is too large");
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
