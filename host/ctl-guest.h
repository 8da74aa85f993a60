/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Work inside a guest: through guestd, or over SSH where that was asked for or
 * guestd does not answer.  SSH is done by a program of its own, sandboxctl-ssh,
 * that takes our place: loading libssh and libcrypto takes longer than all that
 * the other commands do.
 */

#include <jansson.h>

#include "common/err.h"
#include "host/cmd.h"
#include "host/ctl.h"

/* Where commands start, unless a template says otherwise. */
#define GUEST_WORKSPACE "/home/user/workspace"
const char *guest_workspace(const json_t *sandbox);

/* Options of the commands that run something. */
struct guest_opts {
	const char *user; /* NULL: the sandbox's own */
	const char *dir;  /* NULL: the workspace */
	const char *workspace;
	struct strlist env; /* KEY=VALUE or KEY */
	const char *via;    /* NULL: guestd, and SSH if that does not answer */
	bool tty, input;
};

/* clang-format off */
#define GUEST_VIA							\
	{ .name = "via",						\
	  .arg = "guestd|ssh",						\
	  .help = "only through guestd, or over SSH",			\
	  .kind = OPT_STR,						\
	  .store = offsetof(struct guest_opts, via) }
/* clang-format on */

/* For the opts[] of a command whose values begin with struct guest_opts. */
/* clang-format off */
#define GUEST_OPTS							\
	{ .name = "user",						\
	  .letter = 'u',						\
	  .arg = "USER",						\
	  .help = "run as this user of the guest, such as root",	\
	  .kind = OPT_STR,						\
	  .store = offsetof(struct guest_opts, user) },			\
	{ .name = "workdir",						\
	  .letter = 'w',						\
	  .arg = "DIR",							\
	  .help = "run in this folder, not in the workspace",	\
	  .kind = OPT_STR,						\
	  .store = offsetof(struct guest_opts, dir) },			\
	{ .name = "env",						\
	  .letter = 'e',						\
	  .arg = "KEY=VALUE",						\
	  .help = "set a variable; KEY alone takes yours",		\
	  .kind = OPT_LIST,						\
	  .store = offsetof(struct guest_opts, env) },			\
	GUEST_VIA
/* clang-format on */

/* The sandbox of that name; SB_CONFLICT if nothing can run in it now. */
int guest_find(struct ctl *c, const char *name, json_t **ret,
	       struct sb_err *err);

/* SB_INVALID unless it is KEY=VALUE, or a KEY that is set here. */
int guest_check_env(const char *pair, struct sb_err *err);

/*
 * Run argv in the sandbox; its strings are passed on byte by byte.  Returns the
 * exit status, or -1; or not at all, when it becomes sandboxctl-ssh.
 */
int guest_exec(struct ctl *c, const json_t *sandbox, const struct guest_opts *o,
	       char *const *argv, struct sb_err *err);

/* The same for a copy: verb is "put" or "get". */
int guest_copy(struct ctl *c, const json_t *sandbox, const char *via,
	       const char *verb, const char *from, const char *to,
	       struct sb_err *err);
