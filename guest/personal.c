/* SPDX-License-Identifier: Apache-2.0 */
/* Making this machine one particular sandbox. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/token.h"
#include "common/util.h"
#include "guest/auth.h"
#include "guest/account.h"
#include "guest/personal.h"

#define MAX_STATE (256 * 1024)
#define MAX_CONFIG (64 * 1024)
/* Below this the clock is left alone: the message took about as long. */
#define CLOCK_TOLERANCE_MS 250
#define OPTIONS_9P "trans=virtio,version=9p2000.L,msize=524288,cache=mmap"

#define PERSONAL_USER "user"

struct step {
	const struct message_personalise *p;
	const char *run_dir;
	json_t *receipt;
};

static int add_entropy(struct step *s, struct sb_err *err)
{
	size_t n = s->p->nentropy;
	autofree struct rand_pool_info *pool = xcalloc(1, sizeof(*pool) + n);
	autoclose int fd = -1;

	json_put(s->receipt, "entropy", json_integer(n));
	if (!n)
		return 0;
	pool->entropy_count = n * 8;
	pool->buf_size = n;
	memcpy(pool->buf, s->p->entropy, n);
	fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, pool) < 0 ||
	    ioctl(fd, RNDRESEEDCRNG) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot add to /dev/urandom: %m");
	return 0;
}

static int set_clock(struct step *s, struct sb_err *err)
{
	int64_t delta = s->p->time_ms - clock_wall_ms();
	struct timespec ts = { .tv_sec = s->p->time_ms / 1000,
			       .tv_nsec = s->p->time_ms % 1000 * 1000000 };

	if (!s->p->time_ms)
		return 0;
	json_put(s->receipt, "clock_delta_ms", json_integer(delta));
	if (llabs(delta) > CLOCK_TOLERANCE_MS &&
	    clock_settime(CLOCK_REALTIME, &ts) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot set the clock: %m");
	return 0;
}

static int write_text(const char *path, int flags, const char *text)
{
	autoclose int fd =
		open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | flags,
		     0644);

	if (fd < 0)
		return -1;
	return fs_write_all(fd, text, strlen(text));
}

/*
 * Replace a file's text.  In place if it cannot be renamed over: an image may
 * have mounted something on it.  Without a sync, which would cost more than all
 * the rest: every boot writes these files again.
 */
static int write_config(const char *path, const char *text, struct sb_err *err)
{
	autofree char *fresh = xasprintf("%s.new", path);

	if (write_text(fresh, O_CREAT, text) == 0 && rename(fresh, path) == 0)
		return 0;
	unlink(fresh);
	if (write_text(path, 0, text) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", path);
	return 0;
}

/* Append the lines of text that do not begin with prefix. */
static void add_other_lines(struct buf *b, const char *text, const char *prefix)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (!str_starts(text, prefix)) {
			buf_add(b, text, n);
			buf_adds(b, "\n");
		}
		text += n + (text[n] == '\n');
	}
}

static int set_hostname(struct step *s, struct sb_err *err)
{
	const char *name = s->p->hostname;
	autofree char *line = xasprintf("%s\n", name), *old = NULL;
	autobuf struct buf hosts = { 0 };

	if (sethostname(name, strlen(name)) < 0)
		return sb_fail(err, sb_code_of_errno(errno), "sethostname: %m");
	if (fs_read("/etc/hosts", MAX_CONFIG, &old, NULL, NULL) < 0)
		old = xstrdup("127.0.0.1\tlocalhost\n");
	add_other_lines(&hosts, old, "127.0.1.1");
	buf_addf(&hosts, "127.0.1.1\t%s\n", name);
	if (write_config("/etc/hostname", line, err) < 0 ||
	    write_config("/etc/hosts", hosts.p, err) < 0)
		return -1;
	json_put(s->receipt, "hostname", json_str(name));
	return 0;
}

/* The same sandbox keeps its machine id when it boots again. */
static int set_machine_id(struct step *s, struct sb_err *err)
{
	char hex[SHA256_HEX_LEN + 1], line[34];
	struct sha256 *h = sha256_new();

	sha256_add(h, "machine-id:", 11);
	sha256_add(h, s->p->id, strlen(s->p->id));
	sha256_finish(h, hex);
	memcpy(line, hex, 32);
	memcpy(line + 32, "\n", 2);
	if (write_config("/etc/machine-id", line, err) < 0)
		return -1;
	json_put(s->receipt, "machine_id", json_stringn(line, 32));
	return 0;
}

static void add_shell_quoted(struct buf *b, const char *s)
{
	buf_adds(b, "'");
	for (; *s; s++)
		if (*s == '\'')
			buf_adds(b, "'\\''");
		else
			buf_add(b, s, 1);
	buf_adds(b, "'");
}

/* Our lines come last in /etc/environment, after what the image has there. */
static int set_login_env(const char *lines, struct sb_err *err)
{
	static const char mark[] = "# The sandbox's environment:\n";
	autofree char *old = NULL;
	autobuf struct buf b = { 0 };
	char *ours;

	fs_read("/etc/environment", MAX_CONFIG, &old, NULL, NULL);
	ours = old ? strstr(old, mark) : NULL;
	if (ours)
		*ours = '\0';
	buf_adds(&b, old ? old : "");
	if (b.len && b.p[b.len - 1] != '\n')
		buf_adds(&b, "\n");
	buf_adds(&b, mark);
	buf_adds(&b, lines);
	return write_config("/etc/environment", b.p, err);
}

