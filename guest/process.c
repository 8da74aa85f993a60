/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that guestd was asked to run. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/token.h"
#include "guest/process-private.h"

/* More than a pipe holds, unless someone goes on writing. */
#define MAX_DRAIN (2 * 1024 * 1024)
/*
 * When a program has ended, all that it printed is in the pipes.  Helpers of
 * its own that print a last line are waited for this long.
 */
#define GRACE_MS 100
#define SPOOL "/var/tmp"

struct process *process_ref(struct process *p)
{
	p->refs++;
	return p;
}

void process_unref(struct process *p)
{
	if (!p || --p->refs)
		return;
	output_free(p->output);
	cgroup_free(p->group);
	free(p->command);
	free(p->user);
	free(p);
}

/*
 * A watcher may take itself away, but no other one.  The caller's reference
 * keeps the process.
 */
static void tell(struct process *p)
{
	struct process_watch *w, *next;

	for (w = LIST_FIRST(&p->watches); w; w = next) {
		next = LIST_NEXT(w, next);
		w->fn(w->arg);
	}
}

void process_watch(struct process *p, struct process_watch *w)
{
	LIST_INSERT_HEAD(&p->watches, w, next);
}

void process_unwatch(struct process_watch *w)
{
	LIST_REMOVE(w, next);
}

static void on_pipe_closed(uv_handle_t *h)
{
	process_unref(h->data);
}

void process_close_pipe(struct process *p, int i)
{
	if (!p->open[i])
		return;
	p->open[i] = false;
	uv_close((uv_handle_t *)&p->pipe[i], on_pipe_closed);
}

/* Take it out of the table.  What still holds it open may read it on. */
static void forget(struct process *p)
{
	struct process_table *t = p->table;

	TAILQ_REMOVE(&t->all, p, next);
	if (p->state == ENDED)
		t->nended--;
	else
		t->nrunning--;
	p->table = NULL;
	loop_timer_free(steal(&p->timer));
	loop_timer_free(steal(&p->attach.hangup));
	for (int i = 0; i < NPIPES; i++)
		process_close_pipe(p, i);
	tell(p);
	process_unref(p);
}

static void forget_oldest(struct process_table *t)
{
	struct process *p = TAILQ_LAST(&t->all, process_list);

	while (p && p->state != ENDED)
		p = TAILQ_PREV(p, process_list, next);
	if (p)
		forget(p);
}

static uint64_t kept_of_ended(const struct process_table *t)
{
	const struct process *p;
	uint64_t sum = 0;

	TAILQ_FOREACH(p, &t->all, next)
		if (p->state == ENDED)
			sum += output_kept(p->output, OUTPUT_MERGED);
	return sum;
}

static void end(struct process *p)
{
	struct process_table *t = p->table;

	if (p->state != ENDING)
		return;
	p->state = ENDED;
	loop_timer_clear(p->timer);
	if (p->attach.hangup)
		loop_timer_clear(p->attach.hangup);
	if (cgroup_remove(p->group))
		p->group = NULL;
	TAILQ_REMOVE(&t->all, p, next);
	TAILQ_INSERT_HEAD(&t->all, p, next);
	t->nrunning--;
	t->nended++;
	while (t->nended > PROCESS_MAX_ENDED ||
	       kept_of_ended(t) > PROCESS_MAX_KEPT)
		forget_oldest(t);
}

bool process_is_silent(const struct process *p)
{
	return !p->table || (p->state != RUNNING && !p->open[PIPE_OUT] &&
			     !p->open[PIPE_ERR]);
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *ret)
{
	struct process *p = h->data;

	*ret = uv_buf_init(p->table->buf, PROCESS_READ_SIZE);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct process *p = s->data;
	bool is_out = s == (uv_stream_t *)&p->pipe[PIPE_OUT];

	if (n == 0)
		return;
	process_ref(p);
	if (n > 0)
		output_add(p->output, is_out ? OUTPUT_STDOUT : OUTPUT_STDERR,
			   buf->base, n);
	else
		process_close_pipe(p, is_out ? PIPE_OUT : PIPE_ERR);
	if (process_is_silent(p))
		end(p);
	tell(p);
	process_attach_grown(p);
	process_unref(p);
}

void process_read(struct process *p, bool on)
{
	for (int i = PIPE_OUT; i <= PIPE_ERR; i++) {
		uv_stream_t *s = (uv_stream_t *)&p->pipe[i];

		if (p->open[i] && on)
			uv_read_start(s, on_alloc, on_read);
		else if (p->open[i])
			uv_read_stop(s);
	}
}

