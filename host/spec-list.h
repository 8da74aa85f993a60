/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The keys of a specification that hold a list or a map. */

#include "host/spec-value.h"
#include "host/spec.h"

/* Put a JSON value over what is there; see spec_from_json() for the rules. */
int spec_read_mounts(struct reader *r, const json_t *v, struct spec *io);
int spec_read_ports(struct reader *r, const json_t *v, struct spec *io);
int spec_read_host_ports(struct reader *r, const json_t *v, struct spec *io);
int spec_read_origins(struct reader *r, const json_t *v, struct spec *io);
int spec_read_env(struct reader *r, const json_t *v, struct spec *io);
int spec_read_labels(struct reader *r, const json_t *v, struct spec *io);

json_t *spec_write_mounts(const struct spec *s);
json_t *spec_write_ports(const struct spec *s);
json_t *spec_write_host_ports(const struct spec *s);
json_t *spec_write_origins(const struct spec *s);
json_t *spec_write_env(const struct spec *s);
json_t *spec_write_labels(const struct spec *s);

void spec_vars_done(struct spec_vars *vars);
/* Give vars its own copy of what it borrows. */
void spec_vars_own(struct spec_vars *vars);
