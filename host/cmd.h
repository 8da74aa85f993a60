/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The commands of sandboxctl are data: dispatch, --help, completion and the
 * test that each is documented all read the same tables.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct ctl;

/* What a word of the command line stands for: completion asks. */
enum cmd_word {
	WORD_OTHER,
	WORD_SANDBOX,
	WORD_IMAGE,
	WORD_TEMPLATE,
	WORD_COMMAND,
};

enum opt_kind {		     /* and the field that it is stored in */
		OPT_FLAG,    /* bool */
		OPT_STR,     /* const char * */
		OPT_LIST,    /* struct strlist: may be given several times */
		OPT_NUM,     /* long long, 1 to .max */
		OPT_SIZE,    /* unsigned long long, bytes */
		OPT_SECONDS, /* long long */
};

/* Strings of the command line, in the order given. */
struct strlist {
	const char **v;
	size_t n;
};

struct opt {
	const char *name; /* long form, without the dashes */
	char letter;	  /* short form, 0: none */
	const char *arg;  /* what the value is called; "a|b" allows these */
	const char *help;
	enum opt_kind kind;
	size_t store;  /* offset of the field in the values */
	long long max; /* OPT_NUM; 0: no limit */
	enum cmd_word word;
};

#define CMD_ANY (-1)
#define CMD_WORDS 2

/* What a command was called with. */
struct cmd_args {
	const void *values; /* the struct that its options store into */
	char **argv;	    /* the words that are no options */
	int argc;
};

struct cmd {
	const char *name;	/* in full: "up", "image build" */
	const char *alias;	/* other spelling that works; not advertised */
	const char *section;	/* heading in the list of commands */
	const char *args;	/* "NAME [-- COMMAND...]" */
	const char *summary;	/* one line, no full stop */
	const char *detail;	/* paragraphs of the command's --help */
	const char *examples;	/* lines */
	const struct opt *opts; /* ends with .name == NULL; may be NULL */
	size_t values;		/* size of what opts store into */
	int min, max;		/* number of words; CMD_ANY: no limit */
	int verbatim;		/* from this word on no options; 0: never */
	bool hidden;
	const char *verbs;		/* "a|b": what the second word may be */
	enum cmd_word words[CMD_WORDS]; /* the last holds for all that follow */
	const struct cmd *const *sub;	/* a group: its commands, NULL ends */
	/* The exit status, or -1 with err. */
	int (*run)(struct ctl *c, const struct cmd_args *a, struct sb_err *err);
};

/* sandboxctl itself: the group of all commands. */
extern const struct cmd cmd_root;

/* The word that calls a command within its group: "build". */
const char *cmd_word(const struct cmd *cmd);
/* The command that word calls in a group, or NULL. */
const struct cmd *cmd_find(const struct cmd *group, const char *word);
/* The same, or -1 with the nearest one as a hint. */
int cmd_lookup(const struct cmd *group, const char *word,
	       const struct cmd **ret, struct sb_err *err);

extern const struct cmd cmd_attach;
extern const struct cmd cmd_click;
extern const struct cmd cmd_complete;
extern const struct cmd cmd_cp;
extern const struct cmd cmd_daemon;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_down;
extern const struct cmd cmd_exec;
extern const struct cmd cmd_help;
extern const struct cmd cmd_image;
extern const struct cmd cmd_info;
extern const struct cmd cmd_jupyter;
extern const struct cmd cmd_kernel;
extern const struct cmd cmd_key;
extern const struct cmd cmd_logs;
extern const struct cmd cmd_ls;
extern const struct cmd cmd_pause;
extern const struct cmd cmd_port;
extern const struct cmd cmd_py;
extern const struct cmd cmd_record;
extern const struct cmd cmd_resume;
extern const struct cmd cmd_screenshot;
extern const struct cmd cmd_ssh;
extern const struct cmd cmd_template;
extern const struct cmd cmd_ttl;
extern const struct cmd cmd_type;
extern const struct cmd cmd_up;
extern const struct cmd cmd_version;
extern const struct cmd cmd_view;
