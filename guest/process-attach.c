/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that belong to who follows their output. */
#include "config.h"

#include <signal.h>

#include "guest/process-private.h"

static void resume(struct process *p)
{
	if (!p->attach.paused)
		return;
	p->attach.paused = false;
	process_read(p, true);
}

/* Nobody came back: what it prints from now on is kept as for all others. */
static void hang_up(void *arg)
{
	struct process *p = arg;

	process_ref(p);
	p->attach.on = false;
	process_signal(p, SIGHUP, NULL);
	resume(p);
	process_unref(p);
}

void process_attach(struct process *p)
{
	p->attach.on = true;
	p->attach.hangup = loop_timer_new(p->table->loop, hang_up, p);
	loop_timer_set(p->attach.hangup, PROCESS_HANGUP_MS);
}

static uint64_t waiting(const struct process *p)
{
	uint64_t kept = output_kept(p->output, OUTPUT_MERGED);

	return kept > p->attach.taken ? kept - p->attach.taken : 0;
}

void process_attach_grown(struct process *p)
{
	if (!p->attach.on || p->attach.paused || waiting(p) < PROCESS_AHEAD)
		return;
	p->attach.paused = true;
	process_read(p, false);
}

void process_follow_begin(struct process *p)
{
	p->attach.followers++;
	if (p->attach.hangup)
		loop_timer_clear(p->attach.hangup);
}

void process_follow_at(struct process *p, uint64_t offset)
{
	if (!p->attach.on)
		return;
	p->attach.taken = offset;
	if (offset > PROCESS_BEHIND)
		output_forget(p->output, offset - PROCESS_BEHIND);
	if (waiting(p) < PROCESS_AHEAD / 2)
		resume(p);
}

void process_follow_end(struct process *p)
{
	p->attach.followers--;
	if (p->attach.on && p->attach.hangup && !p->attach.followers &&
	    p->state != ENDED)
		loop_timer_set(p->attach.hangup, PROCESS_HANGUP_MS);
}
