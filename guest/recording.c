/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/fdwatch.h"
#include "guest/recording-private.h"

#define MAX_LINE 4096
#define MAX_WORDS 16
#define MAX_LATE_MS 10000 /* from the first picture to the word of it */

struct wait {
	LIST_ENTRY(wait) next;
	bool until_end;
	void (*fn)(void *arg, json_t *model, const struct sb_err *err);
	void *arg;
};

struct recordings *recordings_new(const struct recordings_config *cfg)
{
	struct recordings *all = xcalloc(1, sizeof(*all));

	all->cfg = *cfg;
	all->cfg.program = all->program = xstrdup(cfg->program);
	LIST_INIT(&all->running);
	all->unsaved = json_object();
	recordings_sweep();
	return all;
}

static void recording_free(struct recording *r)
{
	LIST_REMOVE(r, next);
	fdwatch_free(r->watch);
	if (r->in >= 0)
		close(r->in);
	buf_done(&r->line);
	json_decref(r->told);
	free(r->name);
	free(r);
}

/* Answer who waits: all of them if it has ended. */
static void answer(struct recording *r, const struct sb_err *err)
{
	struct wait *w, *later;

	for (w = LIST_FIRST(&r->waits); w; w = later) {
		later = LIST_NEXT(w, next);
		if (w->until_end && !r->ended)
			continue;
		LIST_REMOVE(w, next);
		w->fn(w->arg, recording_json(r), err);
		free(w);
	}
}

void recordings_free(struct recordings *all)
{
	struct recording *r;

	if (!all)
		return;
	while ((r = LIST_FIRST(&all->running))) {
		struct wait *w;

		while ((w = LIST_FIRST(&r->waits))) {
			LIST_REMOVE(w, next);
			free(w);
		}
		recording_free(r); /* the end of its stdin */
	}
	json_decref(all->unsaved);
	free(all->program);
	free(all->dir);
	free(all);
}

/* What a program that could not start said, or the recorder's own words. */
static void explain(const struct recording *r, int status, struct sb_err *err)
{
	const char *said = json_str_or(r->told, "error", NULL);
	const char *reason = json_str_or(r->told, "reason", "");
	const char *what = r->begun ? "the recording ended"
				    : "nothing can be recorded";

	if (said && strcmp(reason, "disk") == 0) {
		sb_fail(err, SB_NOSPACE, "%s: %s", what, said);
		sb_hint(err,
			"delete films that are not needed, or other files");
	} else if (said && strcmp(reason, "display") == 0) {
		sb_fail(err, SB_BUSY, "%s: %s", what, said);
		sb_hint(err, "ask again in a moment");
	} else if (said)
		sb_fail(err, SB_SYSTEM, "%s: %s", what, said);
	else if (WIFSIGNALED(status))
		sb_fail(err, SB_SYSTEM, "the recorder was ended by signal %d",
			WTERMSIG(status));
	else
		sb_fail(err, SB_SYSTEM, "the recorder did not start: %s",
			r->junk[0] ? r->junk : "it said nothing");
}

static void on_end(struct recording *r)
{
	struct sb_err err;
	int status = 0;
	bool good;

	fdwatch_free(steal(&r->watch));
	/* It belongs to the sandbox's user: perhaps it closed its output only. */
	kill(r->pid, SIGKILL);
	waitpid(r->pid, &status, 0);
	good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	r->ended = true;
	if (!good) {
		explain(r, status, &err);
		log_warn("recording %s: %s", r->name, err.msg);
	}
	recording_drop_part(r->all, r->name);
	recording_note(r, good ? NULL : err.msg);
	answer(r, good ? NULL : &err);
	recording_free(r);
}

/* From the first picture on, and not from when the recorder was called. */
static void begin(struct recording *r)
{
	int64_t late = json_int_or(r->told, "duration_ms", 0);

	/* It belongs to the sandbox's user, who may tell us anything. */
	late = MIN(MAX(late, 0), MAX_LATE_MS);
	r->begun = true;
	r->begun_ms = clock_ms() - late;
	r->started_ms = clock_wall_ms() - late;
	answer(r, NULL);
}

static void take_line(struct recording *r, const char *line, size_t len)
{
	json_t *j = NULL;
	bool started;

	if (json_parse(line, len, &j, NULL) < 0 || !json_is_object(j)) {
		snprintf(r->junk, sizeof(r->junk), "%.*s",
			 (int)MIN(len, sizeof(r->junk) - 1), line);
		json_decref(j);
		return;
	}
	/* The last event knows no figures: those before it hold.  It belongs to
	 * the sandbox's user: nothing else that it may say is kept. */
	if (!r->told)
		r->told = json_object();
	recording_put_figures(r->told, j);
	started = strcmp(json_str_or(j, "event", ""), "started") == 0;
	json_decref(j);
	if (!r->begun && started)
		begin(r);
}

