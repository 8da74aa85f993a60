/* SPDX-License-Identifier: Apache-2.0 */
/* The log of kernels. */
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
#include "guest/kernel-log.h"

#define MAX_SIZE (4 << 20) /* then the next to open it begins anew */

struct kernel_log {
	char *dir, *file;
};

struct kernel_log *kernel_log_new(const char *dir, const char *file)
{
	struct kernel_log *l = xcalloc(1, sizeof(*l));

	kernel_log_move(l, dir, file);
	return l;
}

void kernel_log_free(struct kernel_log *l)
{
	if (!l)
		return;
	free(l->dir);
	free(l->file);
	free(l);
}

void kernel_log_move(struct kernel_log *l, const char *dir, const char *file)
{
	free(l->dir);
	free(l->file);
	l->dir = xstrdup(dir);
	l->file = xstrdup(file);
}

char *kernel_log_path(const struct kernel_log *l)
{
	return xasprintf("%s/%s", l->dir, l->file);
}

/* Our own of a folder that may be another's: it is only renamed. */
static void rotate(const struct kernel_log *l)
{
	autofree char *path = kernel_log_path(l);
	autofree char *old = xasprintf("%s.1", path);

	if (rename(path, old) < 0)
		log_warn("cannot rename '%s': %m", path);
}

int kernel_log_open(const struct kernel_log *l)
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
		log_warn("kernels have no log: %s", err.msg);
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	return steal_fd(&fd);
}

void kernel_log_say(const struct kernel_log *l, const char *id,
		    const char *name, const char *msg)
{
	autojson json_t *j = json_object();
	autofree char *text = NULL, *line = NULL;
	autoclose int fd = kernel_log_open(l);
	char iso[CLOCK_ISO_LEN];

	clock_iso(clock_wall_ms(), iso);
	json_put(j, "ts", json_str(iso));
	json_put(j, "msg", json_str(msg));
	json_put(j, "kernel", json_str(id));
	json_put(j, "name", json_str(name));
	text = json_print(j);
	line = xasprintf("%s\n", text);
	/* A log that cannot be written has nobody to tell. */
	if (fd >= 0)
		(void)fs_write_all(fd, line, strlen(line));
}
