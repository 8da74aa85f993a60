/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that come from a guest: what they are, and on a terminal. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base64.h"
#include "common/fs.h"
#include "common/util.h"
#include "host/ctl-ask.h"
#include "host/ctl-picture.h"
#include "host/ctl-sixel.h"
#include "host/ctl-term.h"

#define SHOW_MAX (16 << 20) /* bytes */
#define SHOW_MAX_SIDE 8192  /* pixels */
#define KITTY_PIECE 4096    /* as its protocol wants */

static const struct {
	const char *name, *suffix, *other;
	size_t at;
	const char *magic;
	size_t len;
} formats[] = {
	{ "png", ".png", ".png", 0, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16 },
	{ "jpeg", ".jpg", ".jpeg", 0, "\xff\xd8\xff", 3 },
	{ "webp", ".webp", ".webp", 8, "WEBPVP8", 7 },
	{ "ppm", ".ppm", ".pnm", 0, "P6\n", 3 },
};

const char *picture_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(formats); i++)
		if (strcasecmp(dot, formats[i].suffix) == 0 ||
		    strcasecmp(dot, formats[i].other) == 0)
			return formats[i].name;
	return NULL;
}

const char *picture_suffix(const char *format)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(format, formats[i].name) == 0)
			return formats[i].suffix;
	return "";
}

int picture_check(const char *format, const void *data, size_t len,
		  struct sb_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(format, formats[i].name) == 0 &&
		    len >= formats[i].at + formats[i].len &&
		    memcmp((const char *)data + formats[i].at, formats[i].magic,
			   formats[i].len) == 0)
			return 0;
	return sb_fail(err, SB_GUEST, "what came is no %s picture", format);
}

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/*
 * TERM is what each terminal sets for itself; other variables of kitty's are
 * also seen by a terminal that was started from it.
 */
static enum picture_terminal by_environment(void)
{
	const char *term = env("TERM"), *program = env("TERM_PROGRAM");

	if (*env("TMUX") || *env("STY") || str_starts(term, "screen") ||
	    str_starts(term, "tmux"))
		return PICTURE_NOT_SHOWN;
	if (strcmp(term, "xterm-kitty") == 0 ||
	    strcmp(term, "xterm-ghostty") == 0)
		return PICTURE_KITTY;
	if (strcmp(program, "iTerm.app") == 0 ||
	    strcmp(program, "WezTerm") == 0 ||
	    strcmp(env("LC_TERMINAL"), "iTerm2") == 0)
		return PICTURE_ITERM;
	return PICTURE_NOT_SHOWN;
}

enum picture_terminal picture_terminal(int fd, bool may_ask)
{
	enum picture_terminal how;

	if (!term_can_redraw(fd))
		return PICTURE_NOT_SHOWN;
	how = by_environment();
	if (how == PICTURE_NOT_SHOWN && may_ask && ask_sixel(fd))
		return PICTURE_SIXEL;
	return how;
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* Whose few bytes claim to be a huge picture is not for a terminal. */
bool picture_can_show(const void *data, size_t len)
{
	const unsigned char *ihdr = (const unsigned char *)data + 16;

	return len >= 24 && len <= SHOW_MAX && be32(ihdr) <= SHOW_MAX_SIDE &&
	       be32(ihdr + 4) <= SHOW_MAX_SIDE;
}

/* q=2: the terminal answers nothing, which would be read as typed. */
static void add_kitty(struct buf *out, const char *text)
{
	size_t left = strlen(text);

	for (bool first = true; left; first = false) {
		size_t n = MIN(left, KITTY_PIECE);

		left -= n;
		buf_addf(out, "\033_G%sm=%d;", first ? "f=100,a=T,q=2," : "",
			 left > 0);
		buf_add(out, text, n);
		buf_adds(out, "\033\\");
		text += n;
	}
}

static void add_base64(struct buf *out, enum picture_terminal how,
		       const void *data, size_t len)
{
	autofree char *text = base64_encode(data, len);

	if (how == PICTURE_KITTY)
		add_kitty(out, text);
	else
		buf_addf(out, "\033]1337;File=inline=1;size=%zu:%s\a", len,
			 text);
}

int picture_show(enum picture_terminal how, int fd, const void *data,
		 size_t len, struct sb_err *err)
{
	autobuf struct buf out = { 0 };
	struct ppm ppm;

	if (how != PICTURE_SIXEL)
		add_base64(&out, how, data, len);
	else if (ppm_read(data, len, &ppm, err) == 0)
		sixel_encode(&ppm, &out);
	else
		return -1;
	buf_adds(&out, "\n");
	if (fs_write_all(fd, out.p, out.len) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot write: %m");
	return 0;
}
