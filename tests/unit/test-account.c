/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest/account.h"
#include "tests/unit/tap.h"

static void test_known(void)
{
	struct account a;
	bool good = true;

	/* Twice: looked up, and remembered. */
	for (int i = 0; i < 2; i++) {
		good &= account_find("root", &a) == 0 && a.uid == 0 &&
			strcmp(a.name, "root") == 0 && a.ngroups > 0 &&
			a.groups[0] == a.gid;
		good &= account_find("no-such-account", &a) == 1;
	}
	ok(good, "one that is there, and one that is not");
}

static void test_own(void)
{
	const struct passwd *pw = getpwuid(geteuid());
	struct account a;

	ok(account_find(NULL, &a) == (pw ? 0 : 1) &&
		   (!pw ||
		    (a.uid == geteuid() && strcmp(a.home, pw->pw_dir) == 0)),
	   "our own");
}

/* More than are remembered at a time. */
static void test_many(void)
{
	struct account a;
	bool good = true;

	for (int i = 0; i < 50; i++) {
		char name[32];

		snprintf(name, sizeof(name), "no-such-%d", i % 7);
		good &= account_find(name, &a) == 1;
		good &= account_find("root", &a) == 0 && a.uid == 0;
	}
	ok(good, "many names");
}

int main(void)
{
	test_known();
	test_own();
	test_many();
	return tap_done();
}
