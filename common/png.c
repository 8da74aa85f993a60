/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "common/png.h"

static void put32(char *p, uint32_t n)
{
	p[0] = (char)(n >> 24);
	p[1] = (char)(n >> 16);
	p[2] = (char)(n >> 8);
	p[3] = (char)n;
}

/* The length is known only when the chunk is there: begin, end. */
static size_t begin_chunk(struct buf *to, const char *name)
{
	size_t at = to->len;

	buf_add(to, "\0\0\0\0", 4);
	buf_add(to, name, 4);
	return at;
}

static void end_chunk(struct buf *to, size_t at)
{
	size_t len = to->len - at - 8;
	char crc[4];

	put32(to->p + at, (uint32_t)len);
	put32(crc, libdeflate_crc32(0, to->p + at + 4, len + 4));
	buf_add(to, crc, 4);
}

static void add_chunk(struct buf *to, const char *name, const void *data,
		      size_t len)
{
	size_t at = begin_chunk(to, name);

	buf_add(to, data, len);
	end_chunk(to, at);
}

static void add_header(struct buf *to, const struct png *p)
{
	char head[13] = { 0 };

	put32(head, p->width);
	put32(head + 4, p->height);
	head[8] = 8; /* bits */
	head[9] = (char)p->kind;
	buf_add(to, "\x89PNG\r\n\x1a\n", 8);
	add_chunk(to, "IHDR", head, sizeof(head));
}

void png_write(const struct png *p, struct buf *to)
{
	struct libdeflate_compressor *z = libdeflate_alloc_compressor(p->level);
	size_t room, at;

	if (!z)
		abort(); /* as xmalloc() does */
	add_header(to, p);
	if (p->ncolours)
		add_chunk(to, "PLTE", p->palette, 3 * p->ncolours);
	room = libdeflate_zlib_compress_bound(z, p->len);
	buf_reserve(to, room + 64);
	at = begin_chunk(to, "IDAT");
	to->len += libdeflate_zlib_compress(z, p->rows, p->len, to->p + to->len,
					    room);
	libdeflate_free_compressor(z);
	end_chunk(to, at);
	add_chunk(to, "IEND", "", 0);
}
