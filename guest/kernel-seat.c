/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a kernel, and where each has read up to. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "guest/kernel-private.h"

#define MAX_SEATS 256

static struct kernel_seat *find(struct kernel *k, const char *session)
{
	struct kernel_seat *s;

	if (str_empty(session))
		return NULL;
	TAILQ_FOREACH(s, &k->seats, next)
		if (strcmp(s->session, session) == 0)
			return s;
	return NULL;
}

static void drop(struct kernel *k, struct kernel_seat *s)
{
	TAILQ_REMOVE(&k->seats, s, next);
	k->nseats--;
	free(s->session);
	free(s);
}

/*
 * A client that comes back knows sooner than we do that its old connection is
 * dead, on which a minute may pass.
 */
static void replace(struct kernel *k, const char *session)
{
	struct kernel_client *c;

	if (str_empty(session))
		return;
	LIST_FOREACH(c, &k->clients, next)
		if (c->session && strcmp(c->session, session) == 0) {
			c->on_replaced(c->arg);
			return;
		}
}

void kernel_seat_take(struct kernel *k, struct kernel_client *c,
		      uint64_t *ret_from, bool *ret_alone)
{
	struct kernel_seat *s;

	replace(k, c->session);
	s = find(k, c->session);
	*ret_alone = !k->connections && k->orphaned;
	if (s)
		*ret_from = s->from;
	else if (*ret_alone)
		*ret_from = k->orphaned;
	else
		*ret_from = kernel_journal_next(k->journal);
	if (s)
		drop(k, s);
	LIST_INSERT_HEAD(&k->clients, c, next);
	k->connections++;
	k->orphaned = 0;
}

bool kernel_seat_claimed(const struct kernel *k, struct part session)
{
	const struct kernel_client *c;

	LIST_FOREACH(c, &k->clients, next)
		if (c->has_session(c->arg, session))
			return true;
	return false;
}

void kernel_seat_leave(struct kernel *k, struct kernel_client *c, uint64_t next)
{
	struct kernel_seat *s;

	LIST_REMOVE(c, next);
	if (!--k->connections)
		k->orphaned = next;
	if (str_empty(c->session))
		return;
	s = find(k, c->session);
	if (s)
		drop(k, s);
	if (k->nseats == MAX_SEATS)
		drop(k, TAILQ_LAST(&k->seats, kernel_seats));
	s = xcalloc(1, sizeof(*s));
	s->session = xstrdup(c->session);
	s->from = next;
	TAILQ_INSERT_HEAD(&k->seats, s, next);
	k->nseats++;
}
