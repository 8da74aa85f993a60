/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Accounts of the machine.  Every command and every file asks for one, and
 * libc then opens up to 30 files for the answer; so it is remembered until
 * /etc/passwd or /etc/group change.  For all threads.
 */

#include <stdbool.h>
#include <sys/types.h>

#define ACCOUNT_MAX_GROUPS 256

struct account {
	char name[256], home[1024], shell[256];
	uid_t uid;
	gid_t gid;
	int ngroups;
	gid_t groups[ACCOUNT_MAX_GROUPS]; /* of more, the first ones */
};

/* name NULL: our own.  1 if there is none of that name, -1 (errno) if that
 * cannot be told. */
int account_find(const char *name, struct account *ret);
