/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a session.  There is no system call for it: a shell puts
 * each of its jobs into a group of its own.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/session.h"

/* Whether the process at /proc/NAME is alive and of the session. */
static bool is_member(int proc_fd, const char *name, pid_t sid)
{
	autofree char *path = xasprintf("%s/stat", name);
	autoclose int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	char text[512], state;
	const char *rest;
	ssize_t n;
	int session;

	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* "PID (NAME) STATE PPID PGRP SESSION …"; NAME may have anything. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1, " %c %*d %*d %d", &state, &session) != 2)
		return false;
	return session == sid && state != 'Z' && state != 'X';
}

int session_signal(pid_t sid, int signum)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	long long pid;
	int n = 0;

	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		if (parse_num(e->d_name, 1, INT32_MAX, &pid) < 0 ||
		    !is_member(dirfd(dir), e->d_name, sid))
			continue;
		n++;
		if (signum)
			kill((pid_t)pid, signum);
	}
	closedir(dir);
	return n;
}
