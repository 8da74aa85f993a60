/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "guest/rfb-guard.h"

/* The handshake, for a server whose only security type is "none". */
enum { VERSION, SECURITY, INIT, MESSAGE, BODY };
#define VERSION_LEN 12
/* Before 3.7 a client does not choose a security type; what comes after would
 * be read a byte off, and keys could be taken for something else. */
static const char versions[][VERSION_LEN + 1] = { "RFB 003.007\n",
						  "RFB 003.008\n" };

#define MAX_ENCODINGS 1024
#define MAX_CUT_TEXT (64 << 20)

/* A message: how long its head is, where in it the number of further parts
 * stands, and how long each is. */
static const struct kind {
	uint8_t type, head;
	uint8_t count_at, count_len; /* 0: there are none */
	uint8_t part;
	bool pass;
} kinds[] = {
	/* clang-format off */
	{   0, 20, 0, 0,  0, true  }, /* SetPixelFormat, 16 of them a body */
	{   2,  4, 2, 2,  4, true  }, /* SetEncodings */
	{   3, 10, 0, 0,  0, true  }, /* FramebufferUpdateRequest */
	{   4,  8, 0, 0,  0, false }, /* KeyEvent */
	{   5,  6, 0, 0,  0, false }, /* PointerEvent */
	{   6,  8, 4, 4,  1, false }, /* ClientCutText */
	{ 150, 10, 0, 0,  0, true  }, /* EnableContinuousUpdates */
	{ 248,  9, 8, 1,  1, true  }, /* ClientFence */
	{ 250,  4, 0, 0,  0, false }, /* xvp: reboot and the like */
	{ 251,  8, 6, 1, 16, false }, /* SetDesktopSize */
	{ 255, 12, 0, 0,  0, false }, /* QEMU's keys */
	/* clang-format on */
};

void rfb_guard_init(struct rfb_guard *g)
{
	*g = (struct rfb_guard){ .stage = VERSION };
}

static const struct kind *find_kind(uint8_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

/* How many bytes of a head are to be there before it can be judged. */
static size_t head_len(const struct rfb_guard *g, const struct kind *k)
{
	if (g->stage == VERSION)
		return VERSION_LEN;
	if (g->stage != MESSAGE)
		return 1;
	return k ? MIN(k->head, sizeof(g->head)) : 1;
}

static uint64_t count_of(const struct rfb_guard *g, const struct kind *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < k->count_len; i++)
		n = n << 8 | g->head[k->count_at + i];
	/* The extended clipboard has its length as a negative number. */
	if (k->type == 6 && n > INT32_MAX)
		n = (uint32_t) - (uint32_t)n;
	return n;
}

static bool version_is_known(const uint8_t *head)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (memcmp(head, versions[i], VERSION_LEN) == 0)
			return true;
	return false;
}

static int judge(struct rfb_guard *g, const struct kind *k, struct buf *out)
{
	uint64_t count;

	if (g->stage == VERSION && !version_is_known(g->head))
		return -1;
	if (g->stage != MESSAGE) {
		/* Whoever looks must not throw others out: the flag that asks
		 * for the screen to be shared is always set. */
		if (g->stage == INIT)
			g->head[0] = 1;
		g->stage++;
		g->rest = 0;
		g->pass = true;
	} else {
		count = count_of(g, k);
		if (count > (k->type == 6 ? MAX_CUT_TEXT : MAX_ENCODINGS))
			return -1;
		g->pass = k->pass;
		g->rest = k->head - g->have + count * k->part;
		g->stage = g->rest ? BODY : MESSAGE;
	}
	if (g->pass)
		buf_add(out, g->head, g->have);
	g->have = 0;
	return 0;
}

int rfb_guard_feed(struct rfb_guard *g, const void *data, size_t len,
		   struct buf *out)
{
	const uint8_t *p = data, *end = p + len;
	const struct kind *k;
	size_t n;

	while (p < end) {
		if (g->stage == BODY) {
			n = (size_t)MIN(g->rest, (uint64_t)(end - p));
			if (g->pass)
				buf_add(out, p, n);
			p += n;
			g->rest -= n;
			if (!g->rest)
				g->stage = MESSAGE;
			continue;
		}
		g->head[g->have++] = *p++;
		k = g->stage == MESSAGE ? find_kind(g->head[0]) : NULL;
		if (g->stage == MESSAGE && !k)
			return -1;
		if (g->have == head_len(g, k) && judge(g, k, out) < 0)
			return -1;
	}
	return 0;
}
