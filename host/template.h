/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Templates: files NAME.yaml with the keys of a specification, and one more,
 * "description".  sandbox-template(5) explains them.
 */

#include <jansson.h>

#include "common/err.h"
#include "host/spec.h"

/*
 * Put the template called name over io, and its name into io->template.  dirs
 * (ends with NULL) are searched in order.  SB_NOTFOUND with the names that
 * there are, or SB_INVALID with "FILE:LINE: key: what is wrong"; io is then
 * unchanged.
 */
int template_load(const char *name, char *const dirs[], struct spec *io,
		  struct sb_err *err);

/*
 * All templates by name: [{"name", "description", "file"}…].  One that cannot
 * be used has "error" in place of its description.
 */
json_t *template_list(char *const dirs[]);
