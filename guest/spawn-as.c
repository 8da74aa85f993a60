/* SPDX-License-Identifier: Apache-2.0 */
/* As whom a program runs, and its environment. */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "guest/guestd.h"
#include "guest/spawn-private.h"

#define MAX_ENV_FILE (1024 * 1024)
#define MAX_PASSWD (64 * 1024)
#define USER_PATH "/usr/local/bin:/usr/bin:/bin"
#define ROOT_PATH "/usr/local/sbin:" USER_PATH ":/usr/sbin:/sbin"

/* user NULL: our own account. */
static bool find_account(const char *user, struct passwd *pw, char *text)
{
	struct passwd *found = NULL;
	int r = user ? getpwnam_r(user, pw, text, MAX_PASSWD, &found)
		     : getpwuid_r(geteuid(), pw, text, MAX_PASSWD, &found);

	return r == 0 && found;
}

static void set_base_env(struct spawn_as *as, const struct passwd *pw)
{
	spawn_as_setenv(as, "PATH", as->uid ? USER_PATH : ROOT_PATH);
	spawn_as_setenv(as, "HOME", as->home);
	spawn_as_setenv(as, "USER", as->user);
	spawn_as_setenv(as, "LOGNAME", as->user);
	spawn_as_setenv(as, "SHELL",
			str_empty(pw->pw_shell) ? "/bin/sh" : pw->pw_shell);
	spawn_as_setenv(as, "LANG", "C.UTF-8");
}

static int check_account(const char *user, const struct passwd *pw,
			 struct sb_err *err)
{
	if (geteuid() != 0 && pw->pw_uid != geteuid())
		return sb_fail(err, SB_DENIED,
			       "guestd does not run as root and so cannot run "
			       "a command as 'user' '%s'",
			       user);
	return 0;
}

int spawn_as_new(const char *user, struct spawn_as **ret, struct sb_err *err)
{
	autofree char *text = xmalloc(MAX_PASSWD);
	autospawnas struct spawn_as *as = xcalloc(1, sizeof(*as));
	struct passwd pw = { .pw_name = "", .pw_dir = "/" };
	char *home = getenv("HOME");

	if (user) {
		if (!find_account(user, &pw, text))
			return sb_fail(err, SB_INVALID,
				       "'user': there is no account '%s'",
				       user);
		if (check_account(user, &pw, err) < 0)
			return -1;
	} else if (geteuid() != 0 || !find_account(GUESTD_USER, &pw, text)) {
		pw.pw_uid = geteuid();
		pw.pw_gid = getegid();
		find_account(NULL, &pw, text);
		/* Ourselves, so where we feel at home. */
		if (home && *home == '/')
			pw.pw_dir = home;
	}
	as->user = xstrdup(pw.pw_name);
	as->home = xstrdup(pw.pw_dir);
	as->uid = pw.pw_uid;
	as->gid = pw.pw_gid;
	as->change = geteuid() == 0;
	as->ngroups = SPAWN_MAX_GROUPS;
	/* More groups than that: the first ones. */
	if (as->change &&
	    getgrouplist(as->user, as->gid, as->groups, &as->ngroups) < 0)
		as->ngroups = SPAWN_MAX_GROUPS;
	set_base_env(as, &pw);
	*ret = steal(&as);
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
