/* SPDX-License-Identifier: Apache-2.0 */
/* --help, from the table of commands. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "common/util.h"
#include "host/ctl-args.h"
#include "host/ctl-help.h"

#define COLUMNS 79
#define MAX_OPT 30 /* a longer option has a line of its own */

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
		if (*text == '\n') { /* ends a paragraph */
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		if (*text)
			text++;
	}
	fputc('\n', out);
}

/* "  -p, --publish HOST:GUEST" */
static void add_opt(struct buf *b, const struct opt *o)
{
	if (o->letter)
		buf_addf(b, "  -%c, ", o->letter);
	else
		buf_adds(b, "      ");
	buf_addf(b, "--%s", o->name);
	if (o->arg)
		buf_addf(b, " %s", o->arg);
}

static int opts_width(const struct opt *o)
{
	size_t width = 0;

	for (; o && o->name; o++) {
		autobuf struct buf b = { 0 };

		add_opt(&b, o);
		if (b.len <= MAX_OPT)
			width = MAX(width, b.len);
	}
	return width;
}

static void print_opts(FILE *out, const struct opt *o, int column)
{
	for (; o && o->name; o++) {
		autobuf struct buf b = { 0 };

		add_opt(&b, o);
		if ((int)b.len + 2 > column)
			fprintf(out, "%s\n%*s", b.p, column, "");
		else
			fprintf(out, "%-*s", column, b.p);
		print_wrapped(out, o->help, column, column);
	}
}

static void print_all_opts(FILE *out, const struct cmd *cmd)
{
	int column =
		2 + MAX(opts_width(cmd->opts), opts_width(args_global_opts));

	fprintf(out, "\nOptions:\n");
	print_opts(out, cmd->opts, column);
	print_opts(out, args_global_opts, column);
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

static void print_sentence(FILE *out, const char *summary)
{
	fprintf(out, "%c%s.\n", toupper((unsigned char)*summary), summary + 1);
}

static void print_command(const struct cmd *cmd, FILE *out)
{
	fprintf(out, "Usage: sandboxctl %s [OPTION...]%s%s\n\n", cmd->name,
		cmd->args ? " " : "", cmd->args ? cmd->args : "");
	print_sentence(out, cmd->summary);
	if (cmd->detail) {
		fputc('\n', out);
		print_wrapped(out, cmd->detail, 0, 0);
	}
	print_all_opts(out, cmd);
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

	fprintf(out, "Usage: sandboxctl %s%sCOMMAND [OPTION...] [ARG...]\n\n",
		cmd->name, space);
	print_sentence(out, cmd->summary);
	if (!*cmd->name)
		fprintf(out,
			"\nFirst steps:\n"
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
	print_all_opts(out, cmd);
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
