/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's files, and the machine and the guest that they describe. */
#include "config.h"

#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/boot-files.h"
#include "host/proc.h"
#include "host/spec-list.h"
#include "ssh/ssh.h"

#define GUEST_UID 1000
#define QEMU_IMG_MS (60 * 1000)
/* A disk grows as the guest writes; with less free space, it soon cannot. */
#define MIN_FREE (256ULL << 20)

struct ids {
	unsigned int uid, gid;
};

static int make_folder(const struct sandbox *sb, const char *name, mode_t mode,
		       const struct ids *ids, struct sb_err *err)
{
	autofree char *path = sandbox_path(sb, name);

	if (fs_mkdirs(path, mode, err) < 0)
		return -1;
	if (chmod(path, mode) < 0 ||
	    (ids && chown(path, ids->uid, ids->gid) < 0))
		return sb_fail(err, SB_SYSTEM, "cannot set owner of '%s': %m",
			       path);
	return 0;
}

/* A file that QEMU (ids not NULL) or only we can read. */
static int write_file(const struct sandbox *sb, const char *name,
		      const char *text, mode_t mode, const struct ids *ids,
		      struct sb_err *err)
{
	autofree char *path = sandbox_path(sb, name);

	if (fs_write_atomic(path, text, strlen(text), mode, err) < 0)
		return -1;
	if (ids && chown(path, ids->uid, ids->gid) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot set owner of '%s': %m",
			       path);
	return 0;
}

static int make_keys(const struct sandbox *sb, const struct ids *ids,
		     struct sb_err *err)
{
	struct ssh_keypair user = { 0 }, host = { 0 };
	autofree char *user_line = NULL, *host_line = NULL;
	int rc = -1;

	if (ssh_keypair_new(&user, err) < 0 || ssh_keypair_new(&host, err) < 0)
		goto out;
	user_line = xasprintf("%s\n", user.public_line);
	host_line = xasprintf("%s\n", host.public_line);
	if (write_file(sb, "ssh/id_ed25519", user.private_pem, 0600, NULL,
		       err) == 0 &&
	    write_file(sb, "ssh/id_ed25519.pub", user_line, 0644, NULL, err) ==
		    0 &&
	    write_file(sb, "ssh/host_key.pub", host_line, 0644, NULL, err) ==
		    0 &&
	    write_file(sb, "vm/host_key", host.private_pem, 0600, ids, err) ==
		    0 &&
	    write_file(sb, "vm/authorized_keys", user_line, 0600, ids, err) ==
		    0)
		rc = 0;
out:
	ssh_keypair_done(&user);
	ssh_keypair_done(&host);
	return rc;
}

static int make_disk(const struct sandbox *sb, const struct image *img,
		     const struct ids *ids, struct sb_err *err)
{
	autofree char *path = sandbox_path(sb, "vm/disk.qcow2");
	autofree char *size = xasprintf("%llu", sb->spec.disk);
	const char *argv[] = { "qemu-img", "create", "-q",    "-f",
			       "qcow2",	   "-F",     "qcow2", "-b",
			       img->disk,  path,     size,    NULL };
	struct proc p = { .argv = argv,
			  .cancel = sb->cancel,
			  .timeout_ms = QEMU_IMG_MS };

	if (sb->spec.disk < img->size) {
		sb_fail(err, SB_INVALID,
			"disk of %llu MiB is smaller than image '%s' (%llu MiB)",
			sb->spec.disk >> 20, img->name, img->size >> 20);
		return sb_hint(err, "ask for --disk %lluM or more",
			       img->size >> 20);
	}
	if (proc_run(&p, err) < 0)
		return sb_wrap(err, "cannot make a disk on image '%s'",
			       img->name);
	if (chown(path, ids->uid, ids->gid) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot set owner of '%s': %m",
			       path);
	return 0;
}

/*
 * The share belongs to the guest's user.  QEMU maps owners to extended
 * attributes; where the file system has none, everybody in the guest may write.
 */
static int make_share(const struct sandbox *sb, const struct ids *ids,
		      struct sb_err *err)
{
	autofree char *path = sandbox_path(sb, "share");
	uint32_t uid = htole32(GUEST_UID), mode = htole32(S_IFDIR | 0755);

