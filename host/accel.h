/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whether KVM really works here: /dev/kvm can be there and lie. */

#include <stdbool.h>

struct accel {
	bool kvm;	  /* use it */
	char reason[160]; /* why not, or which */
};

/*
 * Look at the CPU's flags and run a real-mode stub in a KVM guest, in a child
 * that is given one second.
 */
void accel_probe(struct accel *ret);
