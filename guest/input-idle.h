/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Whether the program that gets what is typed has dealt with all of it.  X
 * cannot be asked that; but a program that has slept for a while, without
 * being woken, has nothing left to do.
 */

#include <X11/Xlib.h>
#include <stdbool.h>

/* The window that has the keyboard; None if there is no such. */
Window input_focus(Display *dpy);
/* Whether a window is that of a client, and not of the server itself. */
bool input_is_client(Display *dpy, Window w);
/* Whether two windows are of one client; None is of any. */
bool input_same_client(Display *dpy, Window a, Window b);

/* The process of the window that has the keyboard; 0 if it does not say. */
int input_focus_pid(Display *dpy);

/* Whether that window is one of the terminals that paste with shift+Insert. */
bool input_focus_is_terminal(Display *dpy);

/*
 * Whether the process, with all its threads and all processes below it that run
 * the same program, sleeps; *switches is another number whenever any of these
 * has been awake meanwhile.  -1 if there is no such process.
 */
int input_sleeps(int pid, long long *switches);

/* Whether the X server still has something to do, for whomever. */
bool input_server_works(Display *dpy);
