/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels of the sandbox. */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/gateway-zmq.h"
#include "guest/kernel-ports.h"
#include "guest/kernel-private.h"

#define CULL_CHECKS 10 /* in the time after which one is idle */
#define MIN_CHECK_MS 1000
/* The one who took the warm kernel comes before the next. */
#define WARM_MS 1000

struct gateway {
	struct gateway_config cfg;
	TAILQ_HEAD(, kernel) all;
	int n;
	struct kernel *warm;
	struct loop_timer *warm_up;
	char *dflt; /* id of the default kernel */
	struct loop_timer *cull;
	struct kernel_journals *journals;
};

static void cull(void *arg);
static void warm_up(void *arg);

static void set_limits(struct gateway *gw, const struct gateway_limits *l)
{
	gw->cfg.limits = *l;
	if (!l->max_kernels)
		gw->cfg.limits.max_kernels = GATEWAY_MAX_KERNELS;
}

struct gateway *gateway_new(const struct gateway_config *cfg)
{
	struct gateway *gw = xcalloc(1, sizeof(*gw));

	gw->cfg = *cfg;
	set_limits(gw, &cfg->limits);
	TAILQ_INIT(&gw->all);
	gw->cull = loop_timer_new(cfg->loop, cull, gw);
	gw->warm_up = loop_timer_new(cfg->loop, warm_up, gw);
	gw->journals = kernel_journals_new(
		KERNEL_KEPT_DIR, GATEWAY_JOURNALS * kernel_max_kept(gw));
	return gw;
}

struct kernel_journals *gateway_journals(struct gateway *gw)
{
	return gw->journals;
}

const struct gateway_config *gateway_config(const struct gateway *gw)
{
	return &gw->cfg;
}

void gateway_free(struct gateway *gw)
{
	struct kernel *k;

	if (!gw)
		return;
	while ((k = TAILQ_FIRST(&gw->all)))
		kernel_free(k);
	loop_timer_free(gw->cull);
	loop_timer_free(gw->warm_up);
	kernel_journals_free(gw->journals);
	free(gw->dflt);
	free(gw);
}

char *gateway_folder(const struct gateway *gw, const char *id)
{
	return xasprintf("%s/kernels%s%s", gw->cfg.run_dir, *id ? "/" : "", id);
}

void gateway_add(struct gateway *gw, struct kernel *k)
{
	TAILQ_INSERT_TAIL(&gw->all, k, next);
	gw->n++;
}

void gateway_remove(struct gateway *gw, struct kernel *k)
{
	TAILQ_REMOVE(&gw->all, k, next);
	gw->n--;
	if (gw->warm == k)
		gw->warm = NULL;
	if (k->state == KERNEL_STOPPING) /* there is room for one more */
		loop_timer_set(gw->warm_up, WARM_MS);
}

static int64_t check_ms(const struct gateway *gw)
{
	return MAX(gw->cfg.limits.cull_ms / CULL_CHECKS, MIN_CHECK_MS);
}

static void cull(void *arg)
{
	struct gateway *gw = arg;
	int64_t now = clock_ms();
	struct kernel *k;

	TAILQ_FOREACH(k, &gw->all, next) {
		if (k == gw->warm || k->connections || kernel_is_busy(k) ||
		    kernel_ports_in_use(k) ||
		    now - kernel_active_ms(k) < gw->cfg.limits.cull_ms)
			continue;
		log_info("kernel '%s' was idle for too long", k->id);
		kernel_stop(k);
	}
	loop_timer_set(gw->cull, check_ms(gw));
}

static void warm_up(void *arg)
{
	struct gateway *gw = arg;
	const struct gateway_limits *l = &gw->cfg.limits;
	struct kernel_config cfg = { .warm = true };
	struct sb_err err;

	if (gw->warm && kernel_state(gw->warm) == KERNEL_DEAD)
		kernel_stop(steal(&gw->warm)); /* and then the next */
	else if (l->warm && !gw->warm && gw->n < l->max_kernels &&
		 kernel_start(gw, &cfg, &gw->warm, &err) < 0)
		log_warn("no warm kernel: %s", err.msg);
}

static void adopt_all(struct gateway *gw)
{
	autofree char *dir = gateway_folder(gw, "");
	DIR *d = opendir(dir);
	struct dirent *de;
	struct kernel *k;
	struct sb_err err;

	while (d && (de = readdir(d))) {
		char id[KERNEL_ID_LEN + 1];

		if (strlen(de->d_name) != KERNEL_ID_LEN + 5 ||
		    !str_ends(de->d_name, ".json"))
			continue;
		memcpy(id, de->d_name, KERNEL_ID_LEN);
		id[KERNEL_ID_LEN] = '\0';
		if (kernel_adopt(gw, id, &k, &err) < 0) {
			log_info("kernel '%s' was not found again: %s", id,
				 err.msg);
			continue;
		}
		log_info("kernel '%s' was found again", id);
		if (k->warm)
			gw->warm = k;
	}
	if (d)
		closedir(d);
}

void gateway_begin(struct gateway *gw)
{
	adopt_all(gw);
}

void gateway_open(struct gateway *gw, const struct gateway_limits *limits,
		  int delay_ms)
{
	set_limits(gw, limits);
	loop_timer_set(gw->warm_up, delay_ms);
	if (gw->cfg.limits.cull_ms)
		loop_timer_set(gw->cull, check_ms(gw));
	else
		loop_timer_clear(gw->cull);
}

