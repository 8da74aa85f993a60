/* SPDX-License-Identifier: Apache-2.0 */
/* view: a link to a sandbox's desktop. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-desk.h"
#include "host/ctl-link.h"

#define OPENER "xdg-open"

struct values {
	bool view_only, open;
	const char *via;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "view-only",
	  .help = "to look at only: the guest drops what is typed or clicked",
	  .store = AT(view_only) },
	{ .name = "open",
	  .help = "open it in this host's browser, too (" OPENER ")",
	  .store = AT(open) },
	{ .name = "via",
	  .arg = "guestd|sandboxd",
	  .help = "a link to guestd's forwarded port, or to sandboxd's own",
	  .kind = OPT_STR,
	  .store = AT(via) },
	{ 0 },
};

/* A link to a desktop that is not there would be used up in vain. */
static int check_up(struct hclient *guestd, struct sb_err *err)
{
	autojson json_t *info = NULL;
	const char *state, *reason;

	if (hclient_json(guestd, "GET", "/v1/screen/info", NULL, &info, err) <
	    0)
		return -1;
	state = json_str_or(info, "state", "");
	reason = json_str_or(info, "reason", "no reason is given");
	if (strcmp(state, "up") == 0)
		return 0;
	if (strcmp(state, "off") != 0) {
		sb_fail(err, SB_BUSY, "the desktop is not up: %s", reason);
		return sb_hint(err, "try again in a moment");
	}
	sb_fail(err, SB_MISSING, "there is no desktop: %s", reason);
	return sb_hint(err, "use an image that has one (desktop, full) and a "
			    "template with 'display: 1280x800'");
}

/* Become it; no shell sees the link. */
static int open_link(const char *url, struct sb_err *err)
{
	fflush(stdout);
	execlp(OPENER, OPENER, url, NULL);
	sb_fail(err, SB_MISSING, "cannot run " OPENER ": %m");
	return sb_hint(err, "open the link in a browser yourself");
}

static int make_link(struct ctl *c, const struct desk *d,
		     const struct values *v, char **ret, struct sb_err *err)
{
	const char *path = v->view_only ? "/v1/vnc/view" : "/v1/vnc/ws";
	const char *page = v->view_only ? "/vnc/?view=1&ticket="
					: "/vnc/?ticket=";

	if (!v->via || strcmp(v->via, "guestd") == 0)
		return link_make(&d->at, d->guestd, path, page, ret, err);
	return link_make_daemon(c, d->sandbox, path, page, ret, err);
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	autodesk struct desk d = { 0 };
	autofree char *url = NULL;

	if (desk_open_up(c, a->argv[0], &d, err) < 0 ||
	    check_up(d.guestd, err) < 0 || make_link(c, &d, v, &url, err) < 0)
		return -1;
	link_print(c, url);
	return v->open ? open_link(url, err) : 0;
}

const struct cmd cmd_view = {
	.name = "view",
	.section = "Desktop",
	.args = "NAME",
	.summary = "print a link to a sandbox's desktop",
	.detail = "A browser of this host shows the desktop, live, and its "
		  "mouse and keyboard work there. The link can be opened once, "
		  "within a minute. By way of sandboxd one port serves all "
		  "sandboxes, and can be forwarded to another machine.",
	.examples = "sandboxctl view demo --open\n"
		    "sandboxctl view demo --via sandboxd\n"
		    "sandboxctl view demo --view-only",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run,
};
