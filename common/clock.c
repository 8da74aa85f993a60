/* SPDX-License-Identifier: Apache-2.0 */
/* Time. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "common/clock.h"

static int64_t now_ms(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_ms(void)
{
	return now_ms(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
	return now_ms(CLOCK_REALTIME);
}

int clock_left(int64_t deadline_ms)
{
	int64_t left = deadline_ms - clock_ms();

	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

void clock_iso(int64_t wall_ms, char out[CLOCK_ISO_LEN])
{
	time_t t = wall_ms / 1000;
	struct tm tm;
	char day[CLOCK_ISO_LEN];

	gmtime_r(&t, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, CLOCK_ISO_LEN, "%.19s.%03uZ", day,
		 (unsigned int)(wall_ms % 1000) % 1000);
}
