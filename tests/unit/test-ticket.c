/* SPDX-License-Identifier: Apache-2.0 */
/* One-time tickets: once, for a while, for a path, and not too many. */
#include "config.h"

#include "common/ticket.h"
#include "tests/unit/tap.h"

static struct ticket_box *box;
static char ticket[TOKEN_LEN + 1];

static bool issue(const char *path, int64_t now)
{
	const struct ticket_terms terms = { path, 1000, false };
	struct sb_err err;

	return ticket_issue(box, &terms, now, ticket, &err) == 0;
}

static bool redeem(const char *path, int64_t now)
{
	struct sb_err err = { 0 };

	return ticket_redeem(box, ticket, path, now, &err) == 0;
}

static void test_reusable(void)
{
	struct ticket_terms terms = { "/film", 1000, true };
	struct sb_err err = { 0 };

	is_int(ticket_issue(box, &terms, 0, ticket, &err), 0,
	       "a ticket for many times");
	ok(redeem("/film", 1) && redeem("/film", 999), "is good again");
	ok(!redeem("/other", 1), "for its path only");
	ok(!redeem("/film", 1000), "and expires");
	ok(ticket_issue(box, &terms, 0, ticket, &err) == 0, "another");
	ticket_revoke_all(box);
	ok(!redeem("/film", 1), "can be revoked");
	terms.path = NULL;
	ok(ticket_issue(box, &terms, 0, ticket, &err) < 0 &&
		   err.code == SB_INVALID,
	   "none for any path");
}

int main(void)
{
	static const struct ticket_terms once = { NULL, 1000, false };
	char first[TOKEN_LEN + 1];
	struct sb_err err = { 0 };
	bool all = true;

	box = ticket_box_new();
	ok(issue(NULL, 0), "a ticket");
	is_int(strlen(ticket), TOKEN_LEN, "has the length of a token");
	memcpy(first, ticket, sizeof(first));
	ok(redeem("/a", 999), "is good for any path");
	ok(!redeem("/a", 999), "but once");
	ok(issue(NULL, 0) && strcmp(ticket, first) != 0, "another differs");
	ok(!redeem("/a", 1000), "expires");

	ok(issue("/a", 0), "a ticket for a path");
	ok(!redeem("/a/b", 1), "is not good for one below it");
	ok(!redeem("/", 1), "nor above");
	ok(redeem("/a", 1), "but for it, still");

	ok(ticket_redeem(box, "", "/a", 1, &err) < 0 && err.code == SB_AUTH,
	   "no ticket");
	ok(issue(NULL, 0), "a ticket");
	ticket_revoke_all(box);
	ok(!redeem("/a", 1), "that is revoked");

	test_reusable();
	for (int i = 0; i < TICKET_MAX; i++)
		all = all && issue(NULL, 0);
	ok(all, "many tickets");
	ok(ticket_issue(box, &once, 1, ticket, &err) < 0 && err.code == SB_BUSY,
	   "one too many");
	ok(issue(NULL, 1000), "when they expire there is room again");
	ticket_box_free(box);
	return tap_done();
}