void gateway_cool(struct gateway *gw)
{
	if (gw->warm)
		kernel_stop(steal(&gw->warm));
}

/* Whether the warm kernel is what is asked for. */
static bool warm_fits(const struct gateway *gw, const struct kernel_config *cfg)
{
	const struct kernel *k = gw->warm;

	return k && !cfg->id && str_empty(cfg->cwd) &&
	       !json_object_size(cfg->env) && k->state <= KERNEL_READY &&
	       !k->ended &&
	       (str_empty(cfg->name) || strcmp(cfg->name, k->name) == 0);
}

/*
 * Clients name notebooks, and folders that they have and we do not: the nearest
 * folder above that there is, NULL for the workspace.  The caller's.
 */
static char *nearest_folder(const char *workspace, const char *path)
{
	autofree char *p = xstrdup(path ? path : "");
	struct stat st;
	char *slash;

	while (*p) {
		autofree char *whole =
			*p == '/' ? xstrdup(p)
				  : xasprintf("%s/%s", workspace, p);

		if (stat(whole, &st) == 0 && S_ISDIR(st.st_mode))
			return steal(&p);
		slash = strrchr(p, '/');
		*(slash ? slash : p) = '\0';
	}
	return NULL;
}

int gateway_start(struct gateway *gw, const struct kernel_config *wanted,
		  struct kernel **ret, struct sb_err *err)
{
	autofree char *cwd =
		nearest_folder(gw->cfg.workspace(gw->cfg.arg), wanted->cwd);
	struct kernel_config with = *wanted, *cfg = &with;
	struct kernel *k;

	with.cwd = cwd;
	if (gw->n - (gw->warm ? 1 : 0) >= gw->cfg.limits.max_kernels) {
		sb_fail(err, SB_DENIED,
			"there are %d kernels already, which "
			"is as many as there may be",
			gw->cfg.limits.max_kernels);
		return sb_hint(err, "end one with DELETE /api/kernels/ID");
	}
	if (cfg->id && gateway_find(gw, cfg->id, &k, NULL) == 0)
		return sb_fail(err, SB_CONFLICT, "kernel '%s' exists already",
			       cfg->id);
	loop_timer_set(gw->warm_up, WARM_MS);
	if (warm_fits(gw, cfg)) {
		*ret = steal(&gw->warm);
		(*ret)->warm = false;
		kernel_process_note(*ret);
		kernel_touch(*ret);
		return 0;
	}
	return kernel_start(gw, cfg, ret, err);
}

int gateway_find(struct gateway *gw, const char *id, struct kernel **ret,
		 struct sb_err *err)
{
	struct kernel *k;

	TAILQ_FOREACH(k, &gw->all, next)
		if (strcmp(k->id, id) == 0 && k != gw->warm &&
		    k->state != KERNEL_STOPPING) {
			*ret = k;
			return 0;
		}
	sb_fail(err, SB_NOTFOUND, "there is no kernel '%.64s'", id);
	return sb_hint(err, "GET /api/kernels lists those that there are");
}

/* One that has died is not shared any more, but can be restarted. */
static struct kernel *find_shared(struct gateway *gw, const char *name)
{
	struct kernel *k;

	TAILQ_FOREACH(k, &gw->all, next) {
		if (!k->shared || k->state == KERNEL_STOPPING ||
		    strcmp(k->name, name) != 0)
			continue;
		if (k->state != KERNEL_DEAD)
			return k;
		k->shared = false;
	}
	return NULL;
}

int gateway_shared(struct gateway *gw, const char *name, struct kernel **ret,
		   struct sb_err *err)
{
	struct kernel_config cfg = { .name = name };

	*ret = find_shared(gw, name);
	if (*ret)
		return 0;
	if (gateway_start(gw, &cfg, ret, err) < 0)
		return -1;
	kernel_share(*ret);
	return 0;
}

/* What it is called costs a look at many folders: only when it is new. */
static int default_name(const struct gateway *gw, char **ret,
			struct sb_err *err)
{
	const struct gateway_config *cfg = &gw->cfg;
	struct kernelspec spec = { 0 };
	struct kernelspec_paths where;
	autospawnas struct spawn_as *as = NULL;

	if (cfg->make_as(cfg->arg, NULL, &as, err) < 0)
		return -1;
	where = (struct kernelspec_paths){ as, cfg->workspace(cfg->arg),
					   cfg->specs };
	if (kernelspec_find(&where, NULL, &spec, err) < 0)
		return -1;
	*ret = steal(&spec.name);
	kernelspec_done(&spec);
	return 0;
}

int gateway_default(struct gateway *gw, struct kernel **ret, struct sb_err *err)
{
	autofree char *name = NULL;

	if (gw->dflt && gateway_find(gw, gw->dflt, ret, NULL) == 0 &&
	    kernel_state(*ret) != KERNEL_DEAD)
		return 0;
	if (default_name(gw, &name, err) < 0 ||
	    gateway_shared(gw, name, ret, err) < 0)
		return -1;
	free(gw->dflt);
	gw->dflt = xstrdup(kernel_id(*ret));
	return 0;
}

struct kernel *gateway_next(struct gateway *gw, const struct kernel *k)
{
	struct kernel *n = k ? TAILQ_NEXT(k, next) : TAILQ_FIRST(&gw->all);

	while (n && (n == gw->warm || n->state == KERNEL_STOPPING))
		n = TAILQ_NEXT(n, next);
	return n;
}
