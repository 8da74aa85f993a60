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
	static const char *const fields[] = { "path", "ttl_s", NULL };
	const struct guestd *g = http_ctx(req);
	autojson json_t *body = NULL;
	long long ttl_s = DEFAULT_TTL_S;
	char ticket[TOKEN_LEN + 1], iso[CLOCK_ISO_LEN];
	const char *path = NULL;

	if (http_body_json(req, &body, err) < 0 ||
	    json_only(body, fields, err) < 0 ||
	    parse_path(body, &path, err) < 0 ||
	    json_get_int(body, "ttl_s", 1, MAX_TTL_S, &ttl_s, err) < 0 ||
	    auth_issue_ticket(g->auth, path, ttl_s, ticket, err) < 0)
		return -1;
	clock_iso(clock_wall_ms() + ttl_s * 1000, iso);
	*ret = json_pack("{s:s, s:s, s:I}", "ticket", ticket, "expires_at", iso,
			 "expires_in", (json_int_t)ttl_s);
	return 0;
}

void post_ticket(struct http_req *req)
{
	struct sb_err err;
	json_t *j;

	if (issue(req, &j, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 201, j);
}
