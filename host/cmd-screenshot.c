/* SPDX-License-Identifier: Apache-2.0 */
/* screenshot: a picture of a sandbox's desktop or console. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-desk.h"
#include "host/ctl-out.h"
#include "host/ctl-picture.h"
#include "host/ctl-save.h"
#include "host/ctl-sixel.h"
#include "host/ctl-term.h"

#define MAX_SIDE 32767
#define MAX_SCALE 8

struct values {
	const char *output, *format, *region, *scale;
	bool cursor, console;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write this file, or to stdout (-)",
	  .kind = OPT_STR,
	  .store = AT(output) },
	{ .name = "format",
	  .arg = PICTURE_FORMATS,
	  .help = "kind of picture (default: what FILE ends with, else png)",
	  .kind = OPT_STR,
	  .store = AT(format) },
	{ .name = "region",
	  .arg = "X,Y,W,H",
	  .help = "only this part of the screen, in pixels",
	  .kind = OPT_STR,
	  .store = AT(region) },
	{ .name = "scale",
	  .arg = "N",
	  .help = "make it larger, or smaller, such as 0.5",
	  .kind = OPT_STR,
	  .store = AT(scale) },
	{ .name = "cursor",
	  .help = "draw the pointer, too",
	  .store = AT(cursor) },
	{ .name = "console",
	  .help = "the machine's console, which needs no desktop",
	  .store = AT(console) },
	{ 0 },
};

static int check_region(const char *region, struct sb_err *err)
{
	autofree char *copy = xstrdup(region);
	char *rest = copy, *word;
	long long n;
	int i = 0;

	for (; (word = strsep(&rest, ",")); i++)
		if (parse_num(word, i < 2 ? 0 : 1, MAX_SIDE, &n) < 0)
			break;
	if (!word && i == 4)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "--region: '%s' is not X,Y,WIDTH,HEIGHT in pixels, such "
		       "as 0,0,640,480",
		       region);
}

/* A plain number; strtod() alone would take inf, nan and hex as well. */
static int check_scale(const char *scale, struct sb_err *err)
{
	double n = strtod(scale, NULL);

	if (strspn(scale, "0123456789.") == strlen(scale) && n > 0 &&
	    n <= MAX_SCALE && strchr(scale, '.') == strrchr(scale, '.'))
		return 0;
	return sb_fail(err, SB_INVALID,
		       "--scale: '%s' is not a number above 0 and up to %d, "
		       "such as 0.5",
		       scale, MAX_SCALE);
}

static int check(const struct ctl *c, const struct values *v,
		 const char *format, struct sb_err *err)
{
	if (v->console &&
	    (v->region || v->scale || v->cursor || strcmp(format, "png") != 0))
		return sb_fail(err, SB_INVALID,
			       "the console is one whole PNG: --console goes "
			       "with -o only");
	if ((v->region && check_region(v->region, err) < 0) ||
	    (v->scale && check_scale(v->scale, err) < 0))
		return -1;
	if (c->json && v->output && strcmp(v->output, "-") == 0)
		return sb_fail(err, SB_INVALID,
			       "--json does not go with a stream ('-')");
	return 0;
}

/* What was checked needs no escapes. */
static char *path_of(const struct values *v, const char *format, int fit)
{
	autobuf struct buf b = { 0 };

	buf_addf(&b, "/v1/screen/screenshot?format=%s", format);
	if (v->region)
		buf_addf(&b, "&region=%s", v->region);
	if (v->scale)
		buf_addf(&b, "&scale=%s", v->scale);
	if (v->cursor)
		buf_adds(&b, "&cursor=true");
	if (fit)
		buf_addf(&b, "&max_width=%d&max_height=%d", fit,
			 SIXEL_MAX_SIDE);
	return steal(&b.p);
}

struct fetch {
	struct buf data;
	bool too_large;
};

static int on_data(void *arg, const char *data, size_t len)
{
	struct fetch *f = arg;

	f->too_large = len > PICTURE_MAX - f->data.len;
	if (!f->too_large)
		buf_add(&f->data, data, len);
	return f->too_large;
}

