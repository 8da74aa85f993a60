/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Be told, on the loop, when a descriptor can be read, or a process has ended. */

#include <sys/types.h>

#include "common/loop.h"

struct fdwatch;

/* fn is called as long as there is something to read, or the end of it. */
struct fdwatch *fdwatch_new(struct loop *l, int fd /* takes */,
			    void (*fn)(void *arg), void *arg,
			    struct sb_err *err);
/* fn is called when the process, a child or not, has ended. */
struct fdwatch *fdwatch_new_pid(struct loop *l, pid_t pid,
				void (*fn)(void *arg), void *arg,
				struct sb_err *err);
int fdwatch_fd(const struct fdwatch *w);
/* Also from within fn; closes the descriptor. */
void fdwatch_free(struct fdwatch *w);

/* When the process was started, so that its number alone need not be trusted;
 * 0 if it does not run. */
uint64_t fdwatch_birth(pid_t pid);
