/* SPDX-License-Identifier: Apache-2.0 */
/* sandboxctl: the command line of the sandboxes. */
#include "config.h"

#include "host/cmd.h"
#include "host/ctl-main.h"

int main(int argc, char **argv)
{
	return ctl_main(&cmd_root, argv);
}
