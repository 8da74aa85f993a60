/* SPDX-License-Identifier: Apache-2.0 */
/* type, key and click: the hands on a sandbox's desktop. */
#include "config.h"

#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/utf8.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-desk.h"
#include "host/ctl-out.h"

#define MAX_TEXT (1 << 20)
/* Bytes that are typed by one request, so that each ends in time. */
#define PIECE 2000
#define MAX_SIDE 32767

#define KEYBOARD "/v1/screen/keyboard"
#define MOUSE "/v1/screen/mouse"

static int act(const struct desk *d, const char *path, json_t *body /* takes */,
	       struct sb_err *err)
{
	int rc = hclient_json(d->guestd, "POST", path, body, NULL, err);

	json_decref(body);
	return rc;
}

static int done(const struct ctl *c)
{
	autojson json_t *j = json_pack("{s:b}", "ok", 1);

	if (c->json)
		out_json(j);
	return 0;
}

static int read_text(const char *word, char **ret, struct sb_err *err)
{
	autofree char *text = NULL;
	size_t len = strlen(word);

	if (strcmp(word, "-") != 0)
		text = xstrdup(word);
	else if (fs_read("/dev/stdin", MAX_TEXT, &text, &len, err) < 0)
		return -1;
	if (len > MAX_TEXT || strlen(text) != len)
		return sb_fail(err, SB_INVALID,
			       "what is to be typed must be text of at most "
			       "%d MiB",
			       MAX_TEXT >> 20);
	if (!utf8_is_valid(text, len))
		return sb_fail(err, SB_INVALID,
			       "what is to be typed is not UTF-8");
	*ret = steal(&text);
	return 0;
}

static int run_type(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autofree char *text = NULL;
	autodesk struct desk d = { 0 };
	size_t len;

	if (read_text(a->argv[1], &text, err) < 0 ||
	    desk_open_up(c, a->argv[0], &d, err) < 0)
		return -1;
	for (const char *p = text; *p; p += len) {
		len = MIN(strlen(p), PIECE);
		while (((unsigned char)p[len] & 0xc0) == 0x80)
			len--; /* not within a character */
		if (act(&d, KEYBOARD,
			json_pack("{s:s, s:s%}", "action", "type", "text", p,
				  len),
			err) < 0)
			return -1;
	}
	return done(c);
}

static int run_key(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autodesk struct desk d = { 0 };

	if (desk_open_up(c, a->argv[0], &d, err) < 0)
		return -1;
	for (int i = 1; i < a->argc; i++) {
		json_t *body = json_object();

		json_put(body, "action", json_str("key"));
		json_put(body, "keys", json_str(a->argv[i]));
		if (act(&d, KEYBOARD, body, err) < 0)
			return -1;
	}
	return done(c);
}

struct click {
	const char *button;
	bool twice;
};

static const struct opt click_opts[] = {
	{ .name = "button",
	  .letter = 'b',
	  .arg = "left|middle|right",
	  .help = "the button (default: left)",
	  .kind = OPT_STR,
	  .store = offsetof(struct click, button) },
	{ .name = "double",
	  .letter = 'd',
	  .help = "click twice",
	  .store = offsetof(struct click, twice) },
	{ 0 },
};

static int run_click(struct ctl *c, const struct cmd_args *a,
		     struct sb_err *err)
{
	const struct click *v = a->values;
	autodesk struct desk d = { 0 };
	long long at[2];

	for (int i = 0; i < 2; i++)
		if (parse_num(a->argv[1 + i], 0, MAX_SIDE, &at[i]) < 0)
			return sb_fail(err, SB_INVALID,
				       "%c: '%s' is not a number of pixels, "
				       "counted from the %s",
				       i ? 'Y' : 'X', a->argv[1 + i],
				       i ? "top" : "left");
	if (desk_open_up(c, a->argv[0], &d, err) < 0 ||
	    act(&d, MOUSE,
		json_pack("{s:s, s:I, s:I, s:s}", "action",
			  v->twice ? "double" : "click", "x", (json_int_t)at[0],
			  "y", (json_int_t)at[1], "button",
			  v->button ? v->button : "left"),
		err) < 0)
		return -1;
	return done(c);
}

const struct cmd cmd_type = {
	.name = "type",
	.section = "Desktop",
	.args = "NAME TEXT|-",
	.summary = "type a text on a sandbox's desktop",
	.detail = "Into the window that has the focus; any Unicode. With - the "
		  "text is what comes from stdin. A newline is the Return key.",
	.examples = "sandboxctl type demo 'naïve 你好'\n"
		    "printf 'ls -l\\n' | sandboxctl type demo -",
	.min = 2,
	.max = 2,
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run_type,
};

const struct cmd cmd_key = {
	.name = "key",
	.section = "Desktop",
	.args = "NAME KEYS...",
	.summary = "press keys on a sandbox's desktop",
	.detail = "Each of KEYS is a key or a chord, by the names of X or of "
		  "xdotool: Return, F5, ctrl+c, alt+Tab.",
	.examples = "sandboxctl key demo ctrl+a Delete\n"
		    "sandboxctl key demo alt+F4",
	.min = 2,
	.max = CMD_ANY,
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run_key,
};

const struct cmd cmd_click = {
	.name = "click",
	.section = "Desktop",
	.args = "NAME X Y",
	.summary = "click on a sandbox's desktop",
	.detail = "X and Y are pixels of the whole screen, from the upper left "
		  "corner, as in a screenshot.",
	.examples = "sandboxctl click demo 320 200\n"
		    "sandboxctl click demo 320 200 --button right",
	.opts = click_opts,
	.values = sizeof(struct click),
	.min = 3,
	.max = 3,
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run_click,
};
