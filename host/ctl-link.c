/* SPDX-License-Identifier: Apache-2.0 */
/* Links that open a page of a sandbox once. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/ctl-daemon.h"
#include "host/ctl-link.h"
#include "host/ctl-out.h"

#define MAX_TICKET 128

/* It goes to a terminal and a browser, and it is the guest who says it. */
static bool is_ticket(const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t len = strlen(s);

	return len && len <= MAX_TICKET && strspn(s, letters) == len;
}

/* A link to a page of the server at base, with a ticket of its own. */
static int make(struct hclient *server, const char *base, const char *path,
		const char *page, char **ret, struct sb_err *err)
{
	autojson json_t *body = json_pack("{s:s}", "path", path);
	autojson json_t *reply = NULL;
	const char *ticket;

	if (hclient_json(server, "POST", "/v1/tickets", body, &reply, err) < 0)
		return -1;
	ticket = json_str_or(reply, "ticket", "");
	if (!is_ticket(ticket))
		return sb_fail(err, SB_GUEST, "the server gives no ticket");
	*ret = xasprintf("%s%s%s", base, page, ticket);
	return 0;
}

int link_make(const struct guestd_at *at, struct hclient *guestd,
	      const char *path, const char *page, char **ret,
	      struct sb_err *err)
{
	autofree char *base = xasprintf("http://%s:%d", at->host, at->port);

	return make(guestd, base, path, page, ret, err);
}

int link_make_daemon(struct ctl *c, const json_t *sandbox, const char *path,
		     const char *page, char **ret, struct sb_err *err)
{
	/* The id: a name may be another's by the time that it is opened. */
	autofree char *box = daemon_path(DAEMON_SANDBOXES,
					 json_str_or(sandbox, "id", ""), "");
	autofree char *to = xasprintf("%s%s", box, path);
	autofree char *below = xasprintf("%s%s", box, page);
	autojson json_t *health = NULL;

	if (daemon_open(c, err) < 0 || daemon_health(c, &health, err) < 0)
		return -1;
	return make(c->daemon, json_str_or(health, "url", ""), to, below, ret,
		    err);
}

void link_print(const struct ctl *c, const char *url)
{
	autojson json_t *j = json_pack("{s:s}", "url", url);

	if (c->json)
		out_json(j);
	else
		puts(url);
}
