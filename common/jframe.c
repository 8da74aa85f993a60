/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the Jupyter protocol as bytes. */
#include "config.h"

#include <endian.h>
#include <string.h>

#include "common/jframe.h"

static const char *const channels[FRAME_NCHANNELS] = { "shell", "control",
						       "stdin", "iopub" };

int frame_bad(struct sb_err *err, const char *why)
{
	return sb_fail(err, SB_INVALID, "not a message of Jupyter's: %s", why);
}

const char *frame_channel_name(enum frame_channel c)
{
	return channels[c];
}

int frame_channel_of(struct part name, enum frame_channel *ret,
		     struct sb_err *err)
{
	for (int i = 0; i < FRAME_NCHANNELS; i++)
		if (part_is(name, channels[i])) {
			*ret = i;
			return 0;
		}
	return frame_bad(err, "there is no such channel");
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
		return frame_bad(err, "it has the wrong number of parts");
	last = (n + 1) * sizeof(n);
	if (last > len || number(data, 1) != last)
		return frame_bad(err, "its parts do not begin after the head");
	for (size_t i = 1; i <= n; i++) {
		if (number(data, i) < last || number(data, i) > len)
			return frame_bad(err, "a part lies outside of it");
		last = number(data, i);
	}
	return last == len ? 0 : frame_bad(err, "its parts end too early");
}

int frame_read(const char *data, size_t len, struct frame *ret,
	       struct sb_err *err)
{
	struct frame f = { .data = data };

	if (check_offsets(data, len, err) < 0 ||
	    frame_channel_of(piece(data, 0), &f.channel, err) < 0)
		return -1;
	f.nbuffers = number(data, 0) - FRAME_NPARTS - 2;
	for (int i = 0; i < FRAME_NPARTS; i++) {
		f.part[i] = piece(data, i + 1);
		if (!jscan_is_object(f.part[i]))
			return frame_bad(err, "a part is not a JSON object");
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
