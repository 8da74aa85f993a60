/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket frames. */
#include "config.h"

#include <string.h>

#include "common/token.h"
#include "common/utf8.h"
#include "common/ws.h"

#define FIN 0x80
#define RSV 0x70
#define MASKED 0x80
#define LEN16 126
#define LEN64 127
/* A message buffer of this size is kept for the next message. */
#define KEEP_CAPACITY 4096

static ssize_t fail(struct ws_reader *r, enum ws_code code, struct sb_err *err,
		    const char *why)
{
	r->failed = code;
	return sb_fail(err, code == WS_TOO_BIG ? SB_LIMIT : SB_INVALID,
		       "bad WebSocket frame: %s", why);
}

static bool is_control(enum ws_opcode op)
{
	return op & 0x8;
}

static enum ws_opcode frame_op(const struct ws_reader *r)
{
	return r->head[0] & 0x0f;
}

/* How long the head is, as far as its first two bytes say. */
static size_t head_size(const struct ws_reader *r)
{
	int n = r->head[1] & 0x7f;

	if (r->head_len < 2)
		return 2;
	return 2 +
	       (n == LEN16   ? 2
		: n == LEN64 ? 8
			     : 0) +
	       (r->head[1] & MASKED ? 4 : 0);
}

static uint64_t frame_len(const struct ws_reader *r)
{
	int n = r->head[1] & 0x7f;
	int bytes = n == LEN16 ? 2 : n == LEN64 ? 8 : 0;
	uint64_t len = bytes ? 0 : n;

	for (int i = 0; i < bytes; i++)
		len = len << 8 | r->head[2 + i];
	return len;
}

/* Each length has one form only. */
static bool length_is_shortest(const struct ws_reader *r, uint64_t len)
{
	int n = r->head[1] & 0x7f;

	if (n == LEN64)
		return len > UINT16_MAX && len <= INT64_MAX;
	return n != LEN16 || len >= LEN16;
}

/* The first two bytes tell most of what can be wrong. */
static ssize_t check_start(struct ws_reader *r, struct sb_err *err)
{
	enum ws_opcode op = frame_op(r);

	if (r->head[0] & RSV)
		return fail(r, WS_PROTOCOL, err, "no extension was agreed on");
	if ((op > WS_BINARY && op < WS_CLOSE) || op > WS_PONG)
		return fail(r, WS_PROTOCOL, err, "unknown kind");
	if (!(r->head[1] & MASKED) != r->client)
		return fail(r, WS_PROTOCOL, err,
			    r->client ? "a server must not mask"
				      : "a client must mask");
	if (is_control(op)) {
		if (!(r->head[0] & FIN) || (r->head[1] & 0x7f) > WS_MAX_CONTROL)
			return fail(r, WS_PROTOCOL, err,
				    "a control frame is long or in parts");
		return 0;
	}
	if ((op == WS_MORE) != (r->kind != 0))
		return fail(r, WS_PROTOCOL, err,
			    op == WS_MORE ? "the rest of no message"
					  : "a message inside of another");
	return 0;
}

static ssize_t begin_frame(struct ws_reader *r, struct sb_err *err)
{
	uint64_t len = frame_len(r);

	if (!length_is_shortest(r, len))
		return fail(r, WS_PROTOCOL, err, "bad length");
	if (!is_control(frame_op(r))) {
		if (frame_op(r) != WS_MORE) {
			r->kind = frame_op(r);
			r->message.len = 0;
		}
		if (len > r->max_message - r->message.len)
			return fail(r, WS_TOO_BIG, err,
				    "the message is too large");
	}
	r->control_len = 0;
	r->mask_at = 0;
	r->left = len;
	r->in_frame = true;
	return 0;
}

/* Collect the head; returns how many bytes were used. */
static ssize_t read_head(struct ws_reader *r, const char *data, size_t len,
			 struct sb_err *err)
{
	size_t used = 0;

	while (r->head_len < head_size(r)) {
		if (used == len)
			return used;
		r->head[r->head_len++] = data[used++];
		if (r->head_len == 2 && check_start(r, err) < 0)
			return -1;
	}
	return begin_frame(r, err) < 0 ? -1 : (ssize_t)used;
}

static void unmask(struct ws_reader *r, char *p, size_t len)
{
	const uint8_t *mask = r->head + head_size(r) - 4;
	size_t at = r->mask_at;

	r->mask_at = (at + len) & 3;
	if (r->client)
		return;
	for (size_t i = 0; i < len; i++)
		p[i] ^= mask[(at + i) & 3];
}

