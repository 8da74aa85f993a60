/* SPDX-License-Identifier: Apache-2.0 */
/* daemon: see and control sandboxd itself. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"
#include "host/paths.h"

#define STOP_MS 15000
#define MAX_LOG (8 << 20) /* sandboxd keeps its log below 4 MiB */
#define LOG_LINES 50

static int print_status(struct ctl *c, const json_t *health)
{
	autofree char *version =
		sanitize_line(json_str_or(health, "version", "?"));
	autofree char *url = sanitize_line(json_str_or(health, "url", ""));
	autofree char *token = paths_token();
	char span[OUT_SIZE_LEN];

	if (c->json) {
		out_json(health);
		return 0;
	}
	printf("sandboxd %s runs as process %lld, for %s.\n", version,
	       json_int_or(health, "pid", 0),
	       out_span(json_int_or(health, "uptime_s", 0), span));
	if (*url)
		printf("It serves %s, for who has the token in %s.\n", url,
		       token);
	return 0;
}

static int run_status(struct ctl *c, const struct cmd_args *a,
		      struct sb_err *err)
{
	autojson json_t *health = NULL;

	if (daemon_connect(c, err) || daemon_health(c, &health, err)) {
		if (err->code == SB_MISSING)
			sb_hint(err, "the next command starts it");
		return -1;
	}
	return print_status(c, health);
}

static int run_start(struct ctl *c, const struct cmd_args *a,
		     struct sb_err *err)
{
	autojson json_t *health = NULL;

	if (daemon_open(c, err) || daemon_health(c, &health, err))
		return -1;
	return print_status(c, health);
}

static int end_process(pid_t pid, struct sb_err *err)
{
	autoclose int fd = pidfd_open(pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0 || pidfd_send_signal(fd, SIGTERM, NULL, 0)) {
		if (errno == ESRCH)
			return 0;
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot stop process %d: %m", pid);
	}
	if (poll(&p, 1, STOP_MS) > 0)
		return 0;
	sb_fail(err, SB_TIMEOUT, "sandboxd (process %d) did not end in %d s",
		pid, STOP_MS / 1000);
	return sb_hint(err, "kill -9 %d; sandboxes outlive it", pid);
}

static int run_stop(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *health = NULL, *j = NULL;
	pid_t pid = 0;

	if (daemon_connect(c, err) == 0) {
		if (daemon_health(c, &health, err))
			return -1;
		pid = json_int_or(health, "pid", 0);
		daemon_close(c);
	} else if (err->code != SB_MISSING && err->code != SB_SYSTEM) {
		return -1;
	}
	if (pid > 1 && end_process(pid, err))
		return -1;
	if (c->json) {
		j = json_pack("{s:b}", "stopped", pid > 1);
		out_json(j);
	} else {
		puts(pid > 1 ? "sandboxd has ended; sandboxes run on."
			     : "sandboxd does not run.");
	}
	return 0;
}

struct log_values {
	long long lines;
};

static const struct opt log_opts[] = {
	{ .name = "lines",
	  .letter = 'n',
	  .arg = "N",
	  .help = "the last N lines (default 50)",
	  .kind = OPT_NUM,
	  .store = offsetof(struct log_values, lines) },
	{ 0 },
};

/* Where the last n lines of text begin. */
static const char *tail(const char *text, size_t len, long long n)
{
	const char *p = text + len;

	if (p > text && p[-1] == '\n')
		p--;
	while (p > text && (p[-1] != '\n' || --n > 0))
		p--;
	return p;
}

static int run_log(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct log_values *v = a->values;
	autofree char *path = paths_log(), *text = NULL;
	autojson json_t *j = json_object();
	json_t *lines = json_array();
	char *rest, *line;
	size_t len;

	json_put(j, "file", json_str(path));
	json_put(j, "lines", lines);
	if (fs_read(path, MAX_LOG, &text, &len, err))
		return -1;
	rest = (char *)tail(text, len, v->lines ? v->lines : LOG_LINES);
	while ((line = strsep(&rest, "\n"))) {
		autofree char *safe = sanitize_line(line);

		if (!rest && !*line)
			break;
		if (c->json)
			json_array_append_new(lines, json_str(line));
		else
			puts(safe);
	}
	if (c->json)
		out_json(j);
	return 0;
}

static const struct cmd cmd_status = {
	.name = "daemon status",
	.summary = "say whether sandboxd runs",
	.examples = "sandboxctl daemon status",
	.run = run_status,
};

static const struct cmd cmd_start = {
	.name = "daemon start",
	.summary = "start sandboxd, if it does not run",
	.detail = "Every command that needs it does the same.",
	.examples = "sandboxctl daemon start",
	.run = run_start,
};

static const struct cmd cmd_stop = {
	.name = "daemon stop",
	.summary = "end sandboxd; sandboxes run on",
	.detail = "The next command starts it again, and it finds them.",
	.examples = "sandboxctl daemon stop",
	.run = run_stop,
};

static const struct cmd cmd_log = {
	.name = "daemon log",
	.alias = "logs",
	.summary = "print the last lines of sandboxd's log",
	.examples = "sandboxctl daemon log -n 20",
	.opts = log_opts,
	.values = sizeof(struct log_values),
	.run = run_log,
};

static const struct cmd *const commands[] = { &cmd_status, &cmd_start,
					      &cmd_stop, &cmd_log, NULL };

const struct cmd cmd_daemon = {
	.name = "daemon",
	.section = "Host",
	.args = "COMMAND",
	.summary = "see and control sandboxd, which sandboxctl talks to",
	.max = CMD_ANY,
	.verbatim = 1,
	.words = { WORD_COMMAND },
	.sub = commands,
};
