/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tickets (ticket.h) as requests ask for them and come with them. */

#include "common/httpd.h"
#include "common/ticket.h"

/*
 * The handler of POST /v1/tickets: a ticket for the path of the body, which
 * may be left out for any path unless need_path.
 */
void http_ticket_post(struct http_req *req /* takes */, struct ticket_box *box,
		      bool need_path);

/* What it takes, without and with need_path, and what it answers. */
extern const struct http_field http_ticket_in[], http_ticket_path_in[];
extern const struct http_answer http_ticket_out[];

/* Whether the ticket lets the request in; it is used up by that,
 * if it is not reusable. */
int http_ticket_check(const struct http_req *req, struct ticket_box *box,
		      const char *ticket, struct sb_err *err);
