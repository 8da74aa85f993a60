/* SPDX-License-Identifier: Apache-2.0 */
/* What guestd is told when it is started. */
#include "config.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/http1.h"
#include "common/util.h"
#include "guest/control.h"
#include "guest/desktop.h"
#include "guest/options.h"

static const char usage[] =
	"usage: guestd [OPTION...]\n"
	"The server in a sandbox.  It serves nobody before the host has told it\n"
	"on the control channel who it is, or a token is given here.\n"
	"\n"
	"  --listen ADDRESS   IP address to listen on (127.0.0.1)\n"
	"  --port N           TCP port, 0 for a free one (8765)\n"
	"  --token-file FILE  take the token from FILE, use no control channel\n"
	"  --no-auth          ask for no token, use no control channel\n"
	"  --control PATH     the control channel (virtio port " CONTROL_PORT
	")\n"
	"  --run-dir DIR      state of this boot (/run/sandbox)\n"
	"  --log FILE         log to FILE (DIR/guestd.log, then in the share)\n"
	"  --debug            log more, such as every request\n"
	"  --languages FILE   how to run code (languages.json of the bundle)\n"
	"  --share DIR        files of the pages (share of the bundle)\n"
	"  --jupyterlab FILE  the program (jupyter-lab in PATH, or in\n"
	"                     /opt/jupyterlab/bin)\n"
	"  --jupyter-port N   another port, for Jupyter's clients\n"
	"  --max-kernels N    how many kernels there may be (64)\n"
	"  --journal MIB      how much of what a kernel says is kept (256)\n"
	"  --cull-idle TIME   end kernels that were idle for TIME: 90, 15m, 2h\n"
	"  --warm-kernel      keep one kernel started for the next who wants one\n"
	"  --display SIZE     have a desktop, 1280x800, or none (none)\n"
	"  --display-of :N    use the X server that is there as :N\n"
	"  --origin URL       let pages of this web origin ask, '*' for any\n"
	"  --version, --help\n";

enum kind { STR, FLAG, NUM, TIME, ORIGIN, VERSION, HELP };

static const struct {
	const char *name;
	enum kind kind;
	size_t store;
	long long min, max;
} rows[] = {
	/* clang-format off */
	{ "listen", STR, offsetof(struct options, listen) },
	{ "port", NUM, offsetof(struct options, port), 0, 65535 },
	{ "token-file", STR, offsetof(struct options, token_file) },
	{ "no-auth", FLAG, offsetof(struct options, no_auth) },
	{ "control", STR, offsetof(struct options, control) },
	{ "run-dir", STR, offsetof(struct options, run_dir) },
	{ "log", STR, offsetof(struct options, log) },
	{ "debug", FLAG, offsetof(struct options, debug) },
	{ "languages", STR, offsetof(struct options, languages) },
	{ "share", STR, offsetof(struct options, share) },
	{ "jupyterlab", STR, offsetof(struct options, jupyterlab) },
	{ "jupyter-port", NUM, offsetof(struct options, jupyter_port), 0, 65535 },
	{ "max-kernels", NUM, offsetof(struct options, max_kernels), 1, 1000 },
	{ "journal", NUM, offsetof(struct options, journal_mib), 8, 1000000 },
	{ "cull-idle", TIME, offsetof(struct options, cull_s) },
	{ "warm-kernel", FLAG, offsetof(struct options, warm_kernel) },
	{ "display", STR, offsetof(struct options, display) },
	{ "display-of", STR, offsetof(struct options, display_of) },
	{ "origin", ORIGIN },
	{ "version", VERSION },
	{ "help", HELP },
	/* clang-format on */
};

static __attribute__((noreturn, format(printf, 1, 2))) void
bad_usage(const char *fmt, ...)
{
	va_list ap;

	fputs("guestd: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nTry 'guestd --help'.\n", stderr);
	exit(2);
}

static void add_origin(struct options *o, const char *origin)
{
	if (o->norigins == MAX_ORIGINS)
		bad_usage("--origin was given too often");
	if (strcmp(origin, "*") != 0 && !http1_is_origin(origin))
		bad_usage("--origin wants what browsers send, such as "
			  "https://lab.example or http://localhost:8080, or *");
	o->origins[o->norigins++] = origin;
}

static void take(struct options *o, int i, const char *arg)
{
	void *store = (char *)o + rows[i].store;
	long long n;

	switch (rows[i].kind) {
	case STR:
		*(const char **)store = arg;
		break;
	case FLAG:
		*(bool *)store = true;
		break;
	case NUM:
		if (parse_num(arg, rows[i].min, rows[i].max, &n) < 0)
			bad_usage("--%s wants a number from %lld to %lld",
				  rows[i].name, rows[i].min, rows[i].max);
		*(long long *)store = n;
		break;
	case TIME:
		if (parse_duration(arg, store) < 0)
			bad_usage("--%s wants a time: 90, 15m, 2h",
				  rows[i].name);
		break;
	case ORIGIN:
		add_origin(o, arg);
		break;
	case VERSION:
		puts("guestd " PACKAGE_VERSION);
		exit(0);
	case HELP:
		fputs(usage, stdout);
		exit(0);
	}
}

static void check(const struct options *o)
{
	struct sb_err err;
	int width, height;

	if (o->token_file && o->no_auth)
		bad_usage("--token-file and --no-auth exclude each other");
	if (o->control && (o->token_file || o->no_auth))
		bad_usage(
			"--control does not go with --token-file or --no-auth");
	if (o->display && o->display_of)
		bad_usage("--display and --display-of exclude each other");
	if (o->display &&
	    desktop_parse_size(o->display, &width, &height, &err) < 0)
		bad_usage("--display: %s", err.msg);
}

void options_parse(int argc, char **argv, struct options *ret)
{
	struct option longs[ARRAY_SIZE(rows) + 1] = { 0 };
	int c, i;

	*ret = (struct options){
		.listen = "127.0.0.1",
		.port = 8765,
		.run_dir = "/run/sandbox",
	};
	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		longs[n].name = rows[n].name;
		longs[n].has_arg = rows[n].kind == FLAG ||
						   rows[n].kind >= VERSION
					   ? no_argument
					   : required_argument;
	}
	while ((c = getopt_long(argc, argv, "", longs, &i)) == 0)
		take(ret, i, optarg);
	if (c != -1)
		exit(2);
	if (optind < argc)
		bad_usage("there are no arguments, only options");
	check(ret);
}