static void on_output(void *arg)
{
	struct recording *r = arg;
	char data[MAX_LINE], *end;
	ssize_t n = read(fdwatch_fd(r->watch), data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		on_end(r);
		return;
	}
	buf_add(&r->line, data, (size_t)n);
	while ((end = memchr(r->line.p, '\n', r->line.len))) {
		size_t len = (size_t)(end - r->line.p);

		take_line(r, r->line.p, len);
		buf_drop(&r->line, len + 1);
	}
	if (r->line.len > MAX_LINE)
		r->line.len = 0;
}

/* Our ends of its stdin, and of its stdout and stderr in one. */
static int spawn_it(struct recording *r, const struct spawn_as *as,
		    const char *const argv[], struct sb_err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	int fd[3], rc;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
		sb_fail(err, SB_BUSY, "no pipe for the recorder: %m");
		rc = -1;
	} else {
		fd[0] = in[0];
		fd[1] = fd[2] = out[1];
		rc = spawn_fds(as, argv, "/", NULL, fd, &r->pid, err);
	}
	for (int i = 0; i < 2; i++) {
		bool ours = i == 1;

		if (in[i] >= 0 && (!ours || rc < 0))
			close(in[i]);
		if (out[i] >= 0 && (ours || rc < 0))
			close(out[i]);
	}
	if (rc < 0)
		return -1;
	r->in = in[1];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	r->watch = fdwatch_new(r->all->cfg.loop, out[0], on_output, r, err);
	return r->watch ? 0 : -1;
}

static int start_it(struct recording *r, const struct recording_params *p,
		    struct sb_err *err)
{
	autospawnas struct spawn_as *as = NULL;
	autofree char *fps = xasprintf("--fps=%d", p->fps);
	autofree char *seconds =
		xasprintf("--max-seconds=%lld", p->max_seconds);
	autofree char *bytes = xasprintf("--max-bytes=%lld", p->max_bytes);
	autofree char *file = NULL;
	const char *argv[MAX_WORDS] = { r->all->cfg.program, fps };
	size_t n = 2;

	if (r->all->cfg.make_as(r->all->cfg.arg, &as, err) < 0)
		return -1;
	if (!p->cursor)
		argv[n++] = "--no-cursor";
	if (p->max_seconds)
		argv[n++] = seconds;
	if (p->max_bytes)
		argv[n++] = bytes;
	file = xasprintf("%s/%s.mp4", r->all->dir, r->name);
	argv[n++] = file;
	return spawn_it(r, as, argv, err);
}

static int check_name(struct recordings *all, const char *name,
		      struct sb_err *err)
{
	autoclose int fd = -1;
	struct recording *r;

	if (recording_check_name(name, err) < 0)
		return -1;
	LIST_FOREACH(r, &all->running, next)
		if (strcmp(r->name, name) == 0)
			return sb_fail(err, SB_CONFLICT,
				       "'%s' is being recorded", name);
	if (recordings_open(all, name, &fd, NULL) == 0) {
		sb_fail(err, SB_CONFLICT, "there is a recording '%s'", name);
		return sb_hint(err, "delete it or take another name");
	}
	return 0;
}

int recording_start(struct recordings *all, const struct recording_params *p,
		    struct recording **ret, struct sb_err *err)
{
	struct recording *r;
	int running = 0;

	if (recordings_locate(all, err) < 0)
		return -1;
	LIST_FOREACH(r, &all->running, next)
		running++;
	if (running >= RECORDING_MAX_RUNNING)
		return sb_fail(err, SB_BUSY,
			       "%d recordings are being made; stop one",
			       running);
	if (p->name && check_name(all, p->name, err) < 0)
		return -1;
	r = xcalloc(1, sizeof(*r));
	r->all = all;
	r->in = -1;
	r->started_ms = clock_wall_ms();
	r->name = p->name ? xstrdup(p->name) : recording_new_name(all);
	LIST_INIT(&r->waits);
	LIST_INSERT_HEAD(&all->running, r, next);
	if (start_it(r, p, err) < 0) {
		recording_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

int recording_find(struct recordings *all, const char *name,
		   struct recording **ret, struct sb_err *err)
{
	struct recording *r;

	LIST_FOREACH(r, &all->running, next)
		if (!name || strcmp(r->name, name) == 0) {
			*ret = r;
			return 0;
		}
	if (!name)
		return sb_fail(err, SB_CONFLICT, "nothing is being recorded");
	return sb_fail(err, SB_NOTFOUND, "'%s' is not being recorded", name);
}

void recording_stop(struct recording *r)
{
	if (r->in >= 0)
		close(r->in);
	r->in = -1;
	r->stopping = true;
}

void recording_wait(struct recording *r, bool until_end,
		    void (*fn)(void *arg, json_t *model,
			       const struct sb_err *err),
		    void *arg)
{
	struct wait *w = xcalloc(1, sizeof(*w));

	w->until_end = until_end;
	w->fn = fn;
	w->arg = arg;
	LIST_INSERT_HEAD(&r->waits, w, next);
}