	if (make_folder(sb, "share", 0755, ids, err) < 0)
		return -1;
	if (setxattr(path, "user.virtfs.uid", &uid, sizeof(uid), 0) == 0 &&
	    setxattr(path, "user.virtfs.gid", &uid, sizeof(uid), 0) == 0 &&
	    setxattr(path, "user.virtfs.mode", &mode, sizeof(mode), 0) == 0)
		return 0;
	if (chmod(path, 0777) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot open up '%s': %m", path);
	return 0;
}

/* Whether the user who runs QEMU may use a folder; as that user, this thread. */
static bool usable_by(const char *path, int mode, const struct ids *ids)
{
	int gid = setfsgid(ids->gid), uid = setfsuid(ids->uid);
	bool usable = faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;

	setfsuid(uid);
	setfsgid(gid);
	return usable;
}

static int check_mounts(const struct sandbox *sb, const struct ids *ids,
			struct sb_err *err)
{
	for (size_t i = 0; i < sb->spec.nmounts; i++) {
		const struct spec_mount *m = &sb->spec.mounts[i];
		struct stat st;

		if (stat(m->host, &st) < 0 || !S_ISDIR(st.st_mode)) {
			sb_fail(err, SB_NOTFOUND,
				"cannot mount '%s': no such folder", m->host);
			return sb_hint(err, "create it first: mkdir -p '%s'",
				       m->host);
		}
		if (usable_by(m->host, R_OK | X_OK | (m->readonly ? 0 : W_OK),
			      ids))
			continue;
		sb_fail(err, SB_DENIED,
			"cannot mount '%s': QEMU's user (uid %u) may not %s it",
			m->host, ids->uid, m->readonly ? "read" : "write to");
		return sb_hint(err, "setfacl -m u:%u:rwx '%s'%s", ids->uid,
			       m->host,
			       m->readonly ? "" : ", or mount it with :ro");
	}
	return 0;
}

static int check_space(const struct sandbox *sb, struct sb_err *err)
{
	struct statvfs vfs;

	if (statvfs(sb->dir, &vfs) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot look at '%s': %m",
			       sb->dir);
	if ((unsigned long long)vfs.f_bavail * vfs.f_frsize >= MIN_FREE)
		return 0;
	sb_fail(err, SB_NOSPACE, "less than %llu MiB are free below '%s'",
		MIN_FREE >> 20, sb->dir);
	return sb_hint(err, "remove sandboxes (sandboxctl ls) or images "
			    "(sandboxctl image list), or make room");
}

int boot_make_files(struct sandbox *sb, const struct image *img,
		    const struct vm_host *vm, struct sb_err *err)
{
	autofree char *token = xasprintf("%s\n", sb->token);
	struct ids ids;

	vm_host_ids(vm, &ids.uid, &ids.gid);
	if (check_space(sb, err) < 0 || check_mounts(sb, &ids, err) < 0 ||
	    make_folder(sb, "ssh", 0700, NULL, err) < 0 ||
	    make_folder(sb, "vm", 0700, &ids, err) < 0 ||
	    make_share(sb, &ids, err) < 0 ||
	    write_file(sb, "token", token, 0600, NULL, err) < 0 ||
	    make_keys(sb, &ids, err) < 0)
		return -1;
	return make_disk(sb, img, &ids, err);
}

int boot_write_known_hosts(const struct sandbox *sb, struct sb_err *err)
{
	autofree char *pub = sandbox_path(sb, "ssh/host_key.pub");
	autofree char *line = NULL, *text = NULL;

	if (fs_read_line(pub, &line, err) < 0)
		return -1;
	text = xasprintf("[%s]:%d %s\n", sandbox_address(sb),
			 sandbox_port_of(sb, "ssh"), line);
	return write_file(sb, "ssh/known_hosts", text, 0644, NULL, err);
}

static void add_shares(const struct sandbox *sb, const char *share,
		       struct vm_spec *v)
{
	static const char *const tags[] = { "mount1", "mount2", "mount3",
					    "mount4" };

