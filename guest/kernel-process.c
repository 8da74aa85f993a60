/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a kernel. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/fdwatch.h"
#include "guest/child-log.h"
#include "guest/kernel-ports.h"
#include "guest/kernel-private.h"
#include "guest/session.h"

#define MAX_ARGS 256
#define MAX_VMSTAT 65536
#define MAX_STATE (16 * 1024 * 1024) /* more than a body with variables has */
#define HOLD_S "30"

/* Of the whole machine, and so of all memory groups in it. */
static unsigned long long count_ooms(void)
{
	autofree char *text = NULL;
	const char *p;

	if (fs_read("/proc/vmstat", MAX_VMSTAT, &text, NULL, NULL) < 0)
		return 0;
	p = strstr(text, "\noom_kill ");
	return p ? strtoull(p + 10, NULL, 10) : 0;
}

static void explain(const struct kernel_process *p, int status,
		    char **ret_reason, char **ret_message)
{
	if (WIFEXITED(status)) {
		*ret_reason = xasprintf("exit %d", WEXITSTATUS(status));
		*ret_message = xasprintf("the kernel ended with exit code %d",
					 WEXITSTATUS(status));
	} else if (WTERMSIG(status) == SIGKILL && count_ooms() > p->ooms) {
		*ret_reason = xstrdup("oom");
		*ret_message = xstrdup("the kernel was killed as there was no "
				       "memory left (oom)");
	} else {
		*ret_reason = xasprintf("signal %d", WTERMSIG(status));
		*ret_message = xasprintf(
			"the kernel was ended by signal %d (SIG%s)",
			WTERMSIG(status), sigabbrev_np(WTERMSIG(status)));
	}
}

void kernel_process_forget(struct kernel *k)
{
	struct fdwatch *w = steal(&k->process.watch);

	if (!w)
		return;
	fdwatch_free(w);
	kernel_unref(k);
}

/*
 * The leader has ended.  While it is not reaped its number belongs to its
 * session, so this is the time to end what it left behind.
 */
static void on_exit_of(void *arg)
{
	struct kernel *k = arg;
	struct kernel_process *p = &k->process;
	char *reason, *message;
	int wait_status = 0;

	if (k->state == KERNEL_STOPPING || k->state == KERNEL_RESTARTING)
		session_signal(p->pid, SIGKILL);
	if (p->child && waitpid(p->pid, &wait_status, 0) == p->pid) {
		explain(p, wait_status, &reason, &message);
	} else {
		reason = xstrdup("unknown");
		message = xstrdup("the kernel ended; it is not known why");
	}
	kernel_process_forget(k);
	p->pid = 0;
	kernel_process_ended(k, reason, message);
}

static int watch(struct kernel *k, struct sb_err *err)
{
	struct fdwatch *w = fdwatch_new_pid(gateway_config(k->gw)->loop,
					    k->process.pid, on_exit_of, k, err);

	if (!w)
		return -1;
	kernel_ref(k);
	k->process.watch = w;
	return 0;
}

static int open_link(struct kernel *k, struct sb_err *err)
{
	autofree char *prefix = xasprintf("%s/s", k->dir);

	zlink_close(steal(&k->link));
	k->heard = k->answered = false;
	return zlink_open(gateway_config(k->gw)->loop, prefix, k->identity,
			  &kernel_zlink_ops, k, &k->link, err);
}

/* Beside the kernel's folder, where the sandbox's user cannot write. */
char *kernel_state_file(const struct kernel *k)
{
	return xasprintf("%s.json", k->dir);
}

static int write_json(const char *path, json_t *j /* takes */,
		      struct sb_err *err)
{
	autofree char *text = json_print(j);

	json_decref(j);
	return fs_write_atomic(path, text, strlen(text), 0600, err);
}

/* Socket names of an earlier process would not be bound again. */
static void remove_sockets(const struct kernel *k)
{
	for (int i = 1; i <= 5; i++) {
		autofree char *path = xasprintf("%s/s-%d", k->dir, i);

		unlink(path);
	}
}

static int write_connection(const struct kernel *k, const struct spawn_as *as,
			    struct sb_err *err)
{
	autofree char *ip = xasprintf("%s/s", k->dir);
	autofree char *path = xasprintf("%s/connection.json", k->dir);
	struct sockaddr_un sa;

