/* SPDX-License-Identifier: Apache-2.0 */
/* The process that started the kernel. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/util.h"
#include "guest/kernel/launcher.h"

/* How far it may be away. */
#define MAX_ANCESTORS 32

static pid_t parent_of(pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/stat", pid), *line = NULL;
	const char *p;
	int ppid = 0;

	if (fs_read_line(path, &line, NULL) < 0)
		return 0;
	p = strrchr(line, ')'); /* the name may have anything in it */
	if (!p || sscanf(p + 1, " %*c %d", &ppid) != 1)
		return 0;
	return ppid;
}

int launcher_watch(int *ret_fd, struct sb_err *err)
{
	const char *text = getenv("JPY_PARENT_PID");
	long long pid;
	pid_t up = getppid();

	*ret_fd = -1;
	if (str_empty(text) || parse_num(text, 2, INT32_MAX, &pid) < 0)
		return 0;
	*ret_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (*ret_fd < 0 && errno == ESRCH) {
		sb_fail(err, SB_CONFLICT,
			"the process that started the kernel (JPY_PARENT_PID=%s) has ended",
			text);
		return sb_hint(err, "unset JPY_PARENT_PID to start without it");
	}
	for (int i = 0; i < MAX_ANCESTORS && up > 1 && up != pid; i++)
		up = parent_of(up);
	if (up == pid)
		return 0;
	util_close(ret_fd);
	*ret_fd = -1;
	return 0;
}
