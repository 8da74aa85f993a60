/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Putting guestd into a guest.  A bundle is a folder that becomes
 * /opt/sandbox: bin/guestd, sandbox-guestd.service, and for foreign images the
 * shared libraries it needs in lib/.  Its hash is kept in the file .hash.
 */

#include "common/err.h"
#include "common/token.h"
#include "ssh/ssh.h"

#define BUNDLE_HASH_FILE ".hash"

/*
 * The hash over names, modes and contents of a bundle folder, its own .hash
 * left out.
 */
int bundle_hash(const char *dir, char out[SHA256_HEX_LEN + 1],
		struct sb_err *err);

/*
 * Make the guest's /opt/sandbox equal to the bundle and its service run.
 * *ret_done is false when the guest had that very bundle already and its
 * service only had to be seen to.  The login must be root's.  On failure the
 * guest has what it had before.
 */
int ssh_install(struct ssh *s, const char *bundle_dir, bool *ret_done,
		struct sb_err *err);

/* Where ssh_install() puts things, for those who want it elsewhere. */
struct install_paths {
	const char *prefix;    /* "/opt/sandbox" */
	const char *systemctl; /* "systemctl" */
	const char *useradd;   /* "useradd" */
};
int ssh_install_at(struct ssh *s, const char *bundle_dir,
		   const struct install_paths *paths, bool *ret_done,
		   struct sb_err *err);
