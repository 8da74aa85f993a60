/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon can tell of this host's fitness. */
#include "config.h"

#include <sys/statvfs.h>

#include "common/json.h"
#include "host/doctor.h"

#define LOW_SPACE (5ULL << 30)

static void add(json_t *list, const char *name, const char *status,
		const char *detail, const char *remedy)
{
	json_t *o = json_object();

	json_put(o, "name", json_string(name));
	json_put(o, "status", json_string(status));
	json_put(o, "detail", json_str(detail));
	if (!str_empty(remedy))
		json_put(o, "remedy", json_str(remedy));
	json_array_append_new(list, o);
}

static void check_accel(json_t *list, const struct daemon *d)
{
	autofree char *text = NULL;

	if (d->accel.kvm) {
		add(list, "accelerator", "ok", d->accel.reason, NULL);
		return;
	}
	text = xasprintf("software emulation (TCG), which is slow and no "
			 "security boundary: %s",
			 d->accel.reason);
	add(list, "accelerator", "warn", text,
	    "use a host with hardware virtualisation for untrusted code");
}

static void check_libvirt(json_t *list, struct daemon *d)
{
	unsigned int uid, gid;
	autofree char *text = NULL;
	struct vm_host *vm;
	struct sb_err err;

	if (daemon_vm(d, &vm, &err) < 0) {
		add(list, "libvirt", "fail", err.msg, err.hint);
		return;
	}
	add(list, "libvirt", "ok", vm_host_uri(vm), NULL);
	vm_host_ids(vm, &uid, &gid);
	text = xasprintf("QEMU runs as uid %u, gid %u", uid, gid);
	add(list, "qemu-user", uid ? "ok" : "warn", text,
	    uid ? NULL : "set qemu_user in sandboxd.yaml");
}

static void check_space(json_t *list, const char *name, const char *dir)
{
	unsigned long long left;
	struct statvfs vfs;
	autofree char *text = NULL;

	if (statvfs(dir, &vfs) < 0)
		return;
	left = (unsigned long long)vfs.f_bavail * vfs.f_frsize;
	text = xasprintf("%llu GiB free below %s", left >> 30, dir);
	add(list, name, left < LOW_SPACE ? "warn" : "ok", text,
	    left < LOW_SPACE ? "make room: an image takes 2 to 6 GiB" : NULL);
}

static void check_images(json_t *list, struct daemon *d)
{
	struct image img = { 0 };
	struct sb_err err;

	if (image_find(&d->images, "base", &img, &err) == 0)
		add(list, "image", "ok", img.disk, NULL);
	else
		add(list, "image", "warn", err.msg, err.hint);
	image_done(&img);
}

json_t *doctor_examine(struct daemon *d)
{
	json_t *list = json_array();

	check_accel(list, d);
	check_libvirt(list, d);
	check_images(list, d);
	check_space(list, "space-images", d->images_dir);
	check_space(list, "space-state", d->state_dir);
	return list;
}
