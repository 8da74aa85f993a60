/* SPDX-License-Identifier: Apache-2.0 */
/* exec through guestd. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/base64.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-exec.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-run.h"
#include "host/ctl-sink.h"
#include "host/ctl-terminal.h"

/* What a shell says of a program that is not there, or cannot be run. */
#define STATUS_MISSING 127
#define STATUS_DENIED 126

bool exec_unreachable(const struct sb_err *err)
{
	return err->code == SB_SYSTEM || err->code == SB_TIMEOUT ||
	       err->code == SB_BUSY || err->code == SB_MISSING;
}

static void put_argv(json_t *body, char *const *argv)
{
	json_t *list = json_array();

	for (char *const *p = argv; *p; p++)
		if (json_array_append_new(list, json_string(*p)) < 0)
			break;
	if (json_array_size(list) == 0 || argv[json_array_size(list)]) {
		/* Not all of it is UTF-8. */
		json_array_clear(list);
		for (char *const *p = argv; *p; p++) {
			autofree char *word = base64_encode(*p, strlen(*p));

			json_array_append_new(list, json_string(word));
		}
		json_put(body, "argv_encoding", json_string("base64"));
	}
	json_put(body, "argv", list);
}

static int put_str(json_t *body, const char *key, const char *value,
		   struct sb_err *err)
{
	if (!value || json_object_set_new(body, key, json_string(value)) == 0)
		return 0;
	return sb_fail(err, SB_INVALID, "%s is not UTF-8", key);
}

static int put_env(json_t *body, const struct strlist *list, struct sb_err *err)
{
	json_t *env = json_object();

	json_put(body, "env", env);
	for (size_t i = 0; i < list->n; i++) {
		const char *pair = list->v[i], *eq = strchr(pair, '=');
		const char *value = eq ? eq + 1 : getenv(pair);
		autofree char *name =
			xstrndup(pair, eq ? (size_t)(eq - pair) : strlen(pair));

		if (put_str(env, name, value, err) < 0)
			return -1;
	}
	return 0;
}

json_t *exec_body(const json_t *sandbox, const struct guest_opts *o,
		  char *const *argv, struct sb_err *err)
{
	const json_t *ssh = json_object_get(sandbox, "ssh");
	autojson json_t *body = json_object();

	put_argv(body, argv);
	if (put_str(body, "user",
		    o->user ? o->user : json_str_or(ssh, "user", NULL),
		    err) < 0 ||
	    put_str(body, "cwd", o->dir, err) < 0 ||
	    put_env(body, &o->env, err) < 0)
		return NULL;
	return steal(&body);
}

/* The signals that reach the command. */
static int open_signals(struct sb_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };
	int fd = interrupt_open(signals, err);

	/* A reader of our output that has gone must not keep the command. */
	signal(SIGPIPE, SIG_IGN);
	return fd;
}

/* As they were, for SSH or for what comes after us. */
static void close_signals(int fd)
{
	struct signalfd_siginfo si;
	sigset_t none;

	sigemptyset(&none);
	(void)!read(fd, &si, sizeof(si));
	close(fd);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* guestd has not started it: say so as a shell would. */
static int refused(struct sink *k, const char *program,
		   const struct sb_err *err)
{
	bool denied = err->code == SB_DENIED;
	autofree char *text = xasprintf("%s: %s\n", program,
					denied ? "cannot be run" : "not found");

	sink_push(k, STDERR_FILENO, text, strlen(text), NULL);
	return denied ? STATUS_DENIED : STATUS_MISSING;
}

static int run(const struct guestd_at *at, struct guest_run *r, struct sink *k,
	       const char *program, bool *ret_again, struct sb_err *err)
{
	struct signalfd_siginfo si;
	bool started;
	int status;

	if (guest_run(at, r, &started, &status, err) == 0)
		return status;
	if (k->unread)
		return 128 + SIGPIPE;
	if (started && err->code == SB_CANCELLED &&
	    read(r->signal_fd, &si, sizeof(si)) == sizeof(si))
		return 128 + (int)si.ssi_signo;
	if (started || err->code == SB_CANCELLED)
		return -1;
	if (err->code == SB_NOTFOUND || err->code == SB_DENIED)
		return refused(k, program, err);
	*ret_again = exec_unreachable(err);
	return -1;
}

/* -t: in a terminal of the guest. */
static int run_in_terminal(const struct guestd_at *at, json_t *body,
			   const struct guest_opts *o, const char *program,
			   bool *ret_again, struct sb_err *err)
{
	autofree char *id = NULL;
	struct terminal_use u = {
		.from_start = true,
		.owned = true,
		.input = o->input,
	};
	autohclient struct hclient *c = NULL;
	struct sink k;
	int status;

	if (json_object_get(body, "argv_encoding")) {
		*ret_again = true;
		return sb_fail(err, SB_INVALID, "the words are not UTF-8");
	}
	if (guestd_reach(at, -1, &c, err) < 0) {
		*ret_again = exec_unreachable(err);
		return -1;
	}
	if (terminal_new(at, body, &id, err) < 0) {
		*ret_again = err->code == SB_BUSY;
		if (err->code != SB_NOTFOUND && err->code != SB_DENIED)
			return -1;
		sink_init(&k, false);
		return refused(&k, program, err);
	}
	u.id = id;
	return terminal_use(at, &u, &status, err) < 0 ? -1 : status;
}

int exec_run(struct ctl *c, const json_t *sandbox, const struct guest_opts *o,
	     char *const *argv, bool *ret_again, struct sb_err *err)
{
	autoguestd struct guestd_at at = { 0 };
	autojson json_t *body = NULL;
	struct sink k;
	struct guest_run r = {
		.in_fd = o->input ? STDIN_FILENO : -1,
		.push = sink_push,
		.arg = &k,
		.forward = true,
	};
	int status;

	*ret_again = true;
	if (guestd_find(sandbox, &at, err) < 0)
		return -1;
	r.body = body = exec_body(sandbox, o, argv, err);
	if (!body)
		return -1;
	*ret_again = false;
	if (o->tty)
		return run_in_terminal(&at, body, o, argv[0], ret_again, err);
	json_put(body, "attached", json_true());
	json_put(body, "open_stdin", json_boolean(o->input));
	r.signal_fd = open_signals(err);
	if (r.signal_fd < 0)
		return -1;
	sink_init(&k, c->json);
	status = run(&at, &r, &k, argv[0], ret_again, err);
	if (status >= 0 && c->json)
		sink_print(&k, status);
	sink_done(&k);
	close_signals(r.signal_fd);
	return status;
}
