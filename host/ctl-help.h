/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* --help, from the table of commands. */

#include <stdio.h>

#include "host/cmd.h"

/* Help for a command, or the list of its commands if it is a group. */
void help_print(const struct cmd *cmd, FILE *out);
