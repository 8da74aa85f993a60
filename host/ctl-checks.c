/* SPDX-License-Identifier: Apache-2.0 */
/* What can be told of this host without sandboxd. */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/ctl-checks.h"
#include "host/ctl-out.h"
#include "host/paths.h"

#define LOW_MEMORY (2ULL << 30) /* a guest has 1 GiB by default */
#define NO_MEMORY (512ULL << 20)
#define LOW_SPACE (8ULL << 30) /* an image takes 2 to 6 GiB */
#define NO_SPACE (1ULL << 30)

/*
 * A package is there if its file is.  Programs are sought in PATH and in the
 * folders of the administrator, which users often have not in theirs.
 */
static const struct package {
	const char *name; /* in Debian */
	const char *file; /* a program, or a pattern with a slash */
	const char *need;
} packages[] = {
	{ "qemu-system-x86", "qemu-system-x86_64", "runs the guests" },
	{ "qemu-utils", "qemu-img", "makes their disks" },
	{ "libvirt-daemon-driver-qemu",
	  "/usr/lib*/*/libvirt/connection-driver/libvirt_driver_qemu.so",
	  "starts QEMU" },
	{ "openssh-client", "ssh", "is what 'sandboxctl ssh' calls" },
	{ "mmdebstrap", "mmdebstrap", "builds images" },
	{ "e2fsprogs", "mke2fs", "builds images" },
	{ "busybox-static", "busybox", "is in the initrd of images" },
	{ "cpio", "cpio", "packs the initrd of images" },
	{ "zstd", "zstd", "packs the initrd of images" },
};

void checks_add(json_t *list, const char *name, const char *status,
		const char *detail, const char *remedy)
{
	json_t *j = json_object();

	json_put(j, "name", json_string(name));
	json_put(j, "status", json_string(status));
	json_put(j, "detail", json_str(detail));
	if (!str_empty(remedy))
		json_put(j, "remedy", json_str(remedy));
	json_array_append_new(list, j);
}

static void check_kvm(json_t *list)
{
	static const char slow[] =
		"guests run in software emulation: slower, and no security "
		"boundary";
	autofree char *detail = NULL;

	if (access("/dev/kvm", R_OK | W_OK) == 0) {
		checks_add(list, "/dev/kvm", "ok", "can be opened", NULL);
		return;
	}
	if (errno == ENOENT) {
		detail = xasprintf("is missing; %s", slow);
		checks_add(list, "/dev/kvm", "warn", detail,
			   "switch on virtualisation in the firmware, or "
			   "nesting in the cloud's settings; then modprobe "
			   "kvm_intel or kvm_amd");
		return;
	}
	detail = xasprintf("%s; %s", strerror(errno), slow);
	checks_add(list, "/dev/kvm", "warn", detail,
		   "add yourself to its group: adduser $USER kvm, then log in "
		   "again");
}

static unsigned long long memory_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

static const char *status_of(unsigned long long have, unsigned long long low,
			     unsigned long long none)
{
	return have < none ? "fail" : have < low ? "warn" : "ok";
}

static void check_memory(json_t *list)
{
	unsigned long long free_bytes = memory_available();
	char size[OUT_SIZE_LEN];
	autofree char *detail =
		xasprintf("%s available", out_size(free_bytes, size));

	checks_add(list, "memory", status_of(free_bytes, LOW_MEMORY, NO_MEMORY),
		   detail,
		   free_bytes < LOW_MEMORY ? "end other programs, or use "
					     "sandboxctl up --memory 512M"
					   : NULL);
}

/* The folder itself, or the nearest above it that exists. */
static char *existing(const char *path)
{
	char *p = xstrdup(path), *slash;

	while (access(p, F_OK) && (slash = strrchr(p, '/')) && slash != p)
		*slash = '\0';
	return p;
}

static void check_folder(json_t *list, const char *name, char *path /* takes */)
{
	autofree char *take = path, *dir = existing(path), *detail = NULL;
	autofree char *remedy = NULL;

	if (access(dir, W_OK | X_OK) == 0) {
		checks_add(list, name, "ok", path, NULL);
		return;
	}
	detail = xasprintf("%s: %s", dir, strerror(errno));
	remedy = xasprintf("make %s writable for you", dir);
	checks_add(list, name, "fail", detail, remedy);
}

bool checks_has_program(const char *name)
{
	const char *path = getenv("PATH");
	autofree char *all = xasprintf("%s:/usr/local/sbin:/usr/sbin:/sbin",
				       path ? path : "/usr/bin:/bin");
	char *rest = all, *dir;

	while ((dir = strsep(&rest, ":"))) {
		autofree char *file = xasprintf("%s/%s", dir, name);

		if (*dir && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static bool has_file(const char *pattern)
{
	glob_t g;
	int rc = glob(pattern, 0, NULL, &g);

	globfree(&g);
	return rc == 0;
}

static void check_packages(json_t *list)
{
	autobuf struct buf found = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
		const struct package *p = &packages[i];
		autofree char *detail = NULL, *remedy = NULL;

		if (*p->file == '/' ? has_file(p->file)
				    : checks_has_program(p->file)) {
			buf_addf(&found, "%s%s", found.len ? " " : "", p->name);
			continue;
		}
		detail = xasprintf("%s is missing: it %s", p->name, p->need);
		remedy = xasprintf("apt-get install %s", p->name);
		checks_add(list, "package", "fail", detail, remedy);
	}
	if (found.len)
		checks_add(list, "packages", "ok", found.p, NULL);
}

void checks_host(json_t *list)
{
	check_kvm(list);
	check_memory(list);
	check_packages(list);
	check_folder(list, "state", paths_state());
	check_folder(list, "images", paths_images());
	check_folder(list, "run", paths_run());
}

static void check_space(json_t *list, const char *name, char *path /* takes */)
{
	autofree char *take = path, *dir = existing(path), *detail = NULL;
	unsigned long long left;
	char size[OUT_SIZE_LEN];
	struct statvfs vfs;

	if (statvfs(dir, &vfs))
		return;
	left = (unsigned long long)vfs.f_bavail * vfs.f_frsize;
	detail = xasprintf("%s free below %s", out_size(left, size), dir);
	checks_add(list, name, status_of(left, LOW_SPACE, NO_SPACE), detail,
		   left < LOW_SPACE ? "make room: an image takes 2 to 6 GiB"
				    : NULL);
}

void checks_space(json_t *list)
{
	check_space(list, "space-images", paths_images());
	check_space(list, "space-state", paths_state());
}
