/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and times: from ISO format, and as repr() writes them. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "host/result-private.h"

struct when {
	int year, month, day, hour, minute, second, micro;
	bool has_offset;
	long offset, offset_micro; /* seconds and microseconds, both signed */
};

/* Exactly n digits; moves *s behind them. */
static bool digits(const char **s, int n, int *ret)
{
	*ret = 0;
	for (; n > 0; n--, (*s)++) {
		if (!isdigit((unsigned char)**s))
			return false;
		*ret = *ret * 10 + (**s - '0');
	}
	return true;
}

static bool literal(const char **s, char c)
{
	return **s == c && (*s)++;
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30,
				    31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static bool read_date(const char **s, struct when *w)
{
	return digits(s, 4, &w->year) && literal(s, '-') &&
	       digits(s, 2, &w->month) && literal(s, '-') &&
	       digits(s, 2, &w->day) && w->year >= 1 && w->month >= 1 &&
	       w->month <= 12 && w->day >= 1 &&
	       w->day <= days_in(w->year, w->month);
}

/* "01:02:03.000004"; the seconds may be missing from an offset. */
static bool read_clock(const char **s, bool offset, int *hour, int *minute,
		       int *second, int *micro)
{
	*second = *micro = 0;
	if (!digits(s, 2, hour) || !literal(s, ':') || !digits(s, 2, minute))
		return false;
	if (literal(s, ':')) {
		if (!digits(s, 2, second))
			return false;
		if (literal(s, '.') && !digits(s, 6, micro))
			return false;
	} else if (!offset) {
		return false;
	}
	return *hour < 24 && *minute < 60 && *second < 60;
}

static bool read_offset(const char **s, struct when *w)
{
	int hour, minute, second, micro, sign = **s == '-' ? -1 : 1;

	if (**s != '+' && **s != '-')
		return true;
	(*s)++;
	if (!read_clock(s, true, &hour, &minute, &second, &micro))
		return false;
	w->has_offset = true;
	w->offset = sign * (hour * 3600L + minute * 60L + second);
	w->offset_micro = sign * (long)micro;
	return true;
}

static bool read_time(const char **s, struct when *w)
{
	return read_clock(s, false, &w->hour, &w->minute, &w->second,
			  &w->micro) &&
	       read_offset(s, w);
}

static void add_offset(struct buf *to, const struct when *w)
{
	long seconds = w->offset, micro = w->offset_micro, days = 0;

	if (micro < 0) {
		micro += 1000000;
		seconds--;
	}
	if (seconds < 0) {
		seconds += 86400;
		days = -1;
	}
	if (!days && !seconds && !micro) {
		buf_adds(to, ", tzinfo=datetime.timezone.utc");
		return;
	}
	buf_adds(to, ", tzinfo=datetime.timezone(datetime.timedelta(");
	if (days)
		buf_adds(to, "days=-1");
	if (seconds)
		buf_addf(to, "%sseconds=%ld", days ? ", " : "", seconds);
	if (micro)
		buf_addf(to, "%smicroseconds=%ld", days || seconds ? ", " : "",
			 micro);
	buf_adds(to, "))");
}

static void add_clock(struct buf *to, const struct when *w, const char *zone)
{
	buf_addf(to, "%d, %d", w->hour, w->minute);
	if (w->second || w->micro)
		buf_addf(to, ", %d", w->second);
	if (w->micro)
		buf_addf(to, ", %d", w->micro);
	if (zone)
		buf_addf(to, ", tzinfo=zoneinfo.ZoneInfo(key='%s')", zone);
	else if (w->has_offset)
		add_offset(to, w);
}

bool time_repr(struct buf *to, const char *kind, const char *iso,
	       const char *zone)
{
	bool date = strcmp(kind, "time") != 0,
	     clock = strcmp(kind, "date") != 0;
	struct when w = { 0 };

	if (date && !read_date(&iso, &w))
		return false;
	if (date && clock && !literal(&iso, 'T'))
		return false;
	if ((clock && !read_time(&iso, &w)) || *iso)
		return false;
	buf_addf(to, "datetime.%s(", kind);
	if (date)
		buf_addf(to, "%d, %d, %d%s", w.year, w.month, w.day,
			 clock ? ", " : "");
	if (clock)
		add_clock(to, &w, zone);
	buf_adds(to, ")");
	return true;
}

/* "Europe/Berlin": letters first in each part, so that it is never a path
 * that leads elsewhere. */
bool time_zone_ok(const char *zone)
{
	for (const char *p = zone;; p++) {
		size_t n = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789_+-");

		if (!n || !isalpha((unsigned char)*p))
			return false;
		p += n;
		if (!*p)
			return true;
		if (*p != '/')
			return false;
	}
}

struct unit {
	const char *name;
	int64_t seconds; /* in one, or 0 */
	int digits;	 /* behind the second */
	int parts;	 /* of the clock that are shown */
};

static const struct unit clock_units[] = {
	{ "W", 604800, 0, 0 }, { "D", 86400, 0, 0 }, { "h", 3600, 0, 1 },
	{ "m", 60, 0, 2 },     { "s", 1, 0, 3 },     { "ms", 0, 3, 3 },
	{ "us", 0, 6, 3 },     { "ns", 0, 9, 3 },    { "ps", 0, 12, 3 },
	{ "fs", 0, 15, 3 },    { "as", 0, 18, 3 },
};

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The civil calendar, by eras of 400 years that begin in March. */
static void add_day(struct buf *to, int64_t days)
{
	int64_t era = floor_div(days + 719468, 146097);
	int64_t doe = days + 719468 - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	int64_t month = mp < 10 ? mp + 3 : mp - 9;

	buf_addf(to, "%04lld-%02d-%02d",
		 (long long)(yoe + era * 400 + (month <= 2)), (int)month,
		 (int)(doy - (153 * mp + 2) / 5 + 1));
}

static void add_moment(struct buf *to, int64_t v, const struct unit *u)
{
	int64_t scale = 1, seconds, rest, clock;

	for (int i = 0; i < u->digits; i++)
		scale *= 10;
	seconds = floor_div(v, scale);
	rest = v - seconds * scale;
	if (u->seconds && __builtin_mul_overflow(v, u->seconds, &seconds)) {
		buf_addf(to, "%lld", (long long)v);
		return;
	}
	clock = seconds - floor_div(seconds, 86400) * 86400;
	add_day(to, floor_div(seconds, 86400));
	if (u->parts)
		buf_addf(to, "T%02d", (int)(clock / 3600));
	if (u->parts > 1)
		buf_addf(to, ":%02d", (int)(clock / 60 % 60));
	if (u->parts > 2)
		buf_addf(to, ":%02d", (int)(clock % 60));
	if (u->digits)
		buf_addf(to, ".%0*lld", u->digits, (long long)rest);
}

void number_datetime(struct buf *to, int64_t v, const char *unit)
{
	if (v == INT64_MIN) {
		buf_adds(to, "NaT");
		return;
	}
	if (strcmp(unit, "Y") == 0 && v < INT64_MAX - 1970) {
		buf_addf(to, "%04lld", (long long)v + 1970);
		return;
	}
	if (strcmp(unit, "M") == 0) {
		buf_addf(to, "%04lld-%02d", (long long)floor_div(v, 12) + 1970,
			 (int)(v - floor_div(v, 12) * 12) + 1);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(clock_units); i++)
		if (strcmp(unit, clock_units[i].name) == 0) {
			add_moment(to, v, &clock_units[i]);
			return;
		}
	buf_addf(to, "%lld", (long long)v);
}