	if (strlen(ip) + 3 > sizeof(sa.sun_path))
		return sb_fail(err, SB_INVALID,
			       "the folder '%s' has too long a name for "
			       "sockets in it",
			       k->dir);
	remove_sockets(k);
	if (write_json(
		    path,
		    json_pack(
			    "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:s}",
			    "transport", "ipc", "ip", ip, "shell_port", 1,
			    "control_port", 2, "stdin_port", 3, "iopub_port", 4,
			    "hb_port", 5, "key", k->key, "signature_scheme",
			    "hmac-sha256", "kernel_name", k->name),
		    err) < 0)
		return -1;
	return spawn_as_own(as, path, err);
}

int kernel_process_save(const struct kernel *k, struct sb_err *err)
{
	autofree char *path = kernel_state_file(k);
	json_t *j = json_object(), *ports = kernel_ports_save(k);

	json_put(j, "name", json_str(k->name));
	json_put(j, "pid", json_integer(k->process.pid));
	json_put(j, "birth", json_integer((json_int_t)k->process.birth));
	json_put(j, "key", json_str(k->key));
	json_put(j, "identity", json_str(k->identity));
	json_put(j, "cwd", json_str(k->cwd));
	json_put(j, "interrupt_by_message",
		 json_boolean(k->interrupt_by_message));
	json_put(j, "warm", json_boolean(k->warm));
	json_put(j, "shared", json_boolean(k->shared));
	json_put(j, "env", json_incref(k->env));
	if (ports)
		json_put(j, "ports", ports);
	return write_json(path, j, err);
}

/* The folder is the account's: the kernel makes its sockets there. */
static int make_folder(const struct kernel *k, const struct spawn_as *as,
		       struct sb_err *err)
{
	autofree char *parent = gateway_folder(k->gw, "");

	if (fs_mkdirs(parent, 0711, err) < 0 ||
	    fs_mkdirs(k->dir, 0700, err) < 0)
		return -1;
	return spawn_as_own(as, k->dir, err);
}

static char *fill_in(const char *arg, const struct kernel *k,
		     const struct kernelspec *spec)
{
	static const char file[] = "{connection_file}",
			  dir[] = "{resource_dir}";
	autobuf struct buf b = { 0 };

	while (*arg) {
		if (str_starts(arg, file)) {
			buf_addf(&b, "%s/connection.json", k->dir);
			arg += sizeof(file) - 1;
		} else if (str_starts(arg, dir)) {
			buf_adds(&b, spec->dir);
			arg += sizeof(dir) - 1;
		} else {
			buf_add(&b, arg++, 1);
		}
	}
	buf_adds(&b, "");
	return steal(&b.p);
}

static int run(struct kernel *k, const struct spawn_as *as,
	       const struct kernelspec *spec, const char *const argv[],
	       struct sb_err *err)
{
	const struct gateway_config *cfg = gateway_config(k->gw);
	autoclose int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	autoclose int out = -1;
	int fd[3];

