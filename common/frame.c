/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a command's output. */
#include "config.h"

#include "common/frame.h"

void frame_head(unsigned char head[FRAME_HEAD], enum frame_letter letter,
		size_t len)
{
	head[0] = letter;
	for (int i = 0; i < 4; i++)
		head[1 + i] = len >> (24 - 8 * i);
}

static size_t payload_len(const char *head)
{
	size_t len = 0;

	for (int i = 1; i < FRAME_HEAD; i++)
		len = len << 8 | (unsigned char)head[i];
	return len;
}

/* Hand on all whole frames; *ret_used is how many bytes they have. */
static int take(struct frame_reader *r, size_t *ret_used, struct sb_err *err)
{
	struct buf *b = &r->in;
	size_t at = 0;

	while (b->len - at >= FRAME_HEAD) {
		size_t len = payload_len(b->p + at);
		char *data = b->p + at + FRAME_HEAD, after;
		int stop;

		if (len > FRAME_MAX)
			return sb_fail(err, SB_GUEST,
				       "a frame is longer than %d bytes",
				       FRAME_MAX);
		if (b->len - at - FRAME_HEAD < len)
			break;
		after = data[len];
		data[len] = '\0';
		stop = r->on_frame(r->arg, b->p[at], data, len);
		data[len] = after;
		at += FRAME_HEAD + len;
		if (stop)
			return 1;
	}
	*ret_used = at;
	return 0;
}

int frame_feed(struct frame_reader *r, const char *data, size_t len,
	       struct sb_err *err)
{
	size_t used = 0;
	int rc;

	buf_add(&r->in, data, len);
	rc = take(r, &used, err);
	if (rc == 0)
		buf_drop(&r->in, used);
	return rc;
}

void frame_done(struct frame_reader *r)
{
	buf_done(&r->in);
}
