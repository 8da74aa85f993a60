/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Where the files are that guestd comes with. */

/* A file in the folder of this program, or in one that many above it; the
 * caller's. */
char *bundle_beside(int above, const char *name);
/* A file of the bundle that we are part of as BUNDLE/bin/guestd. */
char *bundle_file(const char *name);
