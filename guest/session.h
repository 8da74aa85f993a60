/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* All the processes of a session, which may be many groups. */

#include <sys/types.h>

/*
 * Send a signal (0: none) to every process of the session that is not dead
 * already.  Returns how many there were.
 */
int session_signal(pid_t sid, int signum);
