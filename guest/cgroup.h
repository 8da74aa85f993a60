/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A control group (version 2) for each command: it bounds how many processes
 * the command may have, and reaches all of them, whatever sessions they made
 * for themselves.  Where the kernel or our rights do not allow it there are no
 * groups, and the limits of the account are all there is.
 */

#include <stdbool.h>

#define CGROUP_MAX_PIDS 2048

struct cgroup;

/* Once, at the start; also removes what an earlier guestd left empty. */
void cgroup_init(void);
void cgroup_done(void);

/* A new group; NULL when there can be none. */
struct cgroup *cgroup_new(void);
/* What the child writes "0" to, to be in it; -1 for NULL. */
int cgroup_join_fd(const struct cgroup *g);
/* The child has been started: closes that. */
void cgroup_joined(struct cgroup *g);
/* Whether the number of processes is bounded in it. */
bool cgroup_is_bounded(const struct cgroup *g);
/* Kill all that is in it; NULL is fine. */
void cgroup_kill(const struct cgroup *g);
/* Remove it, if all that was in it has ended; it is freed then. */
bool cgroup_remove(struct cgroup *g);
/* Let go of it; it vanishes when what is in it has ended. */
void cgroup_free(struct cgroup *g);
