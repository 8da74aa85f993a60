/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What image.c and image-build.c share. */

#include "host/image.h"

/* Folders that are still being built begin with this. */
#define IMAGE_TMP_PREFIX ".tmp-"

/* For imported images, whose image.json says none. */
#define IMAGE_CMDLINE \
	"console=ttyS0 quiet net.ifnames=0 mitigations=off no_timer_check"

/* The folder that a name leads to, NULL if it is not built; the caller's. */
char *image_dir(const struct image_store *st, const char *name);

int image_meta(const char *dir, json_t **ret, struct sb_err *err);

/*
 * The hash of all that makes a built image what it is: its recipe, the
 * builder and its files, and its parent's hash.
 */
int image_recipe_hash(const struct image_store *st, const char *name,
		      char out[SHA256_HEX_LEN + 1], struct sb_err *err);

/*
 * The value of the first line "key value" of a recipe, NULL if there is none.
 * Lives until the next call on this thread.
 */
const char *image_recipe_get(const char *recipe, const char *key);

/* Remove a folder in which a build may have left files of other owners. */
void image_clean(const struct image_store *st, const char *path);
