/* SPDX-License-Identifier: Apache-2.0 */
/* As whom a program runs, and its environment. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "guest/account.h"
#include "guest/guestd.h"
#include "guest/spawn-private.h"

#define MAX_ENV_FILE (1024 * 1024)
#define USER_PATH "/usr/local/bin:/usr/bin:/bin"
#define ROOT_PATH "/usr/local/sbin:" USER_PATH ":/usr/sbin:/sbin"

static void set_base_env(struct spawn_as *as, const char *shell)
{
	spawn_as_setenv(as, "PATH", as->uid ? USER_PATH : ROOT_PATH);
	spawn_as_setenv(as, "HOME", as->home);
	spawn_as_setenv(as, "USER", as->user);
	spawn_as_setenv(as, "LOGNAME", as->user);
	spawn_as_setenv(as, "SHELL", str_empty(shell) ? "/bin/sh" : shell);
	spawn_as_setenv(as, "LANG", "C.UTF-8");
}

static int find_named(const char *user, struct account *ret, struct sb_err *err)
{
	if (account_find(user, ret) != 0)
		return sb_fail(err, SB_INVALID,
			       "'user': there is no account '%s'", user);
	if (geteuid() != 0 && ret->uid != geteuid())
		return sb_fail(err, SB_DENIED,
			       "guestd does not run as root and so cannot run "
			       "a command as 'user' '%s'",
			       user);
	return 0;
}

/* Ourselves, so where we feel at home. */
static void find_own(struct account *ret)
{
	const char *home = getenv("HOME");

	if (account_find(NULL, ret) != 0) {
		*ret = (struct account){ .uid = geteuid(), .gid = getegid() };
		strcpy(ret->home, "/");
	}
	if (home && *home == '/' && strlen(home) < sizeof(ret->home))
		strcpy(ret->home, home);
}

int spawn_as_new(const char *user, struct spawn_as **ret, struct sb_err *err)
{
	struct spawn_as *as;
	struct account a;

	if (user) {
		if (find_named(user, &a, err) < 0)
			return -1;
	} else if (geteuid() != 0 || account_find(GUESTD_USER, &a) != 0) {
		find_own(&a);
	}
	as = xcalloc(1, sizeof(*as));
	as->user = xstrdup(a.name);
	as->home = xstrdup(a.home);
	as->uid = a.uid;
	as->gid = a.gid;
	as->change = geteuid() == 0;
	as->ngroups = a.ngroups;
	memcpy(as->groups, a.groups, a.ngroups * sizeof(a.groups[0]));
	set_base_env(as, a.shell);
	*ret = as;
	return 0;
}

void spawn_as_free(struct spawn_as *as)
{
	if (!as)
		return;
	for (size_t i = 0; i < as->nenv; i++)
		free(as->env[i]);
	free(as->user);
	free(as->home);
	free(as);
}

const char *spawn_as_user(const struct spawn_as *as)
{
	return as->user;
}

uid_t spawn_as_uid(const struct spawn_as *as)
{
	return as->uid;
}

static char **find_env(const struct spawn_as *as, const char *name, size_t len)
{
	for (size_t i = 0; i < as->nenv; i++)
		if (strncmp(as->env[i], name, len) == 0 &&
		    as->env[i][len] == '=')
			return (char **)&as->env[i];
	return NULL;
}

const char *spawn_as_getenv(const struct spawn_as *as, const char *name)
{
	char **pair = find_env(as, name, strlen(name));

	return pair ? *pair + strlen(name) + 1 : NULL;
}

static void put_env(struct spawn_as *as, char *pair /* takes */)
{
	char **old = find_env(as, pair, strcspn(pair, "="));

	if (old) {
		free(*old);
		*old = pair;
	} else if (as->nenv < SPAWN_MAX_ENV) {
		as->env[as->nenv++] = pair;
	} else {
		free(pair);
	}
}

void spawn_as_setenv(struct spawn_as *as, const char *name, const char *value)
{
	put_env(as, xasprintf("%s=%s", name, value));
}

void spawn_as_read_env(struct spawn_as *as, const char *path)
{
	autofree char *text = NULL;
	char *save, *line;

	if (fs_read(path, MAX_ENV_FILE, &text, NULL, NULL) < 0)
		return;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (*line != '=' && strchr(line, '='))
			put_env(as, xstrdup(line));
}

char *spawn_as_find(const struct spawn_as *as, const char *program)
{
	const char *path = spawn_as_getenv(as, "PATH");
	autofree char *dirs = xstrdup(path ? path : "");
	char *save, *d;

	for (d = strtok_r(dirs, ":", &save); d;
	     d = strtok_r(NULL, ":", &save)) {
		autofree char *file = xasprintf("%s/%s", d, program);

		if (access(file, X_OK) == 0)
			return steal(&file);
	}
	return NULL;
}

int spawn_as_own(const struct spawn_as *as, const char *path,
		 struct sb_err *err)
{
	if (as->change && lchown(path, as->uid, as->gid) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot give away '%s': %m",
			       path);
	return 0;
}
