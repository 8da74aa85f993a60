/* SPDX-License-Identifier: Apache-2.0 */
/* The route that hands out tickets. */
#include "config.h"

#include "common/httpd-ticket.h"
#include "guest/api.h"
#include "guest/auth.h"
#include "guest/guestd.h"

static void post_ticket(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);

	http_ticket_post(req, auth_tickets(g->auth), false);
}

/* clang-format off */
const struct http_route auth_routes[] = {
	{ "POST", "/v1/tickets", post_ticket, 0,
	  "Make a one-time ticket for a URL", { "/tickets" }, http_ticket_in,
	  http_ticket_out, { SB_BUSY },
	  .example = "{'path': '/metrics'}",
	  .text = "For links and WebSockets of a page, which cannot send a "
		  "header: the token itself must not be in a URL." },
	{ 0 },
};
/* clang-format on */
