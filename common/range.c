/* SPDX-License-Identifier: Apache-2.0 */
/* Range headers and entity tags. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/range.h"
#include "common/util.h"

/* Digits at *p; one that is too large counts as the largest. */
static bool take_number(const char **p, uint64_t *ret)
{
	const char *start = *p;
	uint64_t n = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++) {
		unsigned int digit = **p - '0';

		n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;
	}
	*ret = n;
	return *p > start;
}

enum range_kind range_parse(const char *header, uint64_t size,
			    uint64_t *ret_offset, uint64_t *ret_length)
{
	uint64_t first, last;
	bool has_first, has_last;
	const char *p;

	if (!header || strncasecmp(header, "bytes=", 6) != 0)
		return RANGE_ALL;
	p = header + 6;
	p += strspn(p, " \t");
	has_first = take_number(&p, &first);
	if (*p++ != '-')
		return RANGE_ALL;
	has_last = take_number(&p, &last);
	p += strspn(p, " \t");
	if (*p || (!has_first && !has_last) ||
	    (has_first && has_last && last < first))
		return RANGE_ALL;
	if (!has_first) { /* the last bytes */
		if (!last || !size)
			return RANGE_BAD;
		*ret_length = MIN(last, size);
		*ret_offset = size - *ret_length;
		return RANGE_PART;
	}
	if (first >= size)
		return RANGE_BAD;
	if (!has_last || last >= size)
		last = size - 1;
	*ret_offset = first;
	*ret_length = last - first + 1;
	return RANGE_PART;
}

void etag_of(const struct stat *st, char ret[ETAG_LEN])
{
	snprintf(ret, ETAG_LEN, "\"%llx-%llx-%llx-%llx.%lx\"",
		 (unsigned long long)st->st_dev, (unsigned long long)st->st_ino,
		 (unsigned long long)st->st_size,
		 (unsigned long long)st->st_mtim.tv_sec,
		 (unsigned long)st->st_mtim.tv_nsec);
}

bool etag_listed(const char *list, const char *tag)
{
	size_t n = strlen(tag);

	for (const char *p = list; *p;) {
		p += strspn(p, " \t,");
		if (*p == '*')
			return true;
		if (strncmp(p, "W/", 2) == 0)
			p += 2;
		if (strncmp(p, tag, n) == 0)
			return true;
		if (*p == '"')
			p += 1 + strcspn(p + 1, "\"");
		p += strcspn(p, ",");
	}
	return false;
}
