/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Putting guestd into a guest.  A bundle is a folder that becomes
 * /opt/sandbox: bin/guestd, sandbox-guestd.service, and for foreign images the
 * shared libraries it needs in lib/.
 */

#include "common/err.h"
#include "common/token.h"
#include "ssh/ssh.h"

/* The hash over names, modes and contents of a bundle folder. */
int bundle_hash(const char *dir, char out[SHA256_HEX_LEN + 1],
		struct sb_err *err);

/*
 * Make the guest's /opt/sandbox equal to the bundle and its service run;
 * does nothing when the guest has that very bundle already (*ret_done false).
 */
int ssh_install(struct ssh *s, const char *bundle_dir, bool *ret_done,
		struct sb_err *err);
