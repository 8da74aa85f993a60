/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets as requests ask for them and come with them. */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "common/httpd-ticket.h"
#include "common/json.h"

#define DEFAULT_TTL_S 60
#define MAX_TTL_S 3600

static int parse_path(const json_t *body, bool need, const char **ret,
		      struct sb_err *err)
{
	const char *path = NULL;

	if (json_get_str(body, "path", &path, err) < 0)
		return -1;
	if (path ? path[0] != '/' || strlen(path) > TICKET_MAX_PATH ||
			    strpbrk(path, "?#")
		 : need)
		return sb_fail(err, SB_INVALID,
			       "'path' must be the path of a route, such as "
			       "/v1/logs, without a query");
	*ret = path;
	return 0;
}

static int issue(struct http_req *req, struct ticket_box *box, bool need_path,
		 json_t **ret, struct sb_err *err)
{
	autojson json_t *body = NULL;
	long long ttl_s = DEFAULT_TTL_S;
	char ticket[TOKEN_LEN + 1], iso[CLOCK_ISO_LEN];
	struct ticket_terms terms = { 0 };

	if (http_body_json(req, &body, err) < 0 ||
	    parse_path(body, need_path, &terms.path, err) < 0 ||
	    json_get_bool(body, "reusable", &terms.reusable, err) < 0 ||
	    json_get_int(body, "ttl_s", 1, MAX_TTL_S, &ttl_s, err) < 0)
		return -1;
	terms.ttl_ms = ttl_s * 1000;
	if (ticket_issue(box, &terms, clock_ms(), ticket, err) < 0)
		return -1;
	clock_iso(clock_wall_ms() + ttl_s * 1000, iso);
	*ret = json_pack("{s:s, s:s, s:I}", "ticket", ticket, "expires_at", iso,
			 "expires_in", (json_int_t)ttl_s);
	return 0;
}

void http_ticket_post(struct http_req *req, struct ticket_box *box,
		      bool need_path)
{
	struct sb_err err;
	json_t *j;

	if (issue(req, box, need_path, &j, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 201, j);
}

/* Tickets are in URLs, which others may follow: what changes something needs
 * a header. */
int http_ticket_check(const struct http_req *req, struct ticket_box *box,
		      const char *ticket, struct sb_err *err)
{
	if (strcmp(http_method(req), "GET") == 0)
		return ticket_redeem(box, ticket, http_path(req), clock_ms(),
				     err);
	sb_fail(err, SB_AUTH, "a ticket is good for GET only");
	return sb_hint(err, "send 'Authorization: Bearer TOKEN'");
}

#define PATH "path", HTTP_STR, "The only path that it is good for"
/* clang-format off */
#define TTL								\
	{ "ttl_s", HTTP_INT, "Seconds until it expires", .min = 1,	\
	  .max = MAX_TTL_S, .dflt = "60" }
#define REUSABLE							\
	{ "reusable", HTTP_BOOL,					\
	  "Good for any number of GETs of 'path' until it expires",	\
	  .dflt = "false" }
/* clang-format on */

const struct http_field http_ticket_in[] = { { PATH }, TTL, REUSABLE, { 0 } };
const struct http_field http_ticket_path_in[] = {
	{ PATH, .must = true }, TTL, REUSABLE, { 0 }
};

static const struct http_schema ticket_schema = {
	"Ticket",
	(const struct http_field[]){
		{ "ticket", HTTP_STR, "To be given as ?ticket=" },
		{ "expires_at", HTTP_STR, "When it expires" },
		{ "expires_in", HTTP_INT, "Seconds until then" },
		{ 0 } },
	"A ticket for a GET",
	"{'ticket': '6f1c', 'expires_at': '2026-01-02T03:04:05Z',"
	" 'expires_in': 60}",
};

const struct http_answer http_ticket_out[] = {
	{ 201, "The ticket", &ticket_schema },
	{ 0 },
};
