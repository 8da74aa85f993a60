/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals: their pty, their life, what is remembered of them. */
#include "config.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/token.h"
#include "guest/session.h"
#include "guest/terminal-private.h"

/* What the kernel still carries from the program to us when it has ended. */
#define GRACE_MS 100
#define KILL_STEP_MS 100

struct terminal *terminal_ref(struct terminal *t)
{
	t->refs++;
	return t;
}

void terminal_unref(struct terminal *t)
{
	if (!t || --t->refs)
		return;
	scrollback_done(&t->out);
	buf_done(&t->in);
	free(t->command);
	free(t->user);
	free(t);
}

static void forget(struct terminal *t)
{
	struct terminal_table *table = t->table;

	TAILQ_REMOVE(&table->all, t, next);
	if (t->state == ENDED)
		table->nended--;
	else
		table->nrunning--;
	t->table = NULL;
	t->state = ENDED;
	loop_timer_free(steal(&t->timer));
	terminal_close_io(t);
	terminal_unref(t);
}

static void forget_oldest(struct terminal_table *table)
{
	struct terminal *t = TAILQ_LAST(&table->all, terminal_list);

	while (t && t->state != ENDED)
		t = TAILQ_PREV(t, terminal_list, next);
	if (t)
		forget(t);
}

void terminal_end(struct terminal *t)
{
	struct terminal_table *table = t->table;

	if (t->state != ENDING)
		return;
	terminal_read_last(t);
	t->state = ENDED;
	loop_timer_clear(t->timer);
	terminal_close_io(t);
	TAILQ_REMOVE(&table->all, t, next);
	TAILQ_INSERT_HEAD(&table->all, t, next);
	table->nrunning--;
	table->nended++;
	terminal_ref(t);
	if (table->nended > TERMINAL_MAX_ENDED)
		forget_oldest(table);
	terminal_tell_news(t);
	terminal_unref(t);
}

/* The leader has ended, and is not needed any more. */
static void reap(struct terminal *t)
{
	if (waitpid(t->pid, &t->wait_status, 0) < 0)
		log_err("cannot wait for process %d: %m", (int)t->pid);
	t->state = ENDING;
	if (t->hung_up)
		terminal_end(t);
	else
		loop_timer_set(t->timer, GRACE_MS);
}

static bool leader_has_ended(const struct terminal *t)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, t->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid;
}

/* One step of a kill: until all have gone, or the time is up. */
static void kill_on(struct terminal *t)
{
	t->kill_ms += KILL_STEP_MS;
	if (t->kill_ms > TERMINAL_KILL_MS)
		session_signal(t->pid, SIGKILL);
	if (leader_has_ended(t) &&
	    (!session_signal(t->pid, 0) || t->kill_ms > 2 * TERMINAL_KILL_MS))
		reap(t);
	else
		loop_timer_set(t->timer, KILL_STEP_MS);
}

static void on_timer(void *arg)
{
	struct terminal *t = arg;

	if (t->state == ENDING)
		terminal_end(t);
	else if (t->kill_ms)
		kill_on(t);
}

static void on_sigchld(uv_signal_t *s, int signum)
{
	struct terminal_table *table = s->data;
	struct terminal *t, *next;

	for (t = TAILQ_FIRST(&table->all); t; t = next) {
		/* Reaping may forget the oldest, but never a running one. */
		for (next = TAILQ_NEXT(t, next); next && next->state != RUNNING;
		     next = TAILQ_NEXT(next, next))
			;
		if (t->state == RUNNING && !t->kill_ms && leader_has_ended(t))
			reap(t);
	}
}

struct terminal_table *terminal_table_new(struct loop *l)
{
	struct terminal_table *table = xcalloc(1, sizeof(*table));
	int r;

	table->loop = l;
	TAILQ_INIT(&table->all);
	r = uv_signal_init(loop_uv(l), &table->sigchld);
	table->sigchld.data = table;
	if (r == 0)
		r = uv_signal_start(&table->sigchld, on_sigchld, SIGCHLD);
	assert(r == 0);
	(void)r;
	return table;
}

static void on_sigchld_closed(uv_handle_t *h)
{
	free(h->data);
}

void terminal_table_free(struct terminal_table *table)
{
	struct terminal *t;

	if (!table)
		return;
	while ((t = TAILQ_FIRST(&table->all)))
		forget(t);
	uv_close((uv_handle_t *)&table->sigchld, on_sigchld_closed);
}

static struct terminal *terminal_new(struct terminal_table *table,
				     const struct terminal_config *cfg,
				     pid_t pid, int master)
{
	struct terminal *t = xcalloc(1, sizeof(*t));

	random_hex(t->id, TERMINAL_ID_BYTES);
	t->table = table;
	t->refs = 1;
	t->pid = pid;
	t->command = xstrdup(cfg->command);
	t->user = xstrdup(spawn_as_user(cfg->as));
	t->cols = cfg->cols;
	t->rows = cfg->rows;
	t->started_wall_ms = clock_wall_ms();
	t->timer = loop_timer_new(table->loop, on_timer, t);
	LIST_INIT(&t->watches);
	TAILQ_INSERT_HEAD(&table->all, t, next);
	table->nrunning++;
	terminal_open_io(t, master);
	return t;
}

int terminal_start(struct terminal_table *table,
		   const struct terminal_config *cfg, struct terminal **ret,
		   struct sb_err *err)
{
	int master;
	pid_t pid;

	if (table->nrunning >= TERMINAL_MAX_RUNNING) {
		sb_fail(err, SB_BUSY, "%d terminals are open already",
			table->nrunning);
		return sb_hint(err, "Close one with DELETE /v1/terminals/ID.");
	}
	if (spawn_pty(cfg->as, cfg->argv, cfg->workspace, cfg->cwd, cfg->cols,
		      cfg->rows, &pid, &master, err) < 0)
		return -1;
	*ret = terminal_new(table, cfg, pid, master);
	return 0;
}

struct terminal *terminal_find(struct terminal_table *table, const char *id)
{
	struct terminal *t;

	TAILQ_FOREACH(t, &table->all, next)
		if (strcmp(t->id, id) == 0)
			return t;
	return NULL;
}

struct terminal *terminal_next(struct terminal_table *table,
			       const struct terminal *t)
{
	return t ? TAILQ_NEXT(t, next) : TAILQ_FIRST(&table->all);
}

void terminal_get_status(const struct terminal *t, struct terminal_status *ret)
{
	bool by_signal = t->state != RUNNING && WIFSIGNALED(t->wait_status);
	const struct terminal_watch *w;

	*ret = (struct terminal_status){
		.id = t->id,
		.command = t->command,
		.user = t->user,
		.pid = t->pid,
		.cols = t->cols,
		.rows = t->rows,
		.running = t->state != ENDED,
		.signal = by_signal ? WTERMSIG(t->wait_status) : 0,
		.started_wall_ms = t->started_wall_ms,
	};
	ret->exit_code = by_signal ? 128 + ret->signal
				   : WEXITSTATUS(t->wait_status);
	LIST_FOREACH(w, &t->watches, next)
		ret->viewers++;
}

const struct scrollback *terminal_output(const struct terminal *t)
{
	return &t->out;
}

void terminal_kill(struct terminal *t)
{
	if (t->state != RUNNING || t->kill_ms)
		return;
	session_signal(t->pid, SIGHUP);
	session_signal(t->pid, SIGCONT); /* what is stopped hears it, too */
	t->kill_ms = 1;
	loop_timer_set(t->timer, KILL_STEP_MS);
}