/* Take what is in the pipes already, however busy the loop is. */
static void drain(struct process *p)
{
	for (int i = PIPE_OUT; i <= PIPE_ERR; i++) {
		size_t got = 0;
		ssize_t n = 1;
		int fd;

		if (!p->open[i] ||
		    uv_fileno((uv_handle_t *)&p->pipe[i], &fd) < 0)
			continue;
		while (n > 0 && got < MAX_DRAIN) {
			n = read(fd, p->table->buf, PROCESS_READ_SIZE);
			if (n > 0)
				output_add(p->output,
					   i == PIPE_OUT ? OUTPUT_STDOUT
							 : OUTPUT_STDERR,
					   p->table->buf, n);
			got += MAX(n, 0);
		}
		if (n == 0)
			process_close_pipe(p, i);
	}
}

static int open_pipe(struct process *p, int i, int fd)
{
	uv_pipe_t *pipe = &p->pipe[i];

	uv_pipe_init(loop_uv(p->table->loop), pipe, 0);
	pipe->data = process_ref(p);
	p->open[i] = true;
	if (uv_pipe_open(pipe, fd) < 0) {
		close(fd);
		return -1;
	}
	return i == PIPE_IN
		       ? 0
		       : uv_read_start((uv_stream_t *)pipe, on_alloc, on_read);
}

static void kill_group(const struct process *p, int signum)
{
	if (kill(-p->pid, signum) < 0 && errno != ESRCH)
		log_warn("cannot signal process group %d: %m", (int)p->pid);
	/* Also what has left the group of processes. */
	if (signum == SIGKILL)
		cgroup_kill(p->group);
}

/* The timer means what the state says. */
static void on_timer(void *arg)
{
	struct process *p = arg;

	if (p->state == ENDING) {
		process_ref(p);
		drain(p);
		end(p);
		tell(p);
		process_unref(p);
	} else if (p->timed_out) {
		kill_group(p, SIGKILL);
	} else {
		p->timed_out = true;
		kill_group(p, SIGTERM);
		loop_timer_set(p->timer, PROCESS_KILL_MS);
	}
}

/*
 * The leader has ended.  While it is not reaped its number belongs to the
 * group, so this is the time to end the rest of one that took too long.
 */
static void reap(struct process *p)
{
	if (p->timed_out)
		kill_group(p, SIGKILL);
	if (waitpid(p->pid, &p->wait_status, 0) < 0)
		log_err("cannot wait for process %d: %m", (int)p->pid);
	p->ended_ms = clock_ms();
	p->state = ENDING;
	process_ref(p);
	process_close_pipe(p, PIPE_IN);
	if (process_is_silent(p)) {
		end(p);
		tell(p);
	} else if (!p->attach.on || p->signalled) {
		loop_timer_set(p->timer, GRACE_MS);
	} else {
		loop_timer_clear(p->timer);
	}
	process_unref(p);
}

