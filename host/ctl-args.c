/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the command line by a command's table of options. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "host/ctl-args.h"

#define GLOBAL(field) offsetof(struct args_global, field)

const struct opt args_global_opts[] = {
	{ .name = "json",
	  .help = "print the result as one JSON value",
	  .store = GLOBAL(json) },
	{ .name = "help",
	  .letter = 'h',
	  .help = "show this help",
	  .store = GLOBAL(help) },
	{ 0 },
};

#define MAX_WORD 64 /* longer words have no near neighbour */

size_t args_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[MAX_WORD + 1];

	if (n > MAX_WORD || m > MAX_WORD)
		return MAX_WORD;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t swap = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(swap, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[m];
}

/* Whether a word at that distance is worth a suggestion. */
static bool is_near(size_t distance, const char *word)
{
	return distance <= 1 + strlen(word) / 4;
}

/* Point to a command's own help. */
static int hint_help(const struct cmd *cmd, struct sb_err *err)
{
	return sb_hint(err, "see: sandboxctl %s%s--help", cmd->name,
		       *cmd->name ? " " : "");
}

const char *cmd_word(const struct cmd *cmd)
{
	const char *space = strrchr(cmd->name, ' ');

	return space ? space + 1 : cmd->name;
}

const struct cmd *cmd_find(const struct cmd *group, const char *word)
{
	for (const struct cmd *const *p = group->sub; *p; p++)
		if (strcmp(cmd_word(*p), word) == 0 ||
		    ((*p)->alias && strcmp((*p)->alias, word) == 0))
			return *p;
	return NULL;
}

int cmd_lookup(const struct cmd *group, const char *word,
	       const struct cmd **ret, struct sb_err *err)
{
	const struct cmd *best = NULL;
	size_t distance = MAX_WORD;

	*ret = cmd_find(group, word);
	if (*ret)
		return 0;
	for (const struct cmd *const *p = group->sub; *p; p++) {
		size_t d = args_distance(cmd_word(*p), word);

		if (!(*p)->hidden && d < distance) {
			distance = d;
			best = *p;
		}
	}
	sb_fail(err, SB_INVALID, "unknown command '%s%s%s'", group->name,
		*group->name ? " " : "", word);
	if (best && is_near(distance, word))
		return sb_hint(err, "did you mean: sandboxctl %s", best->name);
	return hint_help(group, err);
}

