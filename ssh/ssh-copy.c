/* SPDX-License-Identifier: Apache-2.0 */
/* Copies over SSH. */
#include "config.h"

#include "ssh/session.h"

/* A guest that moves no byte for so long has hung. */
#define IDLE_MS 120000

static int run(void *arg, const char *const argv[],
	       ssize_t (*pull)(void *io, char *data, size_t max,
			       struct sb_err *err),
	       int (*push)(void *io, int stream, const char *data, size_t len,
			   struct sb_err *err),
	       void *io, int *ret_status, struct sb_err *err)
{
	autobuf struct buf command = { 0 };
	struct ssh_run r = {
		.pull = pull, .push = push, .arg = io, .idle_ms = IDLE_MS
	};

	buf_adds(&command, "exec");
	for (; *argv; argv++) {
		autofree char *word = ssh_quote(*argv);

		buf_addf(&command, " %s", word);
	}
	r.command = command.p;
	return ssh_run(arg, &r, ret_status, err);
}

struct copy_way ssh_copy_way(struct ssh *s)
{
	return (struct copy_way){ .run = run, .arg = s };
}
