/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on stderr.  On a terminal a thread redraws the line, so that the
 * seconds run on while the caller waits for the daemon.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/util.h"
#include "host/ctl-progress.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-term.h"

#define TICK_MS 100
#define BAR 20 /* characters */

struct progress {
	char *what;
	bool quiet, live;
	int64_t begin;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	bool end;
	char *text;
	int percent;
};

static void add_bar(struct buf *b, int percent)
{
	int full = percent * BAR / 100;

	buf_adds(b, "[");
	for (int i = 0; i < BAR; i++)
		buf_adds(b, i < full ? "#" : ".");
	buf_addf(b, "] %3d%% ", percent);
}

/* Cut to the terminal's width, between characters. */
static void cut(struct buf *b, int columns)
{
	int n = 0;

	for (size_t i = 0; i < b->len; i++) {
		if (((unsigned char)b->p[i] & 0xc0) == 0x80)
			continue;
		if (n++ == columns - 1) {
			b->len = i;
			return;
		}
	}
}

static void draw(struct progress *p, int tick)
{
	static const char spinner[] = "|/-\\";
	autobuf struct buf line = { 0 };
	autobuf struct buf out = { 0 };

	buf_addf(&line, "%c %s: ", spinner[tick % 4], p->what);
	if (p->percent >= 0)
		add_bar(&line, p->percent);
	buf_addf(&line, "%s (%.0f s)", p->text, progress_seconds(p));
	cut(&line, term_columns(STDERR_FILENO));
	buf_adds(&out, "\r");
	buf_add(&out, line.p, line.len);
	buf_adds(&out, "\033[K");
	(void)fs_write_all(STDERR_FILENO, out.p, out.len);
}

static void tick_wait(struct progress *p)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += TICK_MS * 1000000L;
	if (ts.tv_nsec >= 1000000000L) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000L;
	}
	pthread_cond_timedwait(&p->wake, &p->lock, &ts);
}

static void *run(void *arg)
{
	struct progress *p = arg;

	pthread_mutex_lock(&p->lock);
	for (int tick = 0; !p->end; tick++) {
		if (p->text)
			draw(p, tick);
		tick_wait(p);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Signals belong to the caller's thread. */
static bool start(struct progress *p)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

struct progress *progress_new(const char *what, bool quiet)
{
	struct progress *p = xcalloc(1, sizeof(*p));
	pthread_condattr_t attr;

	p->what = sanitize_line(what);
	p->quiet = quiet;
	p->begin = clock_ms();
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (!quiet && term_can_redraw(STDERR_FILENO))
		p->live = start(p);
	return p;
}

static void print_step(const struct progress *p)
{
	if (p->percent >= 0)
		fprintf(stderr, "%s: %d%% %s\n", p->what, p->percent, p->text);
	else
		fprintf(stderr, "%s: %s\n", p->what, p->text);
}

void progress_step(struct progress *p, const char *text, int percent)
{
	char *line = sanitize_line(text);
	bool changed;

	pthread_mutex_lock(&p->lock);
	changed = !p->text || strcmp(p->text, line) != 0;
	free(p->text);
	p->text = line;
	p->percent = MIN(percent, 100);
	pthread_cond_signal(&p->wake);
	if (changed && !p->live && !p->quiet)
		print_step(p);
	pthread_mutex_unlock(&p->lock);
}

double progress_seconds(const struct progress *p)
{
	return (clock_ms() - p->begin) / 1000.0;
}

void progress_free(struct progress *p)
{
	static const char erase[] = "\r\033[K";

	if (!p)
		return;
	if (p->live) {
		pthread_mutex_lock(&p->lock);
		p->end = true;
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
		(void)fs_write_all(STDERR_FILENO, erase, sizeof(erase) - 1);
	}
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p->what);
	free(p->text);
	free(p);
}