static size_t read_payload(struct ws_reader *r, const char *data, size_t len)
{
	size_t n = MIN(len, r->left);
	char *to;

	if (is_control(frame_op(r))) {
		to = r->control + r->control_len;
		memcpy(to, data, n);
		r->control_len += n;
	} else {
		buf_add(&r->message, data, n);
		to = r->message.p + r->message.len - n;
	}
	if (n)
		unmask(r, to, n);
	r->left -= n;
	return n;
}

static bool code_may_be_sent(int code)
{
	return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 &&
		code != 1006) ||
	       (code >= 3000 && code <= 4999);
}

static int end_close(struct ws_reader *r, struct ws_event *ret,
		     struct sb_err *err)
{
	const uint8_t *p = (const uint8_t *)r->control;

	ret->code = WS_NO_CODE;
	ret->len = 0;
	if (!r->control_len)
		return 0;
	if (r->control_len == 1)
		return fail(r, WS_PROTOCOL, err, "half a close code");
	ret->code = p[0] << 8 | p[1];
	ret->data = r->control + 2;
	ret->len = r->control_len - 2;
	if (!code_may_be_sent(ret->code))
		return fail(r, WS_PROTOCOL, err, "bad close code");
	if (!utf8_is_valid(ret->data, ret->len))
		return fail(r, WS_NOT_UTF8, err, "the reason is not UTF-8");
	return 0;
}

/* The frame is whole, and with it perhaps what it belongs to. */
static int end_frame(struct ws_reader *r, struct ws_event *ret,
		     struct sb_err *err)
{
	enum ws_opcode op = frame_op(r);

	r->in_frame = false;
	r->head_len = 0;
	if (is_control(op)) {
		r->control[r->control_len] = '\0';
		ret->op = op;
		ret->data = r->control;
		ret->len = r->control_len;
		return op == WS_CLOSE ? end_close(r, ret, err) : 0;
	}
	if (!(r->head[0] & FIN))
		return 0;
	ret->op = r->kind;
	ret->data = r->message.p ? r->message.p : "";
	ret->len = r->message.len;
	r->kind = 0;
	if (ret->op == WS_TEXT && !utf8_is_valid(ret->data, ret->len))
		return fail(r, WS_NOT_UTF8, err, "the text is not UTF-8");
	return 0;
}

ssize_t ws_read(struct ws_reader *r, const char *data, size_t len,
		struct ws_event *ret, struct sb_err *err)
{
	size_t used = 0;
	ssize_t n;

	*ret = (struct ws_event){ .data = "" };
	while (used < len && ret->op == WS_MORE) {
		if (!r->in_frame) {
			n = read_head(r, data + used, len - used, err);
			if (n < 0)
				return -1;
			used += n;
		}
		if (!r->in_frame)
			break;
		used += read_payload(r, data + used, len - used);
		if (!r->left && end_frame(r, ret, err) < 0)
			return -1;
	}
	return used;
}

void ws_reader_rest(struct ws_reader *r)
{
	if (!r->kind && r->message.cap > KEEP_CAPACITY)
		buf_done(&r->message);
}

void ws_reader_done(struct ws_reader *r)
{
	buf_done(&r->message);
}

void ws_put_frame(struct buf *out, enum ws_opcode op, bool end, bool mask,
		  const void *data, size_t len)
{
	uint8_t head[WS_MAX_HEAD];
	size_t n = 2, bytes = len < LEN16 ? 0 : len <= UINT16_MAX ? 2 : 8;
	uint8_t key[4];
	char *p;

	head[0] = op | (end ? FIN : 0);
	head[1] = (mask ? MASKED : 0) | (bytes == 0   ? len
					 : bytes == 2 ? LEN16
						      : LEN64);
	for (size_t i = bytes; i > 0; i--)
		head[n++] = (uint64_t)len >> (8 * (i - 1));
	if (mask) {
		random_bytes(key, sizeof(key));
		memcpy(head + n, key, sizeof(key));
		n += sizeof(key);
	}
	buf_add(out, head, n);
	buf_add(out, data, len);
	p = out->p + out->len - len;
	for (size_t i = 0; mask && i < len; i++)
		p[i] ^= key[i & 3];
}

void ws_put_close(struct buf *out, int code, const char *reason, bool mask)
{
	char data[WS_MAX_CONTROL] = { code >> 8, code };
	size_t n = 0, len = reason ? strlen(reason) : 0;

	while (n < len) {
		size_t c = utf8_len(reason + n, len - n);

		if (!c || n + c > sizeof(data) - 2)
			break;
		n += c;
	}
	memcpy(data + 2, reason ? reason : "", n);
	ws_put(out, WS_CLOSE, mask, data, code == WS_NO_CODE ? 0 : n + 2);
}