static const struct opt *find_long(const struct opt *o, const char *name,
				   size_t len)
{
	for (; o && o->name; o++)
		if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

const struct opt *args_find_long(const struct cmd *cmd, const char *name,
				 size_t len)
{
	const struct opt *o = find_long(cmd->opts, name, len);

	return o ? o : find_long(args_global_opts, name, len);
}

static const struct opt *find_letter(const struct opt *o, char letter)
{
	for (; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

const struct opt *args_find_letter(const struct cmd *cmd, char letter)
{
	const struct opt *o = find_letter(cmd->opts, letter);

	return o ? o : find_letter(args_global_opts, letter);
}

bool args_is_choice(const char *choices, const char *word)
{
	size_t len = strlen(word), n;

	for (const char *p = choices;; p += n + 1) {
		n = strcspn(p, "|");
		if (n == len && strncmp(p, word, len) == 0)
			return true;
		if (!p[n])
			return false;
	}
}

static void nearest(const struct opt *o, const char *name, const char **best,
		    size_t *distance)
{
	for (; o && o->name; o++) {
		size_t d = args_distance(o->name, name);

		if (d < *distance) {
			*distance = d;
			*best = o->name;
		}
	}
}

static int fail_unknown(const struct cmd *cmd, const char *word,
			struct sb_err *err)
{
	autofree char *name = xstrdup(word + strspn(word, "-"));
	size_t distance = MAX_WORD;
	const char *best = NULL;

	name[strcspn(name, "=")] = '\0';
	sb_fail(err, SB_INVALID, "unknown option '%s'", word);
	nearest(cmd->opts, name, &best, &distance);
	nearest(args_global_opts, name, &best, &distance);
	if (best && strlen(name) > 1 && is_near(distance, name))
		return sb_hint(err, "did you mean --%s?", best);
	return hint_help(cmd, err);
}

/* Where a value goes: every command has its struct, all share the global. */
static void *field(struct args *a, const struct opt *o)
{
	bool global = o >= args_global_opts &&
		      o < args_global_opts + ARRAY_SIZE(args_global_opts);

	return (global ? (char *)&a->global : (char *)a->values) + o->store;
}

static void add(struct strlist *l, const char *s)
{
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = s;
}

static int bad_value(const struct opt *o, const char *value, const char *want,
		     struct sb_err *err)
{
	return sb_fail(err, SB_INVALID, "--%s: '%s' is not %s", o->name, value,
		       want);
}

static int store_str(const struct opt *o, const char *value, const char **ret,
		     struct sb_err *err)
{
	autofree char *want = NULL;

	if (!strchr(o->arg, '|') || args_is_choice(o->arg, value)) {
		*ret = value;
		return 0;
	}
	want = xasprintf("one of %s", o->arg);
	return bad_value(o, value, want, err);
}

static int store_num(const struct opt *o, const char *value, long long *ret,
		     struct sb_err *err)
{
	long long max = o->max ? o->max : INT_MAX;
	autofree char *want = NULL;

	if (parse_num(value, 1, max, ret) == 0)
		return 0;
	want = xasprintf("a whole number between 1 and %lld", max);
	return bad_value(o, value, want, err);
}

static int store(struct args *a, const struct opt *o, const char *value,
		 struct sb_err *err)
{
	void *f = field(a, o);

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)f = true;
		return 0;
	case OPT_STR:
		return store_str(o, value, f, err);
	case OPT_LIST:
		add(f, value);
		return 0;
	case OPT_NUM:
		return store_num(o, value, f, err);
	case OPT_SIZE:
		if (parse_size(value, f) || !*(unsigned long long *)f)
			return bad_value(o, value, "a size such as 512M or 4G",
					 err);
		return 0;
	case OPT_SECONDS:
		if (parse_duration(value, f) || !*(long long *)f)
			return bad_value(o, value,
					 "a duration such as 90s, 15m or 2h",
					 err);
		return 0;
	}
	return 0;
}

static int need_value(const struct cmd *cmd, const struct opt *o,
		      struct sb_err *err)
{
	sb_fail(err, SB_INVALID, "option '--%s' needs a value: --%s %s",
		o->name, o->name, o->arg);
	return hint_help(cmd, err);
}

/* "--name", "--name=value" or "--name value"; returns the words used. */
static int parse_long(struct args *a, char **argv, struct sb_err *err)
{
	const char *name = argv[0] + 2, *value = strchr(name, '=');
	const struct opt *o;

	o = args_find_long(a->of, name,
			   value ? (size_t)(value - name) : strlen(name));
	if (!o)
		return fail_unknown(a->of, argv[0], err);
	if (o->kind == OPT_FLAG) {
		if (value)
			return sb_fail(err, SB_INVALID,
				       "option '--%s' takes no value", o->name);
		return store(a, o, NULL, err) ? -1 : 1;
	}
	if (value)
		return store(a, o, value + 1, err) ? -1 : 1;
	if (!argv[1])
		return need_value(a->of, o, err);
	return store(a, o, argv[1], err) ? -1 : 2;
}

/* "-a", "-abc", "-pvalue" or "-p value"; returns the words used. */
static int parse_short(struct args *a, char **argv, struct sb_err *err)
{
	for (const char *p = argv[0] + 1; *p; p++) {
		const struct opt *o = args_find_letter(a->of, *p);
		char word[] = { '-', *p, '\0' };

		if (!o)
			return fail_unknown(a->of, word, err);
		if (o->kind == OPT_FLAG) {
			if (store(a, o, NULL, err))
				return -1;
			continue;
		}
		if (p[1])
			return store(a, o, p + 1, err) ? -1 : 1;
		if (!argv[1])
			return need_value(a->of, o, err);
		return store(a, o, argv[1], err) ? -1 : 2;
	}
	return 1;
}

static int check_count(const struct args *a, struct sb_err *err)
{
	const struct cmd *cmd = a->of;

	if (a->cmd.argc < cmd->min)
		sb_fail(err, SB_INVALID,
			"missing argument, expected: sandboxctl %s %s",
			cmd->name, cmd->args);
	else if (cmd->max != CMD_ANY && a->cmd.argc > cmd->max)
		sb_fail(err, SB_INVALID, "unexpected argument '%s'",
			a->cmd.argv[cmd->max]);
	else
		return 0;
	return hint_help(cmd, err);
}

static int parse_words(struct args *a, char **argv, struct sb_err *err)
{
	int used;

	for (; *argv; argv += used) {
		const char *s = *argv;

		used = 1;
		if (strcmp(s, "--") == 0) {
			argv++;
			break;
		}
		if (s[0] == '-' && s[1]) {
			used = s[1] == '-' ? parse_long(a, argv, err)
					   : parse_short(a, argv, err);
			if (used < 0)
				return -1;
			continue;
		}
		if (a->cmd.argc + 1 == a->of->verbatim)
			break;
		a->cmd.argv[a->cmd.argc++] = *argv;
	}
	while (*argv)
		a->cmd.argv[a->cmd.argc++] = *argv++;
	return 0;
}

int args_parse(const struct cmd *cmd, int argc, char **argv, struct args *ret,
	       struct sb_err *err)
{
	autoargs struct args a = { .of = cmd };

	a.values = xcalloc(1, cmd->values);
	a.cmd.values = a.values;
	a.cmd.argv = xcalloc(argc + 1, sizeof(char *));
	if (parse_words(&a, argv, err))
		return -1;
	if (!a.global.help && check_count(&a, err))
		return -1;
	*ret = a;
	a = (struct args){ .of = cmd };
	return 0;
}

void args_done(struct args *a)
{
	const struct opt *o = a->of && a->values ? a->of->opts : NULL;

	for (; o && o->name; o++)
		if (o->kind == OPT_LIST)
			free(((struct strlist *)field(a, o))->v);
	free(a->cmd.argv);
	free(a->values);
	*a = (struct args){ 0 };
}