/* fit: the pixels that it may be wide, 0 for any. */
static int fetch(struct ctl *c, const struct cmd_args *a, const char *format,
		 int fit, struct buf *ret, struct sb_err *err)
{
	const struct values *v = a->values;
	autofree char *path = NULL;
	autodesk struct desk d = { 0 };
	struct fetch f = { 0 };
	struct hclient *from;
	int rc;

	if (v->console) {
		path = daemon_path(DAEMON_SANDBOXES, a->argv[0],
				   "/console/screenshot");
		rc = daemon_open(c, err);
		from = c->daemon;
	} else {
		path = path_of(v, format, fit);
		rc = desk_open_up(c, a->argv[0], &d, err);
		from = d.guestd;
	}
	if (rc == 0)
		rc = hclient_stream(from, path, on_data, &f, err);
	*ret = f.data;
	if (rc == 0 && f.too_large)
		return sb_fail(err, SB_LIMIT,
			       "the picture is larger than %d MiB",
			       PICTURE_MAX >> 20);
	return rc < 0 ? -1 : picture_check(format, ret->p, ret->len, err);
}

static int write_file(struct ctl *c, const struct cmd_args *a,
		      const char *format, const struct buf *picture,
		      struct sb_err *err)
{
	const struct values *v = a->values;
	autofree char *stem = NULL, *path = NULL;
	autosave struct save s = { 0 };
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	stem = xasprintf("%s-%s", a->argv[0], when);
	path = save_name(v->output, stem, picture_suffix(format));
	if (save_open(&s, path, err) < 0 ||
	    save_add(&s, picture->p, picture->len, err) < 0 ||
	    save_end(&s, err) < 0)
		return -1;
	if (c->json) {
		autojson json_t *j = json_object();

		json_put(j, "file", json_str(path));
		json_put(j, "format", json_str(format));
		json_put(j, "bytes", json_integer((json_int_t)picture->len));
		out_json(j);
	} else if (!v->output || strcmp(v->output, path) != 0) {
		puts(path);
	}
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	const char *format = v->format;
	enum picture_terminal how = PICTURE_NOT_SHOWN;
	autobuf struct buf picture = { 0 };
	int fit = 0;

	if (!format && v->output)
		format = picture_format_of(v->output);
	if (!format)
		format = "png";
	if (check(c, v, format, err) < 0)
		return -1;
	/* The console's picture is there as PNG only. */
	if (!v->output && !c->json && strcmp(format, "png") == 0)
		how = picture_terminal(STDOUT_FILENO, !v->console);
	if (how == PICTURE_SIXEL) {
		format = "ppm";
		fit = MIN(term_pixels(STDOUT_FILENO), SIXEL_MAX_SIDE);
	}
	if (fetch(c, a, format, fit, &picture, err) < 0)
		return -1;
	if (how == PICTURE_NOT_SHOWN ||
	    (how != PICTURE_SIXEL && !picture_can_show(picture.p, picture.len)))
		return write_file(c, a, format, &picture, err);
	fflush(stdout);
	return picture_show(how, STDOUT_FILENO, picture.p, picture.len, err);
}

const struct cmd cmd_screenshot = {
	.name = "screenshot",
	.section = "Desktop",
	.args = "NAME",
	.summary = "take a picture of a sandbox's desktop",
	.detail =
		"Without -o it is shown where the terminal can (kitty, "
		"Ghostty, iTerm2, WezTerm, Sixel), and else written to NAME-TIME.png "
		"in this folder, and that name printed. --console needs "
		"neither a desktop nor guestd, and no sandbox that runs.",
	.examples = "sandboxctl screenshot demo\n"
		    "sandboxctl screenshot demo -o screen.jpg --scale 0.5\n"
		    "sandboxctl screenshot demo -o - | display\n"
		    "sandboxctl screenshot demo --console",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run,
};
