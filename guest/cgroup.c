/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of commands.  They are below the root of the hierarchy, not
 * below our own service: a group with processes of its own cannot hand on
 * the limit on processes, and the programs outlive a restart of the service.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/util.h"
#include "guest/cgroup.h"

#define PARENT "sandbox"
#define MAX_PIDS_IN_ALL 16384

struct cgroup {
	STAILQ_ENTRY(cgroup) next; /* of those that still had processes */
	char *path;
	int join;
	bool bounded;
};

STAILQ_HEAD(cgroup_queue, cgroup);

static char *parent; /* NULL: no groups */
static bool has_pids;
static struct cgroup_queue leftovers = STAILQ_HEAD_INITIALIZER(leftovers);

static char *find_hierarchy(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char text[4096], *found = NULL;

	while (f && !found && getmntent_r(f, &m, text, sizeof(text)))
		if (strcmp(m.mnt_type, "cgroup2") == 0)
			found = xstrdup(m.mnt_dir);
	if (f)
		endmntent(f);
	return found;
}

static int put(const char *dir, const char *file, const char *text)
{
	autofree char *path = xasprintf("%s/%s", dir, file);
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : fs_write_all(fd, text, strlen(text));
}

/* Groups are named PID-N after the guestd that made them. */
static void sweep(void)
{
	DIR *d = opendir(parent);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		int pid = atoi(e->d_name);
		bool stale = pid > 0 && (pid == getpid() ||
					 (kill(pid, 0) < 0 && errno == ESRCH));

		/* One with processes in it stays. */
		if (stale && unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR) < 0 &&
		    errno != EBUSY)
			log_debug("cgroup '%s': %m", e->d_name);
	}
	if (d)
		closedir(d);
}

void cgroup_init(void)
{
	autofree char *root = find_hierarchy();
	autofree char *dir = root ? xasprintf("%s/" PARENT, root) : NULL;

	if (!dir || (mkdir(dir, 0755) < 0 && errno != EEXIST) ||
	    access(dir, W_OK) < 0) {
		log_info("no control groups for commands");
		return;
	}
	free(parent);
	parent = steal(&dir);
	if (put(root, "cgroup.subtree_control", "+pids") < 0)
		log_debug("'%s': cannot count processes: %m", root);
	has_pids = put(parent, "cgroup.subtree_control", "+pids") == 0;
	if (has_pids) {
		autofree char *max = xasprintf("%d", MAX_PIDS_IN_ALL);

		put(parent, "pids.max", max);
	}
	log_info("control groups for commands in '%s'%s", parent,
		 has_pids ? "" : ", without a limit on processes");
	sweep();
}

static void destroy(struct cgroup *g)
{
	free(g->path);
	free(g);
}

/* One that is still in use goes to the end of the queue. */
static void retry_leftover(void)
{
	struct cgroup *g = STAILQ_FIRST(&leftovers);

	if (!g)
		return;
	STAILQ_REMOVE_HEAD(&leftovers, next);
	if (rmdir(g->path) < 0 && errno == EBUSY)
		STAILQ_INSERT_TAIL(&leftovers, g, next);
	else
		destroy(g);
}

struct cgroup *cgroup_new(void)
{
	static unsigned int serial;
	autofree char *procs = NULL, *max = NULL;
	struct cgroup *g;

	if (!parent)
		return NULL;
	retry_leftover();
	g = xcalloc(1, sizeof(*g));
	g->path = xasprintf("%s/%d-%u", parent, (int)getpid(), serial++);
	procs = xasprintf("%s/cgroup.procs", g->path);
	max = xasprintf("%d", CGROUP_MAX_PIDS);
	g->join = mkdir(g->path, 0755) < 0 ? -1
					   : open(procs, O_WRONLY | O_CLOEXEC);
	if (g->join < 0) {
		log_warn("cannot make '%s': %m", g->path);
		rmdir(g->path);
		destroy(g);
		return NULL;
	}
	g->bounded = has_pids && put(g->path, "pids.max", max) == 0;
	return g;
}

int cgroup_join_fd(const struct cgroup *g)
{
	return g ? g->join : -1;
}

bool cgroup_is_bounded(const struct cgroup *g)
{
	return g && g->bounded;
}

void cgroup_joined(struct cgroup *g)
{
	if (g)
		util_close(&g->join);
}

void cgroup_kill(const struct cgroup *g)
{
	if (g && put(g->path, "cgroup.kill", "1") < 0)
		log_debug("cannot kill '%s': %m", g->path);
}

bool cgroup_remove(struct cgroup *g)
{
	if (!g || rmdir(g->path) < 0)
		return false;
	destroy(g);
	return true;
}

void cgroup_free(struct cgroup *g)
{
	if (!g || cgroup_remove(g))
		return;
	if (errno == EBUSY)
		STAILQ_INSERT_TAIL(&leftovers, g, next);
	else
		destroy(g);
}

void cgroup_done(void)
{
	struct cgroup *g;

	while ((g = STAILQ_FIRST(&leftovers))) {
		STAILQ_REMOVE_HEAD(&leftovers, next);
		rmdir(g->path);
		destroy(g);
	}
	free(steal(&parent));
}
