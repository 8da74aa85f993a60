/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a loop while there is work under way. */
#include "config.h"

#include <unistd.h>

#include "common/loop.h"
#include "tests/unit/tap.h"

struct job {
	struct loop *loop;
	struct loop_timer *timer;
	int gate[2];
	bool worked, done, rang;
};

static void ring(void *arg)
{
	((struct job *)arg)->rang = true;
}

/* Under way until the loop is about to end. */
static void work(void *arg)
{
	struct job *j = arg;
	char c;

	j->worked = read(j->gate[0], &c, 1) == 1;
}

static void done(void *arg)
{
	struct job *j = arg;

	loop_timer_set(j->timer, 0);
	loop_timer_free(j->timer);
	j->done = true;
}

int main(void)
{
	struct job j = { .loop = loop_new() };

	j.timer = loop_timer_new(j.loop, ring, &j);
	if (pipe(j.gate) < 0)
		return 1;
	loop_timer_set(j.timer, 0);
	loop_work(j.loop, work, done, &j);
	if (write(j.gate[1], "x", 1) != 1)
		return 1;
	loop_free(j.loop);
	ok(j.worked && j.done, "work is waited for");
	ok(!j.rang, "and a timer that it owns ends with it");
	close(j.gate[0]);
	close(j.gate[1]);
	return tap_done();
}
