/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in which the guest had a say. */
#include "config.h"

#include <string.h>

#include "ssh/session.h"

static void clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '\x7f')
			*s = '?';
}

void session_clean(struct sb_err *err)
{
	if (err)
		clean(err->msg);
}

int session_fail(struct ssh *s, const char *what, struct sb_err *err)
{
	sb_fail(err, SB_GUEST, "%s: %s", what, ssh_get_error(s->session));
	session_clean(err);
	return -1;
}

void session_hear(struct session_words *w, const char *data, size_t len)
{
	size_t n = MIN(len, sizeof(w->text) - 1 - w->len);

	memcpy(w->text + w->len, data, n);
	w->len += n;
}

int session_blame(const struct session_words *w, const char *what,
		  struct sb_err *err)
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
	char line[sizeof(w->text)];

	memcpy(line, w->text, w->len);
	line[w->len] = '\0';
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
