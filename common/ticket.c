/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets, most of them for one time. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/util.h"
#include "common/ticket.h"

struct ticket {
	TAILQ_ENTRY(ticket) entry;
	char text[TOKEN_LEN + 1];
	char *path; /* NULL: any */
	int64_t expires_ms;
	bool reusable;
};

struct ticket_box {
	TAILQ_HEAD(, ticket) list;
	size_t n;
};

static void drop(struct ticket_box *box, struct ticket *t)
{
	TAILQ_REMOVE(&box->list, t, entry);
	box->n--;
	free(t->path);
	free(t);
}

static void drop_expired(struct ticket_box *box, int64_t now_ms)
{
	struct ticket *t, *next;

	for (t = TAILQ_FIRST(&box->list); t; t = next) {
		next = TAILQ_NEXT(t, entry);
		if (t->expires_ms <= now_ms)
			drop(box, t);
	}
}

struct ticket_box *ticket_box_new(void)
{
	struct ticket_box *box = xcalloc(1, sizeof(*box));

	TAILQ_INIT(&box->list);
	return box;
}

void ticket_box_free(struct ticket_box *box)
{
	if (!box)
		return;
	ticket_revoke_all(box);
	free(box);
}

int ticket_issue(struct ticket_box *box, const struct ticket_terms *terms,
		 int64_t now_ms, char ret[TOKEN_LEN + 1], struct sb_err *err)
{
	struct ticket *t;

	if (terms->reusable && !terms->path)
		return sb_fail(err, SB_INVALID,
			       "a ticket with 'reusable' needs a 'path'");
	drop_expired(box, now_ms);
	if (box->n >= TICKET_MAX) {
		sb_fail(err, SB_BUSY, "%d tickets wait to be used", TICKET_MAX);
		return sb_hint(err, "use them, or wait until some expire");
	}
	t = xcalloc(1, sizeof(*t));
	random_hex(t->text, TOKEN_BYTES);
	memcpy(ret, t->text, sizeof(t->text));
	t->path = xstrdup0(terms->path);
	t->expires_ms = now_ms + terms->ttl_ms;
	t->reusable = terms->reusable;
	TAILQ_INSERT_TAIL(&box->list, t, entry);
	box->n++;
	return 0;
}

int ticket_redeem(struct ticket_box *box, const char *ticket, const char *path,
		  int64_t now_ms, struct sb_err *err)
{
	struct ticket *t, *found = NULL;

	drop_expired(box, now_ms);
	/* All are compared, so that the time does not tell which was near. */
	TAILQ_FOREACH(t, &box->list, entry)
		if (token_equal(ticket, t->text))
			found = t;
	if (!found)
		sb_fail(err, SB_AUTH, "the ticket is used, expired or wrong");
	else if (found->path && strcmp(found->path, path) != 0)
		sb_fail(err, SB_AUTH, "the ticket is for another path");
	else {
		if (!found->reusable)
			drop(box, found);
		return 0;
	}
	return sb_hint(err, "get a new one with POST /v1/tickets");
}

void ticket_revoke_all(struct ticket_box *box)
{
	while (!TAILQ_EMPTY(&box->list))
		drop(box, TAILQ_FIRST(&box->list));
}
