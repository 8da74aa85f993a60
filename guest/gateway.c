/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels of the sandbox. */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/gateway-zmq.h"
#include "guest/kernel-private.h"

#define CULL_CHECKS 10 /* in the time after which one is idle */
#define MIN_CHECK_MS 1000

struct gateway {
	struct gateway_config cfg;
	TAILQ_HEAD(, kernel) all;
	int n;
	struct kernel *warm;
	char *dflt; /* id of the default kernel */
	struct loop_timer *cull;
};

static void cull(void *arg);

struct gateway *gateway_new(const struct gateway_config *cfg)
{
	struct gateway *gw = xcalloc(1, sizeof(*gw));

	gw->cfg = *cfg;
	if (!gw->cfg.max_kernels)
		gw->cfg.max_kernels = GATEWAY_MAX_KERNELS;
	TAILQ_INIT(&gw->all);
	gw->cull = loop_timer_new(cfg->loop, cull, gw);
	return gw;
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
}

static int64_t check_ms(const struct gateway *gw)
{
	return MAX(gw->cfg.cull_ms / CULL_CHECKS, MIN_CHECK_MS);
}

static void cull(void *arg)
{
	struct gateway *gw = arg;
	int64_t now = clock_ms();
	struct kernel *k;

	TAILQ_FOREACH(k, &gw->all, next) {
		if (k == gw->warm || k->connections || kernel_is_busy(k) ||
		    now - kernel_active_ms(k) < gw->cfg.cull_ms)
			continue;
		log_info("kernel '%s' was idle for too long", k->id);
		kernel_stop(k);
	}
	loop_timer_set(gw->cull, check_ms(gw));
}

static void warm_up(void *arg)
{
	struct gateway *gw = arg;
	struct kernel_config cfg = { 0 };
	struct sb_err err;

	if (!gw->cfg.warm || gw->warm || gw->n >= gw->cfg.max_kernels)
		return;
	if (kernel_start(gw, &cfg, &gw->warm, &err) < 0)
		log_warn("no warm kernel: %s", err.msg);
}

static void adopt_all(struct gateway *gw)
{
	autofree char *dir = gateway_folder(gw, "");
	DIR *d = opendir(dir);
	struct dirent *de;
	struct sb_err err;

	while (d && (de = readdir(d))) {
		char id[KERNEL_ID_LEN + 1];

		if (strlen(de->d_name) != KERNEL_ID_LEN + 5 ||
		    !str_ends(de->d_name, ".json"))
			continue;
		memcpy(id, de->d_name, KERNEL_ID_LEN);
		id[KERNEL_ID_LEN] = '\0';
		if (kernel_adopt(gw, id, &err) < 0)
			log_info("kernel '%s' was not found again: %s", id,
				 err.msg);
		else
			log_info("kernel '%s' was found again", id);
	}
	if (d)
		closedir(d);
}

void gateway_begin(struct gateway *gw)
{
	adopt_all(gw);
	warm_up(gw);
	if (gw->cfg.cull_ms)
		loop_timer_set(gw->cull, check_ms(gw));
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

int gateway_start(struct gateway *gw, const struct kernel_config *cfg,
		  struct kernel **ret, struct sb_err *err)
{
	struct kernel *k;

	if (gw->n - (gw->warm ? 1 : 0) >= gw->cfg.max_kernels) {
		sb_fail(err, SB_DENIED,
			"there are %d kernels already, which "
			"is as many as there may be",
			gw->cfg.max_kernels);
		return sb_hint(err, "end one with DELETE /api/kernels/ID");
	}
	if (cfg->id && gateway_find(gw, cfg->id, &k, NULL) == 0)
		return sb_fail(err, SB_CONFLICT, "kernel '%s' exists already",
			       cfg->id);
	if (warm_fits(gw, cfg)) {
		*ret = steal(&gw->warm);
		kernel_touch(*ret);
		loop_post(gw->cfg.loop, warm_up, gw);
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

int gateway_default(struct gateway *gw, struct kernel **ret, struct sb_err *err)
{
	struct kernel_config cfg = { 0 };

	if (gw->dflt && gateway_find(gw, gw->dflt, ret, NULL) == 0 &&
	    kernel_state(*ret) != KERNEL_DEAD)
		return 0;
	if (gateway_start(gw, &cfg, ret, err) < 0)
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