	v->shares[v->nshares++] =
		(struct vm_share){ .tag = "shared", .path = share };
	for (size_t i = 0; i < sb->spec.nmounts; i++)
		v->shares[v->nshares++] = (struct vm_share){
			.tag = tags[i],
			.path = sb->spec.mounts[i].host,
			.readonly = sb->spec.mounts[i].readonly,
		};
}

int boot_start_machine(const struct sandbox *sb, struct vm_host *vm,
		       struct sb_err *err)
{
	autofree char *domain = sandbox_domain(sb);
	autofree char *disk = sandbox_path(sb, "vm/disk.qcow2");
	autofree char *serial = sandbox_path(sb, "vm/serial.log");
	autofree char *control = sandbox_path(sb, "vm/control.sock");
	autofree char *host_key = sandbox_path(sb, "vm/host_key");
	autofree char *keys = sandbox_path(sb, "vm/authorized_keys");
	autofree char *share = sandbox_path(sb, "share");
	struct vm_spec v = { .name = domain,
			     .uuid = sb->uuid,
			     .kvm = sb->kvm,
			     .cpus = sb->spec.cpus,
			     .memory = sb->spec.memory,
			     .disk = disk,
			     .kernel = sb->image.kernel,
			     .initrd = sb->image.initrd,
			     .cmdline = sb->image.cmdline,
			     .serial_log = serial,
			     .control = control,
			     .durable = sb->spec.preserve,
			     .net_open = sb->spec.network == SPEC_NET_OPEN,
			     .ssh_host_key = host_key,
			     .authorized_keys = keys };

	add_shares(sb, share, &v);
	for (size_t i = 0; i < sb->nports; i++)
		v.forwards[v.nforwards++] =
			(struct vm_forward){ .host_addr = sb->spec.listen,
					     .host_port = sb->ports[i].host,
					     .guest_port = sb->ports[i].guest };
	return vm_start(vm, &v, err);
}

static json_t *mount_json(const char *tag, const char *path, bool readonly)
{
	json_t *m = json_object();

	json_put(m, "tag", json_str(tag));
	json_put(m, "path", json_str(path));
	json_put(m, "readonly", json_boolean(readonly));
	return m;
}

json_t *boot_personal_json(const struct sandbox *sb)
{
	const struct spec *s = &sb->spec;
	json_t *o = json_object(), *env = json_object(), *mounts = json_array();
	char entropy[2 * 32 + 1];

	random_hex(entropy, 32);
	json_put(o, "type", json_string("personalise"));
	json_put(o, "id", json_string(sb->id));
	json_put(o, "token", json_string(sb->token));
	json_put(o, "hostname", json_str(sb->name));
	for (size_t i = 0; i < s->env.n; i++)
		json_put(env, s->env.v[i].name, json_str(s->env.v[i].value));
	json_put(o, "env", env);
	json_array_append_new(mounts,
			      mount_json("shared", s->shared_dir, false));
	for (size_t i = 0; i < s->nmounts; i++) {
		autofree char *tag = xasprintf("mount%zu", i + 1);

		json_array_append_new(mounts,
				      mount_json(tag, s->mounts[i].guest,
						 s->mounts[i].readonly));
	}
	json_put(o, "mounts", mounts);
	json_put(o, "workspace", json_str(s->workspace));
	json_put(o, "server_log", json_str(s->server_log));
	json_put(o, "server_port", json_integer(s->server_port));
	json_put(o, "origins", spec_write_origins(s));
	json_put(o, "display", json_str(s->display));
	json_put(o, "jupyter_log", json_str(s->jupyter_log));
	json_put(o, "jupyter_port", json_integer(s->jupyter_port));
	json_put(o, "max_kernels", json_integer(s->max_kernels));
	json_put(o, "kernel_idle", json_integer(s->kernel_idle));
	json_put(o, "warm_kernel", json_boolean(s->warm_kernel));
	json_put(o, "debug", json_boolean(s->debug));
	json_put(o, "entropy", json_string(entropy));
	json_put(o, "time_ms", json_integer(clock_wall_ms()));
	return o;
}
