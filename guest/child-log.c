/* SPDX-License-Identifier: Apache-2.0 */
/* The log of processes that outlive guestd. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/util.h"
#include "guest/child-log.h"

#define MAX_SIZE (4 << 20) /* then the next to open it begins anew */

struct child_log {
	char *dir, *file;
};

struct child_log *child_log_new(const char *dir, const char *file)
{
	struct child_log *l = xcalloc(1, sizeof(*l));

	child_log_move(l, dir, file);
	return l;
}

void child_log_free(struct child_log *l)
{
	if (!l)
		return;
	free(l->dir);
	free(l->file);
	free(l);
}

void child_log_move(struct child_log *l, const char *dir, const char *file)
{
	free(l->dir);
	free(l->file);
	l->dir = xstrdup(dir);
	l->file = xstrdup(file);
}

char *child_log_path(const struct child_log *l)
{
	return xasprintf("%s/%s", l->dir, l->file);
}

/* Our own of a folder that may be another's: it is only renamed. */
static void rotate(const struct child_log *l)
{
	autofree char *path = child_log_path(l);
	autofree char *old = xasprintf("%s.1", path);

	if (rename(path, old) < 0)
		log_warn("cannot rename '%s': %m", path);
}

int child_log_open(const struct child_log *l)
{
	autoclose int fd = -1;
	struct sb_err err;
	struct stat st;

	if (fs_append_beneath(l->dir, l->file, &fd, &err) == 0 &&
	    fstat(fd, &st) == 0 && st.st_size >= MAX_SIZE) {
		util_close(&fd);
		fd = -1;
		rotate(l);
		fs_append_beneath(l->dir, l->file, &fd, &err);
	}
	if (fd < 0) {
		log_warn("there is no log: %s", err.msg);
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	return steal_fd(&fd);
}

void child_log_say(const struct child_log *l, const char *msg,
		   json_t *who /* takes */)
{
	autojson json_t *j = json_object();
	autofree char *text = NULL, *line = NULL;
	autoclose int fd = child_log_open(l);
	char iso[CLOCK_ISO_LEN];

	clock_iso(clock_wall_ms(), iso);
	json_put(j, "ts", json_str(iso));
	json_put(j, "msg", json_str(msg));
	json_object_update(j, who);
	json_decref(who);
	text = json_print(j);
	line = xasprintf("%s\n", text);
	/* A log that cannot be written has nobody to tell. */
	if (fd >= 0)
		(void)fs_write_all(fd, line, strlen(line));
}
