/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The five sockets of a kernel as TCP ports, for clients that speak ZeroMQ
 * themselves and are elsewhere: what they send goes to the kernel's own sockets
 * byte for byte, and back.  The kernel's key is what keeps others out.
 */

#include <jansson.h>

#include "common/err.h"
#include "guest/kernel.h"

/* Listen, if that is not done yet.  The same ports until they are closed. */
int kernel_ports_open(struct kernel *k, struct sb_err *err);
/* What a Jupyter client wants to know, key included; NULL: not open. */
json_t *kernel_ports_json(const struct kernel *k);
/* Cuts all connections. */
void kernel_ports_close(struct kernel *k);
/* How many connections there are. */
int kernel_ports_in_use(const struct kernel *k);

/* The numbers, for who finds the kernel again; NULL: not open. */
json_t *kernel_ports_save(const struct kernel *k);
/* Listen on those numbers; if that cannot be, only the log says so. */
void kernel_ports_restore(struct kernel *k, const json_t *saved);
