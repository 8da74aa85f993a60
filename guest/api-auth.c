/* SPDX-License-Identifier: Apache-2.0 */
/* The route that hands out tickets. */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/api.h"
#include "guest/auth.h"
#include "guest/guestd.h"
#include "guest/ticket.h"

#define DEFAULT_TTL_S 60
#define MAX_TTL_S 3600

static int parse_path(const json_t *body, const char **ret, struct sb_err *err)
{
	const char *path = NULL;

	if (json_get_str(body, "path", &path, err) < 0)
		return -1;
	if (path && (path[0] != '/' || strlen(path) > TICKET_MAX_PATH ||
		     strpbrk(path, "?#")))
		return sb_fail(err, SB_INVALID,
			       "'path' must be the path of a route, such as "
			       "/v1/logs, without a query");
	*ret = path;
	return 0;
}

static int issue(struct http_req *req, json_t **ret, struct sb_err *err)
{
	const struct guestd *g = http_ctx(req);
	autojson json_t *body = NULL;
	long long ttl_s = DEFAULT_TTL_S;
	char ticket[TOKEN_LEN + 1], iso[CLOCK_ISO_LEN];
	const char *path = NULL;

	if (http_body_json(req, &body, err) < 0 ||
	    parse_path(body, &path, err) < 0 ||
	    json_get_int(body, "ttl_s", 1, MAX_TTL_S, &ttl_s, err) < 0 ||
	    auth_issue_ticket(g->auth, path, ttl_s, ticket, err) < 0)
		return -1;
	clock_iso(clock_wall_ms() + ttl_s * 1000, iso);
	*ret = json_pack("{s:s, s:s, s:I}", "ticket", ticket, "expires_at", iso,
			 "expires_in", (json_int_t)ttl_s);
	return 0;
}

static void post_ticket(struct http_req *req)
{
	struct sb_err err;
	json_t *j;

	if (issue(req, &j, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 201, j);
}

static const struct http_field ticket_in[] = {
	{ "path", HTTP_STR, "The only path that it is good for" },
	{ "ttl_s", HTTP_INT, "Seconds until it expires", .min = 1,
	  .max = MAX_TTL_S, .dflt = "60" },
	{ 0 },
};

static const struct http_schema ticket_schema = {
	"Ticket",
	(const struct http_field[]){
		{ "ticket", HTTP_STR, "To be given as ?ticket=, once" },
		{ "expires_at", HTTP_STR, "When it expires" },
		{ "expires_in", HTTP_INT, "Seconds until then" },
		{ 0 } },
	"A ticket for one GET",
	"{'ticket': '6f1c', 'expires_at': '2026-01-02T03:04:05Z',"
	" 'expires_in': 60}",
};

static const struct http_answer ticket_out[] = {
	{ 201, "The ticket", &ticket_schema },
	{ 0 },
};

/* clang-format off */
const struct http_route auth_routes[] = {
	{ "POST", "/v1/tickets", post_ticket, 0,
	  "Make a one-time ticket for a URL", { "/tickets" }, ticket_in,
	  ticket_out, { SB_BUSY },
	  .example = "{'path': '/metrics'}",
	  .text = "For links and WebSockets of a page, which cannot send a "
		  "header: the token itself must not be in a URL." },
	{ 0 },
};
/* clang-format on */