	/* A file, and no pipe: the kernel may outlive us. */
	kernel_log_say(k, "the kernel starts");
	out = child_log_open(cfg->log);
	if (in < 0 || out < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open /dev/null: %m");
	fd[0] = in;
	fd[1] = fd[2] = out;
	k->process.ooms = count_ooms();
	if (spawn_fds(as, argv, cfg->workspace(cfg->arg),
		      str_empty(k->cwd) ? NULL : k->cwd, fd, &k->process.pid,
		      err) < 0)
		return sb_wrap(err, "kernel '%s'", k->name);
	k->process.child = true;
	k->process.birth = fdwatch_birth(k->process.pid);
	return 0;
}

static int run_spec(struct kernel *k, const struct spawn_as *as,
		    const struct kernelspec *spec, struct sb_err *err)
{
	const json_t *list = json_object_get(spec->spec, "argv"), *arg;
	char *argv[MAX_ARGS + 1] = { NULL };
	size_t i, n = 0;
	int r;

	json_array_foreach(list, i, arg)
		if (n < MAX_ARGS)
			argv[n++] = fill_in(json_string_value(arg), k, spec);
	if (!strchr(argv[0], '/')) {
		autofree char *name = argv[0];

		argv[0] = spawn_as_find(as, name);
		r = argv[0] ? 0
			    : sb_fail(err, SB_MISSING,
				      "kernel '%s' needs '%s', which is not "
				      "installed",
				      k->name, name);
	} else {
		r = 0;
	}
	if (r == 0)
		r = run(k, as, spec, (const char *const *)argv, err);
	for (i = 0; i < n; i++)
		free(argv[i]);
	return r;
}

static void set_env(struct spawn_as *as, const struct kernelspec *spec)
{
	const char *name, *path = spawn_as_getenv(as, "PATH");
	autofree char *with = NULL;
	json_t *value;

	if (spec->path) {
		with = xasprintf("%s:%s", spec->path, path ? path : "");
		spawn_as_setenv(as, "PATH", with);
	}
	/* Our own keeps what it has to say while there is no guestd. */
	spawn_as_setenv(as, "SANDBOX_KERNEL_HOLD", HOLD_S);
	json_object_foreach(json_object_get(spec->spec, "env"), name, value)
		if (json_is_string(value) && *name && !strchr(name, '='))
			spawn_as_setenv(as, name, json_string_value(value));
}

/* A process that nobody would ever hear of again must not stay. */
static void undo_run(struct kernel *k)
{
	struct kernel_process *p = &k->process;

	session_signal(p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	kernel_process_forget(k);
	p->pid = 0;
}

static int start_as(struct kernel *k, struct spawn_as *as,
		    const struct kernelspec *spec, struct sb_err *err)
{
	free(k->name);
	k->name = xstrdup(spec->name);
	k->interrupt_by_message =
		strcmp(json_str_or(spec->spec, "interrupt_mode", "signal"),
		       "message") == 0;
	set_env(as, spec);
	if (make_folder(k, as, err) < 0 || write_connection(k, as, err) < 0 ||
	    open_link(k, err) < 0 || run_spec(k, as, spec, err) < 0)
		return -1;
	if (watch(k, err) == 0 && kernel_process_save(k, err) == 0)
		return 0;
	undo_run(k);
	return -1;
}

int kernel_process_start(struct kernel *k, struct sb_err *err)
{
	const struct gateway_config *cfg = gateway_config(k->gw);
	struct kernelspec spec = { 0 };
	struct kernelspec_paths where;
	autospawnas struct spawn_as *as = NULL;
	int r;

	if (cfg->make_as(cfg->arg, k->env, &as, err) < 0)
		return -1;
	where = (struct kernelspec_paths){ as, cfg->workspace(cfg->arg),
					   cfg->specs };
	if (kernelspec_find(&where, k->name, &spec, err) < 0)
		return -1;
	r = start_as(k, as, &spec, err);
	kernelspec_done(&spec);
	return r;
}

void kernel_process_note(const struct kernel *k)
{
	struct sb_err err;

	if (kernel_process_save(k, &err) < 0)
		log_warn("kernel '%s': %s", k->id, err.msg);
}

void kernel_share(struct kernel *k)
{
	k->shared = true;
	kernel_process_note(k);
}

static int load_state(struct kernel *k, json_t **ret_ports, struct sb_err *err)
{
	autofree char *path = kernel_state_file(k), *text = NULL;
	autojson json_t *j = NULL;
	const char *identity;
	size_t len;

	if (fs_read(path, MAX_STATE, &text, &len, err) < 0 ||
	    json_parse(text, len, &j, err) < 0)
		return -1;
	k->name = xstrdup(json_str_or(j, "name", ""));
	k->cwd = xstrdup0(json_str_or(j, "cwd", NULL));
	k->env = json_incref(json_object_get(j, "env"));
	k->interrupt_by_message =
		json_bool_or(j, "interrupt_by_message", false);
	k->warm = json_bool_or(j, "warm", false);
	k->shared = json_bool_or(j, "shared", false);
	k->process.pid = (pid_t)json_int_or(j, "pid", 0);
	k->process.birth = (uint64_t)json_int_or(j, "birth", 0);
	snprintf(k->key, sizeof(k->key), "%s", json_str_or(j, "key", ""));
	identity = json_str_or(j, "identity", NULL);
	if (identity)
		snprintf(k->identity, sizeof(k->identity), "%s", identity);
	*ret_ports = json_incref(json_object_get(j, "ports"));
	return 0;
}

int kernel_process_adopt(struct kernel *k, struct sb_err *err)
{
	autojson json_t *ports = NULL;

	if (load_state(k, &ports, err) < 0)
		return -1;
	if (k->process.pid <= 1 || !k->process.birth ||
	    fdwatch_birth(k->process.pid) != k->process.birth)
		return sb_fail(err, SB_NOTFOUND, "kernel '%s' has ended",
			       k->id);
	k->process.ooms = count_ooms();
	if (watch(k, err) < 0 || open_link(k, err) < 0)
		return -1;
	kernel_ports_restore(k, ports);
	return 0;
}

void kernel_process_kill(struct kernel *k)
{
	if (k->process.pid > 1 && k->process.watch)
		session_signal(k->process.pid, SIGKILL);
}
