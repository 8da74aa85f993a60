/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reading the command line by a command's table of options. */

#include "host/cmd.h"

/* Options that every command has. */
struct args_global {
	bool json;
	bool help;
};
extern const struct opt args_global_opts[];

struct args {
	struct cmd_args cmd;
	struct args_global global;
	const struct cmd *of;
	void *values; /* owns what cmd.values shows */
};

/*
 * Read argv (without the command's own name).  The strings stay argv's.
 * With --help the number of words does not matter.
 */
int args_parse(const struct cmd *cmd, int argc, char **argv, struct args *ret,
	       struct sb_err *err);
void args_done(struct args *a);
#define autoargs __attribute__((cleanup(args_done)))

/* The option of that name or letter that cmd (or everybody) has, or NULL. */
const struct opt *args_find_long(const struct cmd *cmd, const char *name,
				 size_t len);
const struct opt *args_find_letter(const struct cmd *cmd, char letter);

/* Whether word is one of the words of "a|b|c". */
bool args_is_choice(const char *choices, const char *word);

/* How many edits lead from a to b; for "did you mean". */
size_t args_distance(const char *a, const char *b);
