/* SPDX-License-Identifier: Apache-2.0 */
/* cp: what is copied where, however commands run in the guest. */
#include "config.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/ctl-copy.h"
#include "host/ctl-exec.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-out.h"
#include "host/ctl-progress.h"
#include "host/ctl-run.h"

static void on_progress(void *arg, size_t done)
{
	char size[OUT_SIZE_LEN];

	progress_step(arg, out_size(done, size), -1);
}

/* The last part of a path, without the slashes behind it. */
static char *base_name(const char *path)
{
	size_t end = strlen(path), begin;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	return xstrndup(path + begin, end - begin);
}

/* Where a copy goes: a folder that exists is copied into, as cp does. */
static char *target_of(const char *from, const char *to, bool is_dir)
{
	autofree char *name = base_name(from);

	if (!is_dir)
		return xstrdup(to);
	return xasprintf("%s%s%s", to, str_ends(to, "/") ? "" : "/", name);
}

static int ignore(void *io, int stream, const char *data, size_t len,
		  struct sb_err *err)
{
	return 0;
}

static int guest_is_dir(const struct copy_way *way, const char *path, bool *ret,
			struct sb_err *err)
{
	const char *argv[] = { "/bin/sh", "-c", "test -d \"$1\"",
			       "sh",	  path, NULL };
	int status;

	if (way->run(way->arg, argv, NULL, ignore, NULL, &status, err) < 0)
		return -1;
	*ret = status == 0;
	return 0;
}

static int print_copied(const struct ctl *c, const char *from, const char *to)
{
	autojson json_t *j = json_object();

	if (!c->json)
		return 0;
	json_put(j, "from", json_str(from));
	json_put(j, "to", json_str(to));
	out_json(j);
	return 0;
}

int copy_run(struct ctl *c, const struct copy_way *way, bool put,
	     const char *from, const char *to, struct sb_err *err)
{
	autofree char *target = NULL;
	struct progress *p;
	struct stat st;
	bool is_dir;
	int rc;

	if (put && guest_is_dir(way, to, &is_dir, err) < 0)
		return -1;
	if (!put)
		is_dir = stat(to, &st) == 0 && S_ISDIR(st.st_mode);
	target = target_of(from, to, is_dir);
	p = progress_new(from, c->json || !isatty(STDERR_FILENO));
	rc = (put ? copy_put : copy_get)(way, from, target, on_progress, p,
					 err);
	progress_free(p);
	return rc ? -1 : print_copied(c, from, target);
}

/* The way through guestd. */
struct by_guestd {
	const struct guestd_at *at;
	const json_t *sandbox;
	int signal_fd;
	bool started; /* something may have been done */
};

static int run(void *arg, const char *const argv[],
	       ssize_t (*pull)(void *io, char *data, size_t max,
			       struct sb_err *err),
	       int (*push)(void *io, int stream, const char *data, size_t len,
			   struct sb_err *err),
	       void *io, int *ret_status, struct sb_err *err)
{
	const struct guest_opts o = { 0 };
	autojson json_t *body = NULL;
	struct by_guestd *g = arg;
	struct guest_run r = {
		.in_fd = -1,
		.pull = pull,
		.push = push,
		.arg = io,
		.signal_fd = g->signal_fd,
	};
	bool started;
	int rc;

	r.body = body = exec_body(g->sandbox, &o, (char *const *)argv, err);
	if (!body)
		return -1;
	json_put(body, "attached", json_true());
	json_put(body, "open_stdin", json_boolean(pull != NULL));
	rc = guest_run(g->at, &r, &started, ret_status, err);
	g->started |= started;
	return rc;
}

int copy_through_guestd(struct ctl *c, const json_t *sandbox, bool put,
			const char *from, const char *to, bool *ret_again,
			struct sb_err *err)
{
	autoguestd struct guestd_at at = { 0 };
	struct by_guestd g = { .at = &at, .sandbox = sandbox };
	const struct copy_way way = { .run = run, .arg = &g };
	int rc, sig;

	*ret_again = true;
	if (guestd_find(sandbox, &at, err) < 0)
		return -1;
	g.signal_fd = interrupt_begin(err);
	if (g.signal_fd < 0)
		return -1;
	rc = copy_run(c, &way, put, from, to, err);
	sig = interrupt_end(g.signal_fd);
	*ret_again = rc && !g.started && exec_unreachable(err);
	return rc && sig ? 128 + sig : rc;
}
