/* SPDX-License-Identifier: Apache-2.0 */
/* Text in aligned columns. */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-table.h"
#include "host/ctl-term.h"

#define GAP 2

struct table {
	size_t ncols, nrows;
	char **cells; /* row by row */
	size_t *width;
};

/* Characters, not bytes. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void add_row(struct table *t, va_list ap)
{
	char **row;

	t->cells = xrealloc(t->cells, (t->nrows + 1) * t->ncols,
			    sizeof(*t->cells));
	row = t->cells + t->nrows++ * t->ncols;
	for (size_t i = 0; i < t->ncols; i++) {
		const char *s = va_arg(ap, const char *);

		row[i] = sanitize_line(str_empty(s) ? "-" : s);
		t->width[i] = MAX(t->width[i], width_of(row[i]));
	}
}

struct table *table_new(size_t ncols, ...)
{
	struct table *t = xcalloc(1, sizeof(*t));
	va_list ap;

	t->ncols = ncols;
	t->width = xcalloc(ncols, sizeof(*t->width));
	va_start(ap, ncols);
	add_row(t, ap);
	va_end(ap);
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nrows * t->ncols; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->width);
	free(t);
}

void table_row(struct table *t, ...)
{
	va_list ap;

	va_start(ap, t);
	add_row(t, ap);
	va_end(ap);
}

static void print_row(const struct table *t, char **row, FILE *out)
{
	for (size_t i = 0; i < t->ncols; i++) {
		int pad = t->width[i] - width_of(row[i]) + GAP;

		if (i + 1 == t->ncols)
			pad = 0;
		fprintf(out, "%s%*s", row[i], pad, "");
	}
}

void table_print(const struct table *t, FILE *out)
{
	int fd = fileno(out);

	for (size_t i = 0; i < t->nrows; i++) {
		if (i == 0)
			fputs(term_colour(fd, TERM_BOLD), out);
		print_row(t, t->cells + i * t->ncols, out);
		if (i == 0)
			fputs(term_colour(fd, TERM_PLAIN), out);
		fputc('\n', out);
	}
}
