/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files that start programs share:
 *   spawn-as.c  as whom, with which environment
 *   spawn.c     the child, its pipes, its terminal
 */

#include <sys/types.h>

#include "guest/account.h"
#include "guest/spawn.h"

#define SPAWN_MAX_ENV 4096

struct spawn_as {
	char *user, *home;
	uid_t uid;
	gid_t gid;
	gid_t groups[ACCOUNT_MAX_GROUPS];
	int ngroups;
	bool change; /* we are someone else now */
	char *env[SPAWN_MAX_ENV + 1];
	size_t nenv;
};
