/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A minimal TAP producer: ok(), is_str(), is_int(), then return tap_done(). */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_failed;

static inline bool tap_ok(bool good, const char *what, const char *file,
			  int line)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_n, what);
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define ok(cond, what) tap_ok((cond), (what), __FILE__, __LINE__)

#define is_int(got, want, what)                                    \
	do {                                                       \
		long long g_ = (got), w_ = (want);                 \
		if (!tap_ok(g_ == w_, (what), __FILE__, __LINE__)) \
			printf("# got %lld, want %lld\n", g_, w_); \
	} while (0)

#define is_str(got, want, what)                                                \
	do {                                                                   \
		const char *g_ = (got), *w_ = (want);                          \
		if (!tap_ok(g_ && w_ && strcmp(g_, w_) == 0, (what), __FILE__, \
			    __LINE__))                                         \
			printf("# got '%s', want '%s'\n", g_ ? g_ : "(null)",  \
			       w_ ? w_ : "(null)");                            \
	} while (0)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_n);
	return tap_failed ? 1 : 0;
}
