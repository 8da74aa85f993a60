/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes, and the table that says what each means to the outside. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/util.h"

static const struct {
	const char *name;
	int http;
	int exit;
} sb_codes[] = {
	/* clang-format off */
	[SB_OK]        = { "ok",        200, 0 },
	[SB_INVALID]   = { "invalid",   400, 2 },
	[SB_AUTH]      = { "auth",      401, 3 },
	[SB_DENIED]    = { "denied",    403, 3 },
	[SB_NOTFOUND]  = { "not-found", 404, 4 },
	[SB_METHOD]    = { "method",    405, 2 },
	[SB_CONFLICT]  = { "conflict",  409, 5 },
	[SB_LIMIT]     = { "limit",     413, 2 },
	[SB_FORMAT]    = { "format",    415, 2 },
	[SB_BUSY]      = { "busy",      503, 6 },
	[SB_TIMEOUT]   = { "timeout",   504, 7 },
	[SB_CANCELLED] = { "cancelled", 409, 8 },
	[SB_MISSING]   = { "missing",   424, 9 },
	[SB_NOSPACE]   = { "no-space",  507, 10 },
	[SB_GUEST]     = { "guest",     502, 11 },
	[SB_SYSTEM]    = { "system",    500, 1 },
	[SB_UPGRADE]   = { "upgrade",   426, 2 },
	/* clang-format on */
};
static_assert(ARRAY_SIZE(sb_codes) == SB_NCODES, "sb_codes[] out of step");

int sb_fail(struct sb_err *err, enum sb_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return -1;
}

int sb_wrap(struct sb_err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	int n;

	if (!err)
		return -1;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	for (const char *p = ": "; *p && (size_t)n < sizeof(err->msg) - 1; p++)
		err->msg[n++] = *p;
	for (const char *p = old; *p && (size_t)n < sizeof(err->msg) - 1; p++)
		err->msg[n++] = *p;
	err->msg[MIN((size_t)n, sizeof(err->msg) - 1)] = '\0';
	return -1;
}

int sb_hint(struct sb_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return -1;
}

enum sb_code sb_code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return SB_NOSPACE;
	case ENOENT:
		return SB_NOTFOUND;
	case EACCES:
	case EPERM:
		return SB_DENIED;
	default:
		return SB_SYSTEM;
	}
}

const char *sb_code_name(enum sb_code code)
{
	return sb_codes[code].name;
}

int sb_code_http(enum sb_code code)
{
	return sb_codes[code].http;
}

int sb_code_exit(enum sb_code code)
{
	return sb_codes[code].exit;
}

enum sb_code sb_code_of_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sb_codes); i++)
		if (strcmp(sb_codes[i].name, name) == 0)
			return i;
	return SB_SYSTEM;
}
