/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* From the command line to a command and its exit status. */

#include "host/cmd.h"

int ctl_main(const struct cmd *root, char **argv);
