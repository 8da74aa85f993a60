/* SPDX-License-Identifier: Apache-2.0 */
/* --help, from the table of commands. */
#include "config.h"

#include <string.h>

#include "common/util.h"
#include "host/ctl-args.h"
#include "host/ctl-help.h"

#define COLUMNS 78
#define OPT_COLUMN 32		/* where the explanation of an option begins */

/* Words of text from column `at`, broken so that they end before COLUMNS. */
static void print_wrapped(FILE *out, const char *text, int indent, int at)
{
	while (*text) {
		int n = strcspn(text, " \n");

		if (at > indent && at + 1 + n > COLUMNS) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", n, text);
		at += n;
		text += n;
		if (*text == '\n') {	/* ends a paragraph */
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		if (*text)
			text++;
	}
	fputc('\n', out);
}

static void print_opts(FILE *out, const struct opt *o)
{
	for (; o && o->name; o++) {
		autobuf struct buf b = { 0 };

		if (o->letter)
			buf_addf(&b, "  -%c, ", o->letter);
		else
			buf_adds(&b, "      ");
		buf_addf(&b, "--%s", o->name);
		if (o->arg)
			buf_addf(&b, " %s", o->arg);
		if (b.len + 2 > OPT_COLUMN) {
			fprintf(out, "%s\n%*s", b.p, OPT_COLUMN, "");
		} else {
			fprintf(out, "%-*s", OPT_COLUMN, b.p);
		}
		print_wrapped(out, o->help, OPT_COLUMN, OPT_COLUMN);
	}
}

static void print_examples(FILE *out, const char *lines)
{
	fprintf(out, "\nExamples:\n");
	while (*lines) {
		int n = strcspn(lines, "\n");

		fprintf(out, "  %.*s\n", n, lines);
		lines += n + (lines[n] == '\n');
	}
}

static void print_command(const struct cmd *cmd, FILE *out)
{
	fprintf(out, "Usage: sandboxctl %s%s%s [OPTION...]\n\n", cmd->name,
		str_empty(cmd->args) ? "" : " ",
		str_empty(cmd->args) ? "" : cmd->args);
	fprintf(out, "%s.\n", cmd->summary);
	if (cmd->detail) {
		fputc('\n', out);
		print_wrapped(out, cmd->detail, 0, 0);
	}
	fprintf(out, "\nOptions:\n");
	print_opts(out, cmd->opts);
	print_opts(out, args_global_opts);
	if (cmd->examples)
		print_examples(out, cmd->examples);
}

static int longest_word(const struct cmd *group)
{
	int n = 0;

	for (const struct cmd *const *p = group->sub; *p; p++)
		if (!(*p)->hidden)
			n = MAX(n, (int)strlen(cmd_word(*p)));
	return n;
}

static void print_group(const struct cmd *cmd, FILE *out)
{
	const char *section = NULL;
	int width = longest_word(cmd);
	const char *space = *cmd->name ? " " : "";

	fprintf(out, "Usage: sandboxctl %s%sCOMMAND [ARG...] [OPTION...]\n\n",
		cmd->name, space);
	fprintf(out, "%s.\n", cmd->summary);
	if (!*cmd->name)
		fprintf(out, "\nFirst steps:\n"
			     "  sandboxctl image build base     once, a few "
			     "minutes\n"
			     "  sandboxctl up demo              a machine\n"
			     "  sandboxctl exec demo -- uname   runs in it\n"
			     "  sandboxctl down demo            and it is gone\n");
	for (const struct cmd *const *p = cmd->sub; *p; p++) {
		if ((*p)->hidden)
			continue;
		if (p == cmd->sub || (*p)->section != section)
			fprintf(out, "\n%s:\n",
				(*p)->section ? (*p)->section : "Commands");
		section = (*p)->section;
		fprintf(out, "  %-*s  %s\n", width, cmd_word(*p),
			(*p)->summary);
	}
	fprintf(out, "\nOptions:\n");
	print_opts(out, cmd->opts);
	print_opts(out, args_global_opts);
	fprintf(out, "\nMore: sandboxctl %s%sCOMMAND --help, man sandboxctl\n",
		cmd->name, space);
}

void help_print(const struct cmd *cmd, FILE *out)
{
	if (cmd->sub)
		print_group(cmd, out);
	else
		print_command(cmd, out);
}
