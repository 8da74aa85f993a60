/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The parts that guestd serves, and what each is told of the others. */

#include "guest/guestd.h"
#include "guest/options.h"

#define KERNEL_LOG "jupyter.log"
#define DESKTOP_LOG "desktop.log"

int parts_make(struct guestd *g, const struct options *o, struct sb_err *err);
/* End what they do, before their clients are cut off ... */
void parts_end(struct guestd *g);
/* ... and free the rest when the loop is gone. */
void parts_done(struct guestd *g);
