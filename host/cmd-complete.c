/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __complete: what the shell asks for completion.  Its words are those after
 * "sandboxctl", the last one being typed; it prints one candidate a line, and
 * nothing where file names are the best guess.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-args.h"
#include "host/ctl-daemon.h"
#include "host/ctl-sanitize.h"

static void candidate(const char *word, const char *typed)
{
	if (str_starts(word, typed))
		puts(word);
}

static void complete_commands(const struct cmd *group, const char *typed)
{
	for (const struct cmd *const *p = group->sub; *p; p++)
		if (!(*p)->hidden)
			candidate(cmd_word(*p), typed);
}

static void complete_opts(const struct opt *o, const char *typed)
{
	for (; o && o->name; o++) {
		autofree char *word = xasprintf("--%s", o->name);

		candidate(word, typed);
	}
}

/* Names that a running daemon knows; none is started for this. */
static void complete_names(struct ctl *c, const char *path, const char *list,
			   const char *typed)
{
	autojson json_t *reply = NULL;
	struct sb_err err;
	const json_t *e;
	size_t i;

	if (daemon_connect(c, &err) ||
	    hclient_json(c->daemon, "GET", path, NULL, &reply, &err))
		return;
	json_array_foreach(json_object_get(reply, list), i, e) {
		autofree char *name = sanitize_line(json_str_or(e, "name", ""));

		candidate(name, typed);
	}
}

static void complete_choices(const char *choices, const char *typed)
{
	autofree char *copy = xstrdup(choices);
	char *rest = copy, *word;

	while ((word = strsep(&rest, "|")))
		candidate(word, typed);
}

static void complete_word(struct ctl *c, enum cmd_word kind,
			  const struct cmd *group, const char *typed)
{
	switch (kind) {
	case WORD_SANDBOX:
		complete_names(c, "/v1/sandboxes", "sandboxes", typed);
		break;
	case WORD_IMAGE:
		complete_names(c, "/v1/images", "images", typed);
		break;
	case WORD_TEMPLATE:
		complete_names(c, "/v1/templates", "templates", typed);
		break;
	case WORD_COMMAND:
		complete_commands(group, typed);
		break;
	case WORD_OTHER:
		break;
	}
}

/* The option whose value the next word is, or NULL. */
static const struct opt *takes_next(const struct cmd *cmd, const char *word)
{
	const struct opt *o = NULL;

	if (str_starts(word, "--") && !strchr(word, '='))
		o = args_find_long(cmd, word + 2, strlen(word + 2));
	else if (word[0] == '-' && word[1] && !word[2])
		o = args_find_letter(cmd, word[1]);
	return o && o->arg ? o : NULL;
}

static void complete_value(struct ctl *c, const struct opt *o,
			   const char *typed)
{
	if (strchr(o->arg, '|'))
		complete_choices(o->arg, typed);
	else
		complete_word(c, o->word, &cmd_root, typed);
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct cmd *cmd = &cmd_root;
	const struct opt *value = NULL;
	const char *typed = a->argv[a->argc - 1];
	int nth = 0; /* word of cmd that is being typed */

	for (int i = 0; i < a->argc - 1; i++) {
		const char *word = a->argv[i];

		if (value) {
			value = NULL;
		} else if (word[0] == '-' && word[1]) {
			value = takes_next(cmd, word);
		} else if (cmd->sub) {
			cmd = cmd_find(cmd, word);
			nth = 0;
			if (!cmd)
				return 0;
		} else if (++nth == cmd->verbatim) {
			return 0; /* a command of the guest */
		}
	}
	if (value) {
		complete_value(c, value, typed);
	} else if (typed[0] == '-') {
		complete_opts(cmd->opts, typed);
		complete_opts(args_global_opts, typed);
	} else if (nth == 1 && cmd->verbs) {
		complete_choices(cmd->verbs, typed);
	} else {
		complete_word(c, cmd->words[MIN(nth, CMD_WORDS - 1)],
			      cmd->sub ? cmd : &cmd_root, typed);
	}
	return 0;
}

const struct cmd cmd_complete = {
	.name = "__complete",
	.args = "WORD...",
	.summary = "print candidates for the last word",
	.hidden = true,
	.min = 1,
	.max = CMD_ANY,
	.verbatim = 1,
	.run = run,
};
