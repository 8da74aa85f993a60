/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The hold on a command's process group.  sshd passes no signals to commands
 * of root, and lets any command without a pty live on when its client is gone.
 * So the command tells its process group first, and a second channel waits
 * beside it: a line there is the name of a signal for the group, and its end,
 * unless announced, means SIGHUP.
 */

#include <libssh/libssh.h>

#include "common/util.h"

struct leash;

struct leash *leash_new(ssh_session session);
/* Lets go of the command if it has ended, else hangs up. */
void leash_free(struct leash *l, bool ended);

/* The command line that tells its group on stderr, and then is command. */
char *leash_wrap(const struct leash *l, const char *command);

/* The greetings of a shell's start-up files may come before the number. */
#define LEASH_HEAD_MAX (16 * 1024)

/*
 * Take the group's number out of the first bytes of stderr.  Returns false as
 * long as it may be in the bytes to come: then call again with those added.
 */
bool leash_find(struct leash *l, struct buf *head);

/* Take the next step towards the second channel; to be called often. */
void leash_step(struct leash *l);

/* Send a signal to the group now, or as soon as it is known.  False if there
 * is no way. */
bool leash_signal(struct leash *l, int sig);
