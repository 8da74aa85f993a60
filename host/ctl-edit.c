/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are typed on a terminal. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "common/utf8.h"
#include "host/ctl-edit.h"
#include "host/ctl-term.h"

#define LIBRARY "libedit.so.2"
#define HISTORY_LINES 1000
#define MAX_LISTED 200

/* clang-format off */
#define EDIT_FUNCTIONS(X)						\
	X(el_init) X(el_end) X(el_set) X(el_wset) X(el_get) X(el_gets)	\
	X(el_line) X(el_insertstr) X(el_deletestr) X(el_push)		\
	X(el_reset) X(el_source) X(history_init) X(history_end)		\
	X(history)
/* clang-format on */

static struct {
	void *library;
#define EDIT_POINTER(name) __typeof__(name) *(name);
	EDIT_FUNCTIONS(EDIT_POINTER)
} lib;

struct edit {
	EditLine *el;
	History *history;
	char *file;
	const struct edit_ops *ops;
	void *arg;
	const char *prompt;
	bool stopped;
};

void edit_matches_done(struct edit_matches *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i]);
	free(m->v);
	*m = (struct edit_matches){ 0 };
}

static int load(struct sb_err *err)
{
	if (lib.library)
		return 0;
	lib.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib.library) {
		sb_fail(err, SB_MISSING, "the REPL needs '%s': %s", LIBRARY,
			dlerror());
		return sb_hint(err, "apt-get install libedit2");
	}