/*
 * Three forms: "env" for programs that read KEY=VALUE, "env.sh" for shells, and
 * /etc/environment, which pam_env gives to every login.  pam_env has no way to
 * say '#'; the names that it cannot carry are told in the receipt.
 */
static int set_env(struct step *s, struct sb_err *err)
{
	autofree char *file = xasprintf("%s/env", s->run_dir);
	autofree char *script = xasprintf("%s/env.sh", s->run_dir);
	autobuf struct buf plain = { 0 }, shell = { 0 }, login = { 0 };
	autojson json_t *left_out = json_array();
	const char *name;
	json_t *value;
	size_t n = 0;

	buf_adds(&plain, "");
	buf_adds(&shell, "");
	buf_adds(&login, "");
	json_object_foreach((json_t *)s->p->env, name, value) {
		const char *text = json_string_value(value);

		if (auth_is_secret(name))
			continue;
		n++;
		buf_addf(&plain, "%s=%s\n", name, text);
		buf_addf(&shell, "export %s=", name);
		add_shell_quoted(&shell, text);
		buf_adds(&shell, "\n");
		if (strchr(text, '#'))
			json_array_append_new(left_out, json_str(name));
		else
			buf_addf(&login, "%s=\"%s\"\n", name, text);
	}
	if (write_config(file, plain.p, err) < 0 ||
	    write_config(script, shell.p, err) < 0 ||
	    set_login_env(login.p, err) < 0)
		return -1;
	json_put(s->receipt, "env", json_integer((json_int_t)n));
	if (json_array_size(left_out))
		json_object_set(s->receipt, "env_not_in_logins", left_out);
	return 0;
}

bool personal_is_mounted(const char *path)
{
	struct mntent *m;
	bool found = false;
	FILE *f = setmntent("/proc/self/mounts", "re");

	while (f && !found && (m = getmntent(f)))
		found = strcmp(m->mnt_dir, path) == 0 &&
			strcmp(m->mnt_type, "9p") == 0;
	if (f)
		endmntent(f);
	return found;
}

static int mount_shares(struct step *s, struct sb_err *err)
{
	json_t *list = json_array();

	json_put(s->receipt, "mounts", list);
	for (size_t i = 0; i < s->p->nmounts; i++) {
		const struct message_mount *m = &s->p->mount[i];
		unsigned long flags = MS_NOSUID | MS_NODEV |
				      (m->readonly ? MS_RDONLY : 0);

		if (personal_is_mounted(m->path))
			log_info("'%s' is mounted already", m->path);
		else if (fs_mkdirs(m->path, 0755, err) < 0)
			return -1;
		else if (mount(m->tag, m->path, "9p", flags, OPTIONS_9P) < 0)
			return sb_fail(err, sb_code_of_errno(errno),
				       "cannot mount '%s': %m", m->path);
		json_array_append_new(list, json_pack("{s:s, s:b}", "path",
						      m->path, "ok", 1));
	}
	return 0;
}

/* The folder in which commands start is the user's. */
static int make_workspace(struct step *s, struct sb_err *err)
{
	struct account user;

	if (!s->p->workspace)
		return 0;
	if (fs_mkdirs(s->p->workspace, 0755, err) < 0)
		return -1;
	if (account_find(PERSONAL_USER, &user) == 0 &&
	    chown(s->p->workspace, user.uid, user.gid) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot give '%s' to the user: %m",
			       s->p->workspace);
	json_put(s->receipt, "workspace", json_str(s->p->workspace));
	return 0;
}

int personal_apply(const struct message_personalise *p, const char *run_dir,
		   json_t **ret_receipt, struct sb_err *err)
{
	static const struct {
		const char *name;
		int (*run)(struct step *s, struct sb_err *err);
	} steps[] = {
		/* clang-format off */
		{ "entropy",    add_entropy },
		{ "clock",      set_clock },
		{ "hostname",   set_hostname },
		{ "machine-id", set_machine_id },
		{ "env",        set_env },
		{ "mounts",     mount_shares },
		{ "workspace",  make_workspace },
		/* clang-format on */
	};
	autojson json_t *receipt = json_object();
	struct step s = { .p = p, .run_dir = run_dir, .receipt = receipt };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i].run(&s, err) < 0)
			return sb_wrap(err, "%s", steps[i].name);
	json_put(receipt, "token", json_true());
	*ret_receipt = steal(&receipt);
	return 0;
}

int personal_save(const char *run_dir, const json_t *msg, const json_t *receipt,
		  struct sb_err *err)
{
	autofree char *path = xasprintf("%s/personal.json", run_dir);
	autojson json_t *j =
		json_pack("{s:O, s:O}", "message", msg, "receipt", receipt);
	autofree char *text = json_print(j);

	return fs_write_atomic(path, text, strlen(text), 0600, err);
}

int personal_load(const char *run_dir, json_t **ret_msg, json_t **ret_receipt,
		  struct sb_err *err)
{
	autofree char *path = xasprintf("%s/personal.json", run_dir);
	autofree char *text = NULL;
	autojson json_t *j = NULL;
	size_t len;

	if (fs_read(path, MAX_STATE, &text, &len, err) < 0 ||
	    json_parse(text, len, &j, err) < 0)
		return -1;
	*ret_msg = json_incref(json_object_get(j, "message"));
	*ret_receipt = json_incref(json_object_get(j, "receipt"));
	return 0;
}