static void on_sigchld(uv_signal_t *s, int signum)
{
	struct process_table *t = s->data;
	struct process *p, *next;

	for (p = TAILQ_FIRST(&t->all); p; p = next) {
		siginfo_t info = { 0 };

		/* Reaping may forget the oldest, but never a running one. */
		for (next = TAILQ_NEXT(p, next); next && next->state != RUNNING;
		     next = TAILQ_NEXT(next, next))
			;
		if (p->state == RUNNING &&
		    waitid(P_PID, p->pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
			    0 &&
		    info.si_pid)
			reap(p);
	}
}

/*
 * Where output goes that is too much for memory.  /run is memory, too.  The
 * files never have a name: nobody can put a link in their place, and a guestd
 * that is killed leaves none.
 */
static char *spool_folder(const char *run_dir)
{
	autoclose int fd = open(SPOOL, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? xasprintf("%s/processes", run_dir) : xstrdup(SPOOL);
}

struct process_table *process_table_new(struct loop *l, const char *run_dir,
					struct sb_err *err)
{
	struct process_table *t;
	int r;

	if (spawn_init(err) < 0)
		return NULL;
	cgroup_init();
	/* A program that does not read what it is given is no reason to die. */
	signal(SIGPIPE, SIG_IGN);
	t = xcalloc(1, sizeof(*t));
	t->loop = l;
	t->dir = spool_folder(run_dir);
	TAILQ_INIT(&t->all);
	r = uv_signal_init(loop_uv(l), &t->sigchld);
	t->sigchld.data = t;
	if (r == 0)
		r = uv_signal_start(&t->sigchld, on_sigchld, SIGCHLD);
	assert(r == 0);
	(void)r;
	return t;
}

static void on_sigchld_closed(uv_handle_t *h)
{
	struct process_table *t = h->data;

	free(t->dir);
	free(t);
}

void process_table_free(struct process_table *t)
{
	struct process *p;

	if (!t)
		return;
	while ((p = TAILQ_FIRST(&t->all)))
		forget(p);
	cgroup_done();
	uv_close((uv_handle_t *)&t->sigchld, on_sigchld_closed);
}

static int connect_pipes(struct process *p, const struct spawn_pipes *fds)
{
	int r = 0;

	if (fds->in >= 0)
		r |= open_pipe(p, PIPE_IN, fds->in);
	r |= open_pipe(p, PIPE_OUT, fds->out);
	r |= open_pipe(p, PIPE_ERR, fds->err);
	return r;
}

static struct process *process_new(struct process_table *t,
				   const struct process_config *cfg, pid_t pid)
{
	struct process *p = xcalloc(1, sizeof(*p));

	random_hex(p->id, PROCESS_ID_BYTES);
	p->table = t;
	p->refs = 1;
	p->pid = pid;
	p->command = xstrdup(cfg->command);
	p->user = xstrdup(spawn_as_user(cfg->as));
	p->started_ms = clock_ms();
	p->started_wall_ms = clock_wall_ms();
	p->output = output_new(t->dir);
	p->timer = loop_timer_new(t->loop, on_timer, p);
	LIST_INIT(&p->watches);
	TAILQ_INSERT_HEAD(&t->all, p, next);
	t->nrunning++;
	return p;
}

int process_start(struct process_table *t, const struct process_config *cfg,
		  struct process **ret, struct sb_err *err)
{
	struct spawn_pipes fds;
	struct process *p;
	pid_t pid;

	if (t->nrunning >= PROCESS_MAX_RUNNING) {
		sb_fail(err, SB_BUSY, "%d commands run already", t->nrunning);
		return sb_hint(err, "Wait for one to end, or end one with "
				    "DELETE /v1/processes/ID.");
	}
	if (spawn(cfg->as, cfg->argv, cfg->workspace, cfg->cwd,
		  cfg->stdin_mode != PROCESS_STDIN_NONE, &pid, &fds, err) < 0)
		return -1;
	p = process_new(t, cfg, pid);
	p->group = fds.group;
	if (connect_pipes(p, &fds) < 0)
		log_err("cannot read from process %d", (int)pid);
	if (cfg->stdin_mode == PROCESS_STDIN_TEXT) {
		process_write(p, cfg->stdin_data, cfg->stdin_len, NULL);
		process_close_stdin(p);
	}
	if (cfg->timeout_ms)
		loop_timer_set(p->timer, cfg->timeout_ms);
	if (cfg->attached)
		process_attach(p);
	*ret = process_ref(p);
	return 0;
}

struct process *process_find(struct process_table *t, const char *id)
{
	struct process *p;

	TAILQ_FOREACH(p, &t->all, next)
		if (strcmp(p->id, id) == 0)
			return p;
	return NULL;
}

struct process *process_next(struct process_table *t, const struct process *p)
{
	return p ? TAILQ_NEXT(p, next) : TAILQ_FIRST(&t->all);
}

void process_get_status(const struct process *p, struct process_status *ret)
{
	bool by_signal = p->state != RUNNING && WIFSIGNALED(p->wait_status);
	int64_t end_ms = p->state == RUNNING ? clock_ms() : p->ended_ms;

	*ret = (struct process_status){
		.running = p->table && p->state != ENDED,
		.timed_out = p->timed_out,
		.signal = by_signal ? WTERMSIG(p->wait_status) : 0,
		.command = p->command,
		.user = p->user,
		.started_wall_ms = p->started_wall_ms,
		.duration_ms = end_ms - p->started_ms,
	};
	ret->exit_code = by_signal ? 128 + ret->signal
				   : WEXITSTATUS(p->wait_status);
}

const char *process_id(const struct process *p)
{
	return p->id;
}

pid_t process_pid(const struct process *p)
{
	return p->pid;
}

const struct output *process_output(const struct process *p)
{
	return p->output;
}

/*
 * Once the leader is reaped, its number is known to be the group's only as
 * long as someone holds its output open.
 */
int process_signal(struct process *p, int signum, struct sb_err *err)
{
	bool reached = !process_is_silent(p) && kill(-p->pid, signum) == 0;

	if (signum == SIGKILL)
		cgroup_kill(p->group);
	if (!reached)
		return sb_fail(err, SB_CONFLICT, "process '%s' has ended",
			       p->id);
	p->signalled = true;
	if (p->state == ENDING)
		loop_timer_set(p->timer, GRACE_MS);
	return 0;
}
