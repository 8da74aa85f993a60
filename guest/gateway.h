/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * All kernels of the sandbox: how many there may be, which one is kept warm,
 * when idle ones end.
 */

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "common/loop.h"
#include "guest/spawn.h"

struct child_log;
struct gateway;
struct kernel;
struct kernel_config;
struct kernel_journals;

struct gateway_limits {
	int max_kernels; /* 0: GATEWAY_MAX_KERNELS */
	int64_t cull_ms; /* idle and without a client for so long; 0: never */
	bool warm;	 /* keep one of the default kind started */
};

struct gateway_config {
	struct loop *loop;
	const char *run_dir; /* borrowed */
	const char *specs;   /* our own kernels; borrowed, may be NULL */
	const struct child_log *log;
	const char *listen; /* IP address for kernels' ports; NULL: loopback */
	/* As whom kernels run, with env (may be NULL) added. */
	int (*make_as)(void *arg, const json_t *env, struct spawn_as **ret,
		       struct sb_err *err);
	const char *(*workspace)(void *arg);
	void *arg;
	struct gateway_limits limits;
	uint64_t max_journal; /* bytes for each kernel; 0: a default */
};
#define GATEWAY_MAX_KERNELS 64
/* All kernels together may keep so many times in files what one may. */
#define GATEWAY_JOURNALS 4

struct gateway *gateway_new(const struct gateway_config *cfg);
const struct gateway_config *gateway_config(const struct gateway *gw);
/* Find the kernels of an earlier guestd. */
void gateway_begin(struct gateway *gw);
/* From now on, what the sandbox is to be like is known: kernels may be kept
 * warm, the first one after delay_ms.  The limits replace those of the
 * configuration. */
void gateway_open(struct gateway *gw, const struct gateway_limits *limits,
		  int delay_ms);
/* The sandbox has become another: a warm kernel is not of it. */
void gateway_cool(struct gateway *gw);
/* Forgets the kernels, which go on.  After loop_run(). */
void gateway_free(struct gateway *gw);

/* Start one, or take the warm one; SB_DENIED when there are max_kernels. */
int gateway_start(struct gateway *gw, const struct kernel_config *cfg,
		  struct kernel **ret, struct sb_err *err);
/* SB_NOTFOUND if there is none. */
int gateway_find(struct gateway *gw, const char *id, struct kernel **ret,
		 struct sb_err *err);
/* The kernel that all share who name a specification, or none: started when
 * there is none yet. */
int gateway_shared(struct gateway *gw, const char *name, struct kernel **ret,
		   struct sb_err *err);
int gateway_default(struct gateway *gw, struct kernel **ret,
		    struct sb_err *err);
/* All but the warm one: NULL begins, NULL ends. */
struct kernel *gateway_next(struct gateway *gw, const struct kernel *k);
/* Folder of a kernel; the caller's. */
char *gateway_folder(const struct gateway *gw, const char *id);

/* Called by kernels. */
void gateway_add(struct gateway *gw, struct kernel *k);
void gateway_remove(struct gateway *gw, struct kernel *k);
struct kernel_journals *gateway_journals(struct gateway *gw);
