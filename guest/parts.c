/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>

#include "common/static.h"
#include "guest/api.h"
#include "guest/bundle.h"
#include "guest/desktop.h"
#include "guest/gateway.h"
#include "guest/input-run.h"
#include "guest/child-log.h"
#include "guest/lab.h"
#include "guest/parts.h"
#include "guest/process.h"
#include "guest/recording.h"
#include "guest/run.h"
#include "guest/screen.h"
#include "guest/terminal.h"

#define SCREEN_LIMIT_MS 10000

static char *share_file(const struct options *o, const char *name)
{
	/* Absolute, as kernels start elsewhere. */
	autofree char *share = o->share ? realpath(o->share, NULL)
					: bundle_file("share");

	return xasprintf("%s/%s", share ? share : o->share, name);
}

static struct static_site *page(const struct options *o, const char *name,
				const char *csp)
{
	autofree char *dir = share_file(o, name);

	return static_site_new(dir, csp);
}

static int kernel_as(void *arg, const json_t *env, struct spawn_as **ret,
		     struct sb_err *err)
{
	struct run_params r = { .env = env };

	return run_as(arg, &r, ret, err);
}

static const char *kernel_workspace(void *arg)
{
	return run_workspace(arg);
}

static struct gateway *make_gateway(struct guestd *g, const struct options *o)
{
	struct gateway_config cfg = {
		.loop = g->loop,
		.run_dir = g->run_dir,
		.specs = g->kernelspecs,
		.log = g->kernel_log,
		.listen = g->listen,
		.make_as = kernel_as,
		.workspace = kernel_workspace,
		.arg = g,
		.max_journal = (uint64_t)o->journal_mib * 1024 * 1024,
		.limits = {
			.max_kernels = (int)o->max_kernels,
			.cull_ms = o->cull_s * 1000,
			.warm = o->warm_kernel,
		},
	};

	return gateway_new(&cfg);
}

static struct lab *make_lab(struct guestd *g, const struct options *o)
{
	struct lab_config cfg = {
		.loop = g->loop,
		.processes = g->processes,
		.run_dir = g->run_dir,
		.program = o->jupyterlab,
		.share = g->jupyter_share,
		.make_as = kernel_as,
		.workspace = kernel_workspace,
		.arg = g,
	};

	return lab_new(&cfg);
}

static int desktop_as(void *arg, struct spawn_as **ret, struct sb_err *err)
{
	return kernel_as(arg, NULL, ret, err);
}

static void make_desktop(struct guestd *g, const struct options *o)
{
	autofree char *share = share_file(o, "desktop");
	autofree char *module = bundle_beside(0, "guestd-screen.so");
	struct screen_config screen = {
		.loop = g->loop,
		.module = module,
		.limit_ms = SCREEN_LIMIT_MS,
	};
	struct desktop_config cfg = {
		.loop = g->loop,
		.run_dir = g->run_dir,
		.share = share,
		.log = g->desktop_log,
		.of = o->display_of,
		.make_as = desktop_as,
		.workspace = kernel_workspace,
		.arg = g,
	};

	g->screen = cfg.screen = screen_new(&screen);
	g->desktop = desktop_new(&cfg);
}

/* As whom films are made, if there is a screen. */
static int recorder_as(void *arg, struct spawn_as **ret, struct sb_err *err)
{
	const struct guestd *g = arg;

	if (desktop_check(g->desktop, err) < 0)
		return -1;
	return desktop_as(arg, ret, err);
}

static struct recordings *make_recordings(struct guestd *g)
{
	autofree char *program = bundle_beside(0, "sandbox-recorder");
	struct recordings_config cfg = {
		.loop = g->loop,
		.program = program,
		.make_as = recorder_as,
		.arg = g,
	};

	return recordings_new(&cfg);
}

int parts_make(struct guestd *g, const struct options *o, struct sb_err *err)
{
	g->processes = process_table_new(g->loop, g->run_dir, err);
	if (!g->processes)
		return -1;
	g->terminal_page = page(o, "terminal", static_csp_terminal);
	g->vnc_page = page(o, "vnc", static_csp_vnc);
	g->kernel_log = child_log_new(o->run_dir, KERNEL_LOG);
	g->desktop_log = child_log_new(o->run_dir, DESKTOP_LOG);
	g->kernelspecs = share_file(o, "jupyter/kernels");
	g->jupyter_share = share_file(o, "jupyter");
	g->terminals = terminal_table_new(g->loop);
	g->gateway = make_gateway(g, o);
	g->lab = make_lab(g, o);
	make_desktop(g, o);
	g->recordings = make_recordings(g);
	return 0;
}

void parts_end(struct guestd *g)
{
	lab_free(g->lab);
	process_table_free(g->processes);
	terminal_table_free(g->terminals);
	static_site_free(g->terminal_page);
	static_site_free(g->vnc_page);
	gateway_free(g->gateway);
	recordings_free(g->recordings);
	input_run_end_all();
	screen_free(g->screen);
	desktop_free(g->desktop);
	jupyter_sessions_free(g->sessions);
}

void parts_done(struct guestd *g)
{
	free(g->kernelspecs);
	child_log_free(g->kernel_log);
	child_log_free(g->desktop_log);
	free(g->jupyter_share);
}
