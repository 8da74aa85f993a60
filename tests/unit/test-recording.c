/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder in the hands of somebody else; all else about films is in
 * tests/native/test-record.sh. */
#include "config.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/json.h"
#include "guest/recording-private.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define POLL_MS 10
#define DEADLINE_MS 60000

struct fixture {
	struct loop *loop;
	struct loop_timer *timer;
	struct recording *recording;
	int waited_ms;
};

static int make_as(void *arg, struct spawn_as **ret, struct sb_err *err)
{
	return spawn_as_new(NULL, ret, err);
}

/* Until it has said all that it says. */
static void look(void *arg)
{
	struct fixture *f = arg;

	f->waited_ms += POLL_MS;
	if (json_int_or(f->recording->told, "pictures", 0) == 300 ||
	    f->waited_ms > DEADLINE_MS)
		loop_stop(f->loop);
	else
		loop_timer_set(f->timer, POLL_MS);
}

static void test_talkative(const char *program)
{
	struct recordings_config cfg = { .program = program,
					 .make_as = make_as };
	struct recording_params params = { .name = "film", .fps = 30 };
	struct fixture f = { 0 };
	struct recordings *all;
	struct sb_err err;

	cfg.loop = f.loop = loop_new();
	all = recordings_new(&cfg);
	f.timer = loop_timer_new(f.loop, look, &f);
	if (ok(recording_start(all, &params, &f.recording, &err) == 0,
	       "it is started")) {
		look(&f);
		loop_run(f.loop);
		ok(f.recording->begun, "it has begun");
		is_int(json_int_or(f.recording->told, "pictures", 0), 300,
		       "the newest figure is known");
		is_int((long long)json_object_size(f.recording->told), 1,
		       "what else it says is not kept");
	}
	recordings_free(all);
	loop_timer_free(f.timer);
	loop_free(f.loop);
}

int main(void)
{
	autofree char *program = NULL;

	scratch_init();
	chmod(scratch_dir, 0755);
	setenv("HOME", scratch_dir, 1);
	program = scratch_file("recorder",
			       "#!/bin/sh\n"
			       "for i in $(seq 300); do\n"
			       "	echo '{\"event\": \"started\", "
			       "\"junk'$i'\": \"'$i'\", "
			       "\"pictures\": '$i'}'\n"
			       "done\n"
			       "exec cat > /dev/null\n");
	chmod(program, 0755);
	if (spawn_init(NULL) < 0)
		return 1;
	test_talkative(program);
	return tap_done();
}
