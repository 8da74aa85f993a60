/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a command fetches, on its way into a file: written beside it and renamed
 * when it is whole.  "-" is stdout; that, devices and pipes are written as they
 * are.  Nothing is ever written to a terminal.
 */

#include <stddef.h>

#include "common/err.h"

struct save {
	char *path; /* where it is to be */
	char *tmp;  /* where it is until then; NULL: there already */
	int fd;
};

/*
 * The file that is meant by the output that was asked for: NULL is one here,
 * a folder one in it, named stem and suffix, that does not exist yet.
 */
char *save_name(const char *output, const char *stem, const char *suffix);

int save_open(struct save *s, const char *path, struct sb_err *err);
int save_add(struct save *s, const void *data, size_t len, struct sb_err *err);
/* All is there. */
int save_end(struct save *s, struct sb_err *err);
/* What was not ended is removed. */
void save_done(struct save *s);
#define autosave __attribute__((cleanup(save_done)))
