/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The store of guest images.  IMAGES/NAME-HASH/ is one built image (root.qcow2,
 * image.json and, for one without parent, kernel and initrd); the symlink
 * IMAGES/NAME names the present one.  A folder is built under a temporary name
 * and renamed, so that what is there is whole.
 *
 * "Baked" is a thin layer over root.qcow2 that has the guest bundle installed:
 * baked-HASH.qcow2, HASH being the bundle's.  A guest on it needs no SSH.
 */

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/token.h"
#include "host/task.h"

/* Where images, recipes and the bundle are.  Strings are borrowed. */
struct image_store {
	const char *dir;
	const char *recipes;
	const char *bundle;
};

/* What a machine boots from.  All paths are absolute. */
struct image {
	char *name;
	char *hash;
	char *disk; /* the backing file for a sandbox's disk */
	char *kernel;
	char *initrd;
	char *cmdline;
	unsigned long long size; /* of the disk as the guest sees it */
	bool baked;		 /* disk has the present bundle */
	bool foreign; /* imported: lacks the libraries that guestd needs */
};
void image_done(struct image *img);
void image_copy(struct image *dst, const struct image *src);
json_t *image_to_json(const struct image *img);
int image_from_json(const json_t *j, struct image *ret, struct sb_err *err);

/*
 * Resolve a name.  SB_MISSING, with how to build it, if it is not there;
 * SB_SYSTEM if it is damaged.
 */
int image_find(const struct image_store *st, const char *name,
	       struct image *ret, struct sb_err *err);

struct image_progress {
	const struct cancel *cancel;
	void (*fn)(void *arg, int percent, const char *text);
	void *arg;
};

/*
 * Build the named recipe and, before it, its parents; nothing is done for what
 * is there already unless force.  Then bake the bundle.
 */
int image_build(const struct image_store *st, const char *name, bool force,
		const struct image_progress *p, struct sb_err *err);

/*
 * Take in a foreign disk image.  format is "qcow2" or "raw" and believed; the
 * file is copied without its backing file, which it must not have.
 */
int image_import(const struct image_store *st, const char *name,
		 const char *file, const char *format,
		 const struct image_progress *p, struct sb_err *err);

/* Remove it; SB_CONFLICT if another image is built on it. */
int image_remove(const struct image_store *st, const char *name,
		 struct sb_err *err);

/* The API's object of one, and of all (an array). */
int image_info(const struct image_store *st, const char *name, json_t **ret,
	       struct sb_err *err);
json_t *image_list(const struct image_store *st);

/* Remove what an interrupted build has left. */
void image_sweep(const struct image_store *st);
