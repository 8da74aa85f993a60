/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a session. */
#include "config.h"

#include "common/blame.h"
#include "ssh/session.h"

int session_fail(struct ssh *s, const char *what, struct sb_err *err)
{
	sb_fail(err, SB_GUEST, "%s: %s", what, ssh_get_error(s->session));
	blame_clean(err);
	return -1;
}
