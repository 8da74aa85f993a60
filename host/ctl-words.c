/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of another program in the making. */
#include "config.h"

#include <stdlib.h>

#include "common/util.h"
#include "host/ctl-words.h"

void words_add(struct words *w, const char *s)
{
	w->v = xrealloc(w->v, w->n + 2, sizeof(*w->v));
	w->v[w->n++] = xstrdup(s);
	w->v[w->n] = NULL;
}

void words_add2(struct words *w, const char *option, const char *value)
{
	words_add(w, option);
	words_add(w, value);
}

void words_add_all(struct words *w, char *const *v)
{
	for (; *v; v++)
		words_add(w, *v);
}

void words_done(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct words){ 0 };
}
