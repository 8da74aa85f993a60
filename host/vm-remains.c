/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon that is killed in the middle of a libvirt call leaves: a QEMU
 * that libvirt had started and not yet written down, or one that it was only
 * asking for its capabilities.  The next libvirt knows neither of them.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "host/vm-private.h"

#define MAX_CMDLINE (256 * 1024)
#define LATE_TRIES 10
#define LATE_MS 100

/* Whether a process is a QEMU that has an argument which begins so. */
static bool is_qemu_with(const char *pid, const char *argument)
{
	autofree char *path = xasprintf("/proc/%s/cmdline", pid);
	autofree char *text = NULL;
	const char *slash;
	size_t len, at;

	if (fs_read(path, MAX_CMDLINE, &text, &len, NULL) < 0)
		return false;
	slash = strrchr(text, '/');
	if (!str_starts(slash ? slash + 1 : text, "qemu-system"))
		return false;
	for (at = 0; at < len; at += strlen(text + at) + 1)
		if (str_starts(text + at, argument))
			return true;
	return false;
}

/* The pidfd keeps the number from being another process by the time. */
static void kill_pid(const char *pid, const char *argument)
{
	autoclose int fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);

	if (fd < 0 || !is_qemu_with(pid, argument))
		return;
	log_warn("ending QEMU %s, which was left behind", pid);
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0)
		log_warn("cannot end process %s: %m", pid);
}

static void kill_all(const char *argument)
{
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d)))
		if (strspn(e->d_name, "0123456789") == strlen(e->d_name) &&
		    is_qemu_with(e->d_name, argument))
			kill_pid(e->d_name, argument);
	if (d)
		closedir(d);
}

/*
 * A child of the daemon that was killed may still be on its way to become a
 * QEMU, and cannot be told from others until it is one.
 */
void vm_end_probes(const char *dir, bool wait)
{
	autofree char *monitor = xasprintf("unix:%s/lib/qemu/qmp-", dir);

	kill_all(monitor);
	for (int i = 0; wait && i < LATE_TRIES; i++) {
		usleep(LATE_MS * 1000);
		kill_all(monitor);
	}
}

void vm_end_machine(const char *name)
{
	autofree char *argument = xasprintf("guest=%s,", name);

	kill_all(argument);
}

/* How many entries of dir match; they are removed if that is asked for. */
static size_t match(const char *dir, const char *pattern, bool remove)
{
	struct dirent *e;
	size_t n = 0;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		autofree char *path = xasprintf("%s/%s", dir, e->d_name);

		if (fnmatch(pattern, e->d_name, 0) != 0)
			continue;
		n++;
		if (remove)
			fs_remove_tree(path, NULL);
	}
	if (d)
		closedir(d);
	return n;
}

bool vm_has_remains(const char *dir)
{
	autofree char *run = xasprintf("%s/run/qemu", dir);

	return match(run, "sandbox-*.pid", false) > 0;
}

void vm_forget(const struct vm_host *h, const char *name)
{
	autofree char *lib = xasprintf("%s/lib/qemu", h->dir);
	autofree char *run = xasprintf("%s/run/qemu", h->dir);
	autofree char *log = xasprintf("%s/log/qemu", h->dir);
	autofree char *folder = xasprintf("domain-*-%s", name);
	autofree char *file = xasprintf("%s.*", name);

	match(lib, folder, true);
	match(run, file, true);
	match(log, file, true);
}
