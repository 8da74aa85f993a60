/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Time: monotonic milliseconds for waits, wall-clock for people. */

#include <stdint.h>

int64_t clock_ms(void);	     /* monotonic */
int64_t clock_wall_ms(void); /* since 1970 */

/* Milliseconds left until a monotonic deadline, 0 when it has passed. */
int clock_left(int64_t deadline_ms);

#define CLOCK_ISO_LEN 25
/* "2026-01-31T12:34:56.789Z" */
void clock_iso(int64_t wall_ms, char out[CLOCK_ISO_LEN]);

/* A time of RFC 3339, to ms since 1970.  -1 when s is anything else. */
int clock_parse(const char *s, int64_t *ret_ms);
