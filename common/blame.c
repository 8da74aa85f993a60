/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in which a guest had a say. */
#include "config.h"

#include <string.h>

#include "common/blame.h"
#include "common/util.h"

static void clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '\x7f')
			*s = '?';
}

void blame_clean(struct sb_err *err)
{
	if (err)
		clean(err->msg);
}

void blame_hear(struct blame *b, const char *data, size_t len)
{
	size_t n = MIN(len, sizeof(b->text) - 1 - b->len);

	memcpy(b->text + b->len, data, n);
	b->len += n;
}

int blame_fail(const struct blame *b, const char *what, struct sb_err *err)
{
	static const struct {
		const char *words;
		enum sb_code code;
	} known[] = {
		{ "No space left on device", SB_NOSPACE },
		{ "Disk quota exceeded", SB_NOSPACE },
		{ "Wrote only", SB_NOSPACE }, /* GNU tar's word for it */
		{ "Permission denied", SB_DENIED },
		{ "Read-only file system", SB_DENIED },
		{ "Operation not permitted", SB_DENIED },
	};
	enum sb_code code = SB_GUEST;
	char line[sizeof(b->text)];

	memcpy(line, b->text, b->len);
	line[b->len] = '\0';
	for (size_t i = ARRAY_SIZE(known); i-- > 0;)
		if (strstr(line, known[i].words))
			code = known[i].code;
	if (code == SB_NOSPACE)
		return sb_fail(err, code, "%s: its disk is full", what);
	line[strcspn(line, "\n")] = '\0';
	clean(line);
	return sb_fail(err, code, "%s: %s", what,
		       *line ? line : "it failed without a word");
}
