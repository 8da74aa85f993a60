/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandboxctl-ssh: what sandboxctl becomes to work inside a guest over SSH (see
 * ctl-guest.h).  Not for people to call: it is told all by its arguments.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-copy.h"
#include "host/ctl-guest.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-main.h"
#include "host/ctl-out.h"
#include "host/ctl-sink.h"
#include "ssh/ssh.h"

#define GUEST_ENV "/run/sandbox/env.sh"
#define CONNECT_MS 30000

struct values {
	struct guest_opts guest; /* first: GUEST_OPTS */
	const char *host, *key_file, *host_key;
	long long port;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "host", .arg = "ADDR", .kind = OPT_STR, .store = AT(host) },
	{ .name = "port", .arg = "N", .kind = OPT_NUM, .store = AT(port) },
	{ .name = "key-file",
	  .arg = "FILE",
	  .kind = OPT_STR,
	  .store = AT(key_file) },
	{ .name = "host-key",
	  .arg = "KEY",
	  .kind = OPT_STR,
	  .store = AT(host_key) },
	{ .name = "workspace",
	  .arg = "DIR",
	  .kind = OPT_STR,
	  .store = offsetof(struct guest_opts, workspace) },
	{ .name = "tty", .store = offsetof(struct guest_opts, tty) },
	{ .name = "interactive", .store = offsetof(struct guest_opts, input) },
	GUEST_OPTS,
	{ 0 },
};

static int open_session(const struct values *v, int cancel_fd, struct ssh **ret,
			struct sb_err *err)
{
	const struct ssh_target t = {
		.host = v->host,
		.port = v->port,
		.user = v->guest.user,
		.key_file = v->key_file,
		.host_key = v->host_key,
		.timeout_ms = CONNECT_MS,
		.cancel_fd = cancel_fd,
	};

	return ssh_open(&t, ret, err);
}

static void add_quoted(struct buf *b, const char *word)
{
	autofree char *q = ssh_quote(word);

	buf_adds(b, q);
}

/*
 * The command line for the guest's shell: folder, variables, and the words,
 * each quoted, so that they arrive as they are.  A foreign image may have no
 * workspace; a folder that was asked for must exist.  guestd leaves the
 * sandbox's environment in env.sh, for not every sshd reads /etc/environment.
 */
static int build_command(const struct guest_opts *o, char *const *argv,
			 struct buf *ret, struct sb_err *err)
{
	buf_adds(ret, "[ ! -r " GUEST_ENV " ] || . " GUEST_ENV "; ");
	if (o->dir) {
		buf_adds(ret, "cd ");
		add_quoted(ret, o->dir);
		buf_adds(ret, " && ");
	} else {
		buf_adds(ret, "cd ");
		add_quoted(ret, o->workspace ? o->workspace : GUEST_WORKSPACE);
		buf_adds(ret, " 2>/dev/null; ");
	}
	for (size_t i = 0; i < o->env.n; i++) {
		const char *pair = o->env.v[i];
		size_t len = strcspn(pair, "=");

		if (guest_check_env(pair, err) < 0)
			return -1;
		buf_adds(ret, "export ");
		buf_add(ret, pair, len + 1);
		add_quoted(ret, pair + len + 1);
		buf_adds(ret, " && ");
	}
	buf_adds(ret, "exec");
	for (; *argv; argv++) {
		buf_adds(ret, " ");
		add_quoted(ret, *argv);
	}
	return 0;
}

static void on_output(void *arg, int stream, const char *data, size_t len)
{
	sink_push(arg, stream, data, len, NULL);
}

static int run_exec(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	const struct guest_opts *o = &v->guest;
	autobuf struct buf command = { 0 };
	autossh struct ssh *s = NULL;
	struct ssh_exec x = {
		.in_fd = o->input ? STDIN_FILENO : -1,
		.out_fd = STDOUT_FILENO,
		.err_fd = STDERR_FILENO,
		.tty = o->tty,
		.forward_signals = true,
		.timeout_ms = -1,
	};
	struct sink k;
	int status, rc;

	if (build_command(o, a->argv, &command, err) ||
	    open_session(v, -1, &s, err))
		return -1;
	x.command = command.p;
	sink_init(&k, c->json);
	x.filter_arg = &k;
	if (c->json || (!o->tty && (k.s[0].terminal || k.s[1].terminal)))
		x.filter = on_output;
	rc = ssh_exec(s, &x, &status, err);
	if (rc == 0 && c->json)
		sink_print(&k, status);
	sink_done(&k);
	return rc ? -1 : status;
}

static int copy(struct ctl *c, const struct cmd_args *a, bool put,
		struct sb_err *err)
{
	autossh struct ssh *s = NULL;
	int cancel_fd = interrupt_begin(err), rc = -1, sig;
	struct copy_way way;

	if (cancel_fd < 0)
		return -1;
	if (open_session(a->values, cancel_fd, &s, err) == 0) {
		way = ssh_copy_way(s);
		rc = copy_run(c, &way, put, a->argv[0], a->argv[1], err);
	}
	sig = interrupt_end(cancel_fd);
	return rc && sig ? 128 + sig : rc;
}

static int run_put(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	return copy(c, a, true, err);
}

static int run_get(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	return copy(c, a, false, err);
}

static const struct cmd cmd_run_exec = {
	.name = "exec",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = CMD_ANY,
	.verbatim = 1,
	.run = run_exec,
};

static const struct cmd cmd_put = {
	.name = "put",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 2,
	.max = 2,
	.run = run_put,
};

static const struct cmd cmd_get = {
	.name = "get",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 2,
	.max = 2,
	.run = run_get,
};

static const struct cmd *const verbs[] = { &cmd_run_exec, &cmd_put, &cmd_get,
					   NULL };

static const struct cmd root = {
	.name = "",
	.summary = "The part of sandboxctl that works inside guests",
	.min = 1,
	.max = CMD_ANY,
	.verbatim = 1,
	.sub = verbs,
};

int main(int argc, char **argv)
{
	return ctl_main(&root, argv);
}
