/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Memory that cannot fail, cleanup attributes and the other few things that
 * every file uses.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/param.h> /* MIN, MAX */

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Small allocations abort when memory is out.  A size that comes from a peer
 * is checked against a named limit before it gets here.
 */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n)
	__attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));

/* strdup that hands NULL through. */
char *xstrdup0(const char *s);

/*
 * Cleanup attributes: they keep errno and accept the empty value.  A variable
 * may be there for its cleanup only, which clang would call unused.
 */
void util_free(void *pp);
void util_close(int *fd);
#define autofree __attribute__((cleanup(util_free), unused))
#define autoclose __attribute__((cleanup(util_close), unused))

/*
 * Define auto_x_cleanup for "x_free(struct x *)", so that
 * "#define autox __attribute__((cleanup(auto_x_cleanup)))" can follow.
 */
#define DEFINE_AUTO(type, fn, name)      \
	static inline void name(type *p) \
	{                                \
		if (*p)                  \
			fn(*p);          \
	}

/* Take the pointer out of a variable and so disarm its cleanup. */
#define steal(pp)                                  \
	({                                         \
		__typeof__(*(pp)) stolen_ = *(pp); \
		*(pp) = NULL;                      \
		stolen_;                           \
	})
static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
static inline bool str_empty(const char *s)
{
	return !s || !*s;
}

/* A growing, NUL-terminated run of bytes. */
struct buf {
	char *p;
	size_t len, cap;
};
/* Have room for that many more bytes and the NUL. */
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_done(struct buf *b);
/* Drop the first n bytes. */
void buf_drop(struct buf *b, size_t n);
#define autobuf __attribute__((cleanup(buf_done)))

/*
 * Parse a whole decimal number between min and max.  0, or -1 when s is
 * anything else (sign, space, rest, overflow).
 */
int parse_num(const char *s, long long min, long long max, long long *ret);

/* "true", "yes", "on", "1" and their opposites, in any case. */
int parse_bool(const char *s, bool *ret);

/* "512M", "4G", "4GiB", "1073741824" to bytes (powers of two). */
int parse_size(const char *s, unsigned long long *ret);

/* "90", "90s", "15m", "2h", "1d" to seconds. */
int parse_duration(const char *s, long long *ret);
