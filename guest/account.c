/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts of the machine, remembered. */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/account.h"

#define MAX_PASSWD (64 * 1024)
#define MAX_KNOWN 4

static const char *const files[] = { "/etc/passwd", "/etc/group" };

/* What changes when a file is written or replaced. */
struct stamp {
	struct timespec mtime;
	ino_t ino;
	off_t size;
};

static struct known {
	char *name; /* "": our own */
	bool missing;
	struct account account;
} known[MAX_KNOWN];
static size_t nknown, oldest;
static struct stamp stamps[ARRAY_SIZE(files)];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void forget_all(void)
{
	for (size_t i = 0; i < nknown; i++)
		free(steal(&known[i].name));
	nknown = oldest = 0;
}

static void forget_the_outdated(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct stamp now;
		struct stat st;

		memset(&now, 0, sizeof(now));
		if (stat(files[i], &st) == 0) {
			now.mtime = st.st_mtim;
			now.ino = st.st_ino;
			now.size = st.st_size;
		}
		if (memcmp(&now, &stamps[i], sizeof(now)) != 0)
			forget_all();
		stamps[i] = now;
	}
}

static const struct known *recall(const char *name)
{
	for (size_t i = 0; i < nknown; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

static void remember(const char *name, bool missing,
		     const struct account *account)
{
	size_t i = nknown < MAX_KNOWN ? nknown++ : oldest++ % MAX_KNOWN;

	free(known[i].name);
	known[i] = (struct known){ xstrdup(name), missing, *account };
}

static void fill(const struct passwd *pw, struct account *ret)
{
	snprintf(ret->name, sizeof(ret->name), "%s", pw->pw_name);
	snprintf(ret->home, sizeof(ret->home), "%s", pw->pw_dir);
	snprintf(ret->shell, sizeof(ret->shell), "%s", pw->pw_shell);
	ret->uid = pw->pw_uid;
	ret->gid = pw->pw_gid;
	ret->ngroups = ACCOUNT_MAX_GROUPS;
	if (getgrouplist(ret->name, ret->gid, ret->groups, &ret->ngroups) < 0)
		ret->ngroups = ACCOUNT_MAX_GROUPS;
}

/* As account_find(). */
static int look_up(const char *name, struct account *ret)
{
	autofree char *text = xmalloc(MAX_PASSWD);
	struct passwd pw, *found = NULL;
	int r = *name ? getpwnam_r(name, &pw, text, MAX_PASSWD, &found)
		      : getpwuid_r(geteuid(), &pw, text, MAX_PASSWD, &found);

	if (found)
		fill(found, ret);
	errno = r;
	return r ? -1 : !found;
}

int account_find(const char *name, struct account *ret)
{
	const struct known *k;
	int r;

	name = name ? name : "";
	pthread_mutex_lock(&lock);
	forget_the_outdated();
	k = recall(name);
	if (k) {
		r = k->missing;
		*ret = k->account;
	} else {
		memset(ret, 0, sizeof(*ret));
		r = look_up(name, ret);
		if (r >= 0)
			remember(name, r, ret);
	}
	pthread_mutex_unlock(&lock);
	return r;
}
