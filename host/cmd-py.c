/* SPDX-License-Identifier: Apache-2.0 */
/* py: run Python code in a sandbox. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-guest.h"

struct values {
	struct guest_opts guest; /* first: GUEST_OPTS */
	const char *file;
};

static const struct opt opts[] = {
	{ .name = "file",
	  .letter = 'f',
	  .arg = "FILE",
	  .help = "run this file of the host",
	  .kind = OPT_STR,
	  .store = offsetof(struct values, file) },
	GUEST_OPTS,
	{ 0 },
};

/* A descriptor from which code can be read. */
static int open_code(const char *code, struct sb_err *err)
{
	autoclose int fd = memfd_create("code", MFD_CLOEXEC);

	if (fd < 0 || fs_write_all(fd, code, strlen(code)) ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot keep the code: %m");
	return steal_fd(&fd);
}

/* Make the code our stdin, which the guest's Python reads it from. */
static int take_stdin(const struct values *v, const char *code,
		      struct sb_err *err)
{
	autoclose int fd = -1;

	if (v->file && code)
		return sb_fail(err, SB_INVALID,
			       "py takes either CODE or --file");
	if (v->file) {
		fd = open(v->file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return sb_fail(err, sb_code_of_errno(errno),
				       "cannot open '%s': %m", v->file);
	} else if (code && strcmp(code, "-") != 0) {
		fd = open_code(code, err);
		if (fd < 0)
			return -1;
	}
	if (fd >= 0 && dup2(fd, STDIN_FILENO) < 0)
		return sb_fail(err, SB_SYSTEM, "dup2: %m");
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	/* -u: what is printed is seen at once, though stdout is no terminal. */
	static char *const python[] = { "python3", "-u", "-", NULL };
	struct values v = *(const struct values *)a->values;
	autojson json_t *sandbox = NULL;

	v.guest.input = true;
	if (take_stdin(&v, a->argc > 1 ? a->argv[1] : NULL, err) ||
	    guest_find(c, a->argv[0], &sandbox, err))
		return -1;
	return guest_exec(c, sandbox, &v.guest, python, err);
}

const struct cmd cmd_py = {
	.name = "py",
	.section = "Work inside",
	.args = "NAME [CODE|-]",
	.summary = "run Python code in a sandbox",
	.detail = "The code is CODE, a file (-f), or what comes from stdin. It "
		  "runs in a fresh python3; the exit status is Python's.",
	.examples = "sandboxctl py demo 'print(6 * 7)'\n"
		    "sandboxctl py demo -f script.py\n"
		    "echo 'print(1)' | sandboxctl py demo -",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 2,
	.words = { WORD_SANDBOX },
	.run = run,
};
