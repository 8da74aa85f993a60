/* SPDX-License-Identifier: Apache-2.0 */
/* Time. */
#include "config.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
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

/* "Z", "+02:00" or "-02:00", in minutes. */
static int parse_offset(const char *s, int *ret)
{
	unsigned int h, m;
	int end = 0;

	*ret = 0;
	if (strcasecmp(s, "z") == 0)
		return 0;
	if ((*s != '+' && *s != '-') || !isdigit((unsigned char)s[1]) ||
	    sscanf(s + 1, "%2u:%2u%n", &h, &m, &end) != 2 || end != 5 || s[6] ||
	    h > 23 || m > 59)
		return -1;
	*ret = (int)(h * 60 + m) * (*s == '-' ? -1 : 1);
	return 0;
}

int clock_parse(const char *s, int64_t *ret_ms)
{
	struct tm tm = { 0 };
	const char *p = strptime(s, "%Y-%m-%d", &tm);
	int64_t ms = 0;
	int offset;

	if (!p || p - s != 10 || !strchr("Tt ", *p) || !*p)
		return -1;
	s = p + 1;
	p = strptime(s, "%H:%M:%S", &tm);
	if (!p || p - s != 8)
		return -1;
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return -1;
		for (int64_t unit = 100; isdigit((unsigned char)*p); p++) {
			ms += (*p - '0') * unit;
			unit /= 10;
		}
	}
	if (parse_offset(p, &offset) < 0)
		return -1;
	*ret_ms = ((int64_t)timegm(&tm) - offset * 60) * 1000 + ms;
	return 0;
}
