/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which kernels there are: folders with a kernel.json in Jupyter's data paths
 * as the sandbox's user has them, those of virtual environments in the
 * workspace, and our own, also for each of these environments.  They are looked
 * for each time, as installing one is a command away.
 */

#include <jansson.h>

#include "common/err.h"
#include "guest/spawn.h"

/* The names that a specification may have. */
bool kernelspec_name_is_good(const char *name);

struct kernelspec {
	char *name;
	char *dir;    /* its resources */
	json_t *spec; /* kernel.json */
	char *path;   /* before PATH, or NULL */
};
void kernelspec_done(struct kernelspec *s);

/* Where to look. */
struct kernelspec_paths {
	const struct spawn_as *as;
	const char *workspace;
	const char *own; /* a folder with specifications, or NULL */
};

/* SB_NOTFOUND if there is none of that name; "" or NULL: the default. */
int kernelspec_find(const struct kernelspec_paths *where, const char *name,
		    struct kernelspec *ret, struct sb_err *err);

/* {default, kernelspecs{name: model}} as Jupyter has it. */
json_t *kernelspec_list(const struct kernelspec_paths *where);
/* {name, spec, resources{}} */
json_t *kernelspec_model(const struct kernelspec *s);
