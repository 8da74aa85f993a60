/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of a sandbox's desktop and terminals, from files of the host: what
 * the guest itself has there may be hostile, and a page of it that ran here
 * could ask for anything in the name of whoever looks at it.  Only what the
 * page connects to is the guest's (api-proxy.c).
 */
#include "config.h"

#include "common/static.h"
#include "common/util.h"
#include "host/api.h"
#include "host/daemon.h"

static const struct page {
	const char *name, *csp;
	const char *part; /* that others make, and that may be missing */
} pages[DAEMON_PAGES] = {
	{ "terminal", static_csp_terminal, "xterm.js" },
	{ "vnc", static_csp_vnc, "core/rfb.js" },
};

static struct static_site *site_of(struct daemon *d, size_t i)
{
	autofree char *dir = NULL;

	if (!d->pages[i]) {
		dir = xasprintf("%s/share/%s", d->bundle_dir, pages[i].name);
		d->pages[i] = static_site_new(dir, pages[i].csp);
	}
	return d->pages[i];
}

static void fail_missing(struct http_req *req, const struct page *p)
{
	const struct daemon *d = http_ctx(req);
	struct sb_err err;

	sb_fail(&err, SB_NOTFOUND, "this host lacks files of the page '%s'",
		p->name);
	sb_hint(&err,
		"install the bundle again, with %s/share/%s/%s, or use the "
		"page of guestd's forwarded port",
		d->bundle_dir, p->name, p->part);
	http_fail(req, &err);
}

/* Nobody is told here which sandboxes there are: the page is the same. */
static void get_page(struct http_req *req, size_t i)
{
	struct static_site *site = site_of(http_ctx(req), i);
	autofree char *prefix = xasprintf("/v1/sandboxes/%s/%s",
					  http_param(req, "id"), pages[i].name);
	const char *name = static_name(req, prefix);

	if (!name)
		return;
	if (static_has(site, "") && static_has(site, pages[i].part))
		static_reply(site, req, name);
	else
		fail_missing(req, &pages[i]);
}

static void get_terminal(struct http_req *req)
{
	get_page(req, 0);
}

static void get_vnc(struct http_req *req)
{
	get_page(req, 1);
}

/* The page reads the query, not the server. */
#define PAGE_FIELDS                                                   \
	{ "id", HTTP_STR, "Id or name of the sandbox", HTTP_PATH },   \
		{ "ticket", HTTP_STR, "A ticket for the WebSocket" }, \
	{                                                             \
		"view", HTTP_BOOL, "Only look"                        \
	}
static const struct http_field page_in[] = { PAGE_FIELDS, { 0 } };
static const struct http_field file_in[] = {
	{ "file", HTTP_STR, "A file of the page", HTTP_PATH },
	PAGE_FIELDS,
	{ 0 },
};

#define PAGE (HTTP_PUBLIC | HTTP_LENIENT)

/* clang-format off */
const struct http_route page_routes[] = {
	{ "GET", "/v1/sandboxes/{id}/vnc", get_vnc, PAGE,
	  "A page with the desktop of a sandbox", { NULL },
	  page_in, static_page_out, { SB_NOTFOUND },
	  .text = "It needs a ticket for /v1/sandboxes/{id}/v1/vnc/ws, or with "
		  "view=1 for /v1/sandboxes/{id}/v1/vnc/view. The page is the "
		  "host's own, not the guest's." },
	{ "GET", "/v1/sandboxes/{id}/vnc/{file...}", get_vnc, PAGE,
	  "A file of this page", { NULL }, file_in, static_file_out,
	  { SB_NOTFOUND } },
	{ "GET", "/v1/sandboxes/{id}/terminal", get_terminal, PAGE,
	  "A page with a terminal of a sandbox", { NULL },
	  page_in, static_page_out, { SB_NOTFOUND },
	  .text = "It needs a ticket for /v1/sandboxes/{id}/v1/terminal/ws." },
	{ "GET", "/v1/sandboxes/{id}/terminal/{file...}", get_terminal, PAGE,
	  "A file of this page", { NULL }, file_in, static_file_out,
	  { SB_NOTFOUND } },
	{ 0 },
};
/* clang-format on */