#define EDIT_LOOKUP(name)                                                   \
	lib.name = (__typeof__(name) *)dlsym(lib.library, #name);           \
	if (!lib.name)                                                      \
		return sb_fail(err, SB_MISSING, "'%s' lacks '%s'", LIBRARY, \
			       #name);
	EDIT_FUNCTIONS(EDIT_LOOKUP)
	return 0;
}

static struct edit *self(EditLine *el)
{
	struct edit *e = NULL;

	lib.el_get(el, EL_CLIENTDATA, &e);
	return e;
}

static char *get_prompt(EditLine *el)
{
	return (char *)self(el)->prompt;
}

/* One character, whatever else goes on meanwhile. */
static int get_char(EditLine *el, wchar_t *ret)
{
	struct edit *e = self(el);
	mbstate_t state = { 0 };
	char c;

	for (;;) {
		size_t n;

		if (e->ops->wait(e->arg) != EDIT_TYPED) {
			e->stopped = true;
			return -1;
		}
		if (read(STDIN_FILENO, &c, 1) != 1)
			return 0;
		n = mbrtowc(ret, &c, 1, &state);
		if (n == (size_t)-1) /* not of our character set */
			state = (mbstate_t){ 0 };
		else if (n != (size_t)-2)
			return 1;
	}
}

/* How many bytes all matches begin with. */
static size_t common_start(const struct edit_matches *m)
{
	size_t n = strlen(m->v[0]);

	for (size_t i = 1; i < m->n; i++) {
		size_t k = 0;

		while (k < n && m->v[i][k] == m->v[0][k])
			k++;
		n = k;
	}
	/* Not in the middle of a character. */
	while (n && (m->v[0][n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* In columns, below the line. */
static void list_matches(const struct edit_matches *m)
{
	size_t width = 1, columns, shown = MIN(m->n, (size_t)MAX_LISTED);

	for (size_t i = 0; i < shown; i++)
		width = MAX(width, strlen(m->v[i]) + 2);
	columns = MAX((size_t)term_columns(STDOUT_FILENO) / width, (size_t)1);
	putchar('\n');
	for (size_t i = 0; i < shown; i++)
		printf("%-*s%s", (int)width, m->v[i],
		       (i + 1) % columns && i + 1 < shown ? "" : "\n");
	if (shown < m->n)
		printf("… and %zu more\n", m->n - shown);
	fflush(stdout);
}

static unsigned char insert(EditLine *el, const struct edit_matches *m,
			    size_t len)
{
	autofree char *text = xstrndup(m->v[0], len);

	lib.el_deletestr(el, (int)m->back);
	lib.el_insertstr(el, text);
	return CC_REFRESH;
}

static unsigned char on_tab(EditLine *el, wint_t c)
{
	struct edit *e = self(el);
	const LineInfo *line = lib.el_line(el);
	size_t len = line->cursor - line->buffer, start;
	struct edit_matches m = { 0 };
	unsigned char rc = CC_ERROR;

	/* Where no word is, it indents. */
	if (strspn(line->buffer, " \t") >= len) {
		lib.el_insertstr(el, "    ");
		return CC_REFRESH;
	}
	e->ops->complete(e->arg, line->buffer, len, &m);
	if (e->stopped || !m.n) {
		edit_matches_done(&m);
		return CC_ERROR;
	}
	start = common_start(&m);
	if (m.n == 1 || utf8_count(m.v[0], start) >= m.back)
		rc = insert(el, &m, m.n == 1 ? strlen(m.v[0]) : start);
	if (m.n > 1) {
		list_matches(&m);
		rc = CC_REDISPLAY;
	}
	edit_matches_done(&m);
	return rc;
}

/* Names in all scripts can be typed, whatever the locale of the shell is. */
static void use_utf8(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static void open_history(struct edit *e)
{
	HistEvent ev;

	e->history = lib.history_init();
	lib.history(e->history, &ev, H_SETSIZE, HISTORY_LINES);
	lib.history(e->history, &ev, H_SETUNIQUE, 1);
	if (e->file)
		lib.history(e->history, &ev, H_LOAD, e->file);
	lib.el_set(e->el, EL_HIST, lib.history, e->history);
}

int edit_open(const char *history, const struct edit_ops *ops, void *arg,
	      struct edit **ret, struct sb_err *err)
{
	struct edit *e;

	if (load(err) < 0)
		return -1;
	use_utf8();
	e = xcalloc(1, sizeof(*e));
	e->ops = ops;
	e->arg = arg;
	e->file = xstrdup0(history);
	e->el = lib.el_init("sandboxctl", stdin, stdout, stderr);
	if (!e->el) {
		free(e->file);
		free(e);
		return sb_fail(err, SB_SYSTEM, "libedit cannot be used here");
	}
	lib.el_set(e->el, EL_CLIENTDATA, e);
	lib.el_set(e->el, EL_PROMPT, get_prompt);
	lib.el_set(e->el, EL_EDITOR, "emacs");
	lib.el_set(e->el, EL_GETCFN, get_char);
	lib.el_set(e->el, EL_SIGNAL, 1);
	/* The wide form: the other one copies the words and leaks them. */
	lib.el_wset(e->el, EL_ADDFN, L"complete", L"Complete the word", on_tab);
	lib.el_set(e->el, EL_BIND, "^I", "complete", NULL);
	lib.el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	lib.el_source(e->el, NULL); /* the user's ~/.editrc */
	open_history(e);
	*ret = e;
	return 0;
}

/* For nobody else to read: what was typed may be a secret. */
static void save_history(struct edit *e)
{
	mode_t old = umask(077);
	HistEvent ev;

	if (e->file)
		lib.history(e->history, &ev, H_SAVE, e->file);
	umask(old);
}

void edit_close(struct edit *e)
{
	if (!e)
		return;
	save_history(e);
	lib.history_end(e->history);
	lib.el_end(e->el);
	free(e->file);
	free(e);
}

enum edit_end edit_line(struct edit *e, const char *prompt, const char *indent,
			struct buf *line)
{
	const char *text;
	HistEvent ev;
	int len = 0;

	e->prompt = prompt;
	e->stopped = false;
	if (*indent)
		lib.el_push(e->el, indent);
	text = lib.el_gets(e->el, &len);
	if (e->stopped) {
		lib.el_reset(e->el);
		return EDIT_STOPPED;
	}
	if (!text || len <= 0)
		return EDIT_EOF;
	if (strspn(text, " \t\n") < (size_t)len)
		lib.history(e->history, &ev, H_ENTER, text);
	buf_add(line, text, text[len - 1] == '\n' ? len - 1 : len);
	return EDIT_LINE;
}
