/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What can be told of this host without sandboxd.  A check is an object
 * {"name", "status": "ok|warn|fail", "detail", "remedy"?}, as in GET
 * /v1/doctor.
 */

#include <jansson.h>
#include <stdbool.h>

/* Append a check; remedy may be NULL. */
void checks_add(json_t *list, const char *name, const char *status,
		const char *detail, const char *remedy);

/* /dev/kvm, memory, our folders, and the packages that we need. */
void checks_host(json_t *list);

/* Whether it is in PATH, or where administrators' programs are. */
bool checks_has_program(const char *name);

/* Free space below the folders of images and state. */
void checks_space(json_t *list);
