/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, cleanup, buffers and small parsers. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

static void *checked(void *p)
{
	if (!p) {
		static const char msg[] = "out of memory\n";

		if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
			abort();
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xstrdup0(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

void util_free(void *pp)
{
	int saved = errno;

	free(*(void **)pp);
	errno = saved;
}

void util_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

#define ROOM_TO_PRINT 64 /* is often enough */

void buf_reserve(struct buf *b, size_t more)
{
	size_t need = b->len + more + 1;

	if (need <= b->cap)
		return;
	b->cap = MAX(need, b->cap ? b->cap * 2 : 128);
	b->p = xrealloc(b->p, b->cap, 1);
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	buf_reserve(b, len);
	if (len)
		memcpy(b->p + b->len, data, len);
	b->len += len;
	b->p[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	buf_reserve(b, ROOM_TO_PRINT);
	va_start(ap, fmt);
	n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, ap);
	va_end(ap);
	checked(n < 0 ? NULL : b->p);
	if ((size_t)n >= b->cap - b->len) {
		buf_reserve(b, n);
		va_start(ap, fmt);
		vsnprintf(b->p + b->len, b->cap - b->len, fmt, ap);
		va_end(ap);
	}
	b->len += n;
}

void buf_done(struct buf *b)
{
	util_free(&b->p);
	*b = (struct buf){ 0 };
}

void buf_drop(struct buf *b, size_t n)
{
	n = MIN(n, b->len);
	if (!n)
		return;
	memmove(b->p, b->p + n, b->len - n + 1);
	b->len -= n;
}

int parse_num(const char *s, long long min, long long max, long long *ret)
{
	long long v;
	char *end;

	if (!isdigit((unsigned char)s[0]) &&
	    !(s[0] == '-' && isdigit((unsigned char)s[1])))
		return -1;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end || v < min || v > max)
		return -1;
	*ret = v;
	return 0;
}

int parse_bool(const char *s, bool *ret)
{
	static const char *const words[] = { "true",  "yes", "on",  "1",
					     "false", "no",  "off", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(s, words[i]) == 0) {
			*ret = i < 4;
			return 0;
		}
	return -1;
}

int parse_size(const char *s, unsigned long long *ret)
{
	static const char units[] = "KMGT";
	unsigned long long v;
	unsigned int shift = 0;
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -1;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -1;
	if (*end && (unit = strchr(units, toupper((unsigned char)*end)))) {
		shift = 10 * (unit - units + 1);
		end++;
		if (end[0] == 'i')
			end++;
	}
	if (*end == 'B')
		end++;
	if (*end || (shift && v > (ULLONG_MAX >> shift)))
		return -1;
	*ret = v << shift;
	return 0;
}

int parse_duration(const char *s, long long *ret)
{
	static const struct {
		char unit;
		int seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	long long v, factor = 1;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -1;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno)
		return -1;
	if (*end) {
		size_t i;

		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (units[i].unit == *end)
				break;
		if (i == ARRAY_SIZE(units) || end[1])
			return -1;
		factor = units[i].seconds;
	}
	if (v > INT32_MAX / factor)
		return -1;
	*ret = v * factor;
	return 0;
}
