/* SPDX-License-Identifier: Apache-2.0 */
/* ssh/ as a program, for test-ssh.sh: ssh-tool COMMAND ARG...  Where and as
 * whom to log in comes from the environment. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ssh/install.h"
#include "ssh/ssh.h"

static const char *need(const char *name)
{
	const char *value = getenv(name);

	if (!value) {
		fprintf(stderr, "ssh-tool: %s is not set\n", name);
		exit(2);
	}
	return value;
}

static int num(const char *name, int dflt)
{
	const char *value = getenv(name);

	return value ? atoi(value) : dflt;
}

static int usage(void)
{
	fprintf(stderr, "usage: ssh-tool open | exec [-t] [-s] [-u] COMMAND | "
			"put LOCAL REMOTE | get REMOTE LOCAL | install DIR\n");
	return 2;
}

static void to_upper(void *arg, int stream, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		if (c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		if (write(stream, &c, 1) != 1)
			abort();
	}
}

static int run_exec(struct ssh *s, char **argv, struct sb_err *err)
{
	struct ssh_exec x = {
		.in_fd = num("IN_FD", STDIN_FILENO),
		.out_fd = STDOUT_FILENO,
		.err_fd = STDERR_FILENO,
		.timeout_ms = num("EXEC_MS", -1),
	};
	int status = -1;

	for (; *argv && argv[0][0] == '-'; argv++) {
		x.tty |= !strcmp(*argv, "-t");
		x.forward_signals |= !strcmp(*argv, "-s");
		if (!strcmp(*argv, "-u"))
			x.filter = to_upper;
	}
	if (!*argv)
		return usage();
	x.command = *argv;
	return ssh_exec(s, &x, &status, err) < 0 ? -1 : status;
}

static void count(void *arg, size_t done)
{
	*(size_t *)arg = done;
}

static int run_install(struct ssh *s, char **argv, struct sb_err *err)
{
	const struct install_paths paths = {
		.prefix = need("PREFIX"),
		.systemctl = need("SYSTEMCTL"),
		.useradd = "true", /* this machine keeps the users it has */
	};
	bool done;

	if (ssh_install_at(s, argv[0], &paths, &done, err) < 0)
		return -1;
	puts(done ? "installed" : "same");
	return 0;
}

static int run(struct ssh *s, char **argv, struct sb_err *err)
{
	const struct copy_way way = ssh_copy_way(s);
	size_t bytes = 0;

	if (!strcmp(argv[0], "open"))
		return 0;
	if (!strcmp(argv[0], "exec"))
		return run_exec(s, argv + 1, err);
	if (!strcmp(argv[0], "put") && argv[1] && argv[2])
		return copy_put(&way, argv[1], argv[2], count, &bytes, err);
	if (!strcmp(argv[0], "get") && argv[1] && argv[2])
		return copy_get(&way, argv[1], argv[2], count, &bytes, err);
	if (!strcmp(argv[0], "install") && argv[1])
		return run_install(s, argv + 1, err);
	return usage();
}

int main(int argc, char **argv)
{
	struct ssh_target t = {
		.host = "127.0.0.1",
		.port = num("PORT", 0),
		.user = need("LOGIN"),
		.key_file = need("KEY"),
		.host_key = need("HOST_KEY"),
		.timeout_ms = num("OPEN_MS", 20000),
		.cancel_fd = num("CANCEL_FD", -1),
	};
	autossh struct ssh *s = NULL;
	struct sb_err err = { 0 };
	int rc;

	if (argc < 2)
		return usage();
	rc = ssh_open(&t, &s, &err);
	if (rc == 0)
		rc = run(s, argv + 1, &err);
	if (rc < 0) {
		fprintf(stderr, "%s: %s\n", sb_code_name(err.code), err.msg);
		return 200 + err.code;
	}
	return rc;
}
