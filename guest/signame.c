/* SPDX-License-Identifier: Apache-2.0 */
/* Signals by their names. */
#include "config.h"

#include <signal.h>
#include <string.h>

#include "common/util.h"
#include "guest/signame.h"

int signame_parse(const json_t *v, int *ret, struct sb_err *err)
{
	const char *name = json_string_value(v);
	long long n = json_integer_value(v);

	if (name && parse_num(name, 1, NSIG - 1, &n) < 0) {
		if (str_starts(name, "SIG"))
			name += 3;
		for (n = NSIG - 1; n > 0; n--)
			if (sigabbrev_np(n) &&
			    strcmp(sigabbrev_np(n), name) == 0)
				break;
	}
	if (n < 1 || n >= NSIG)
		return sb_fail(err, SB_INVALID,
			       "'signal' must be the name or the number of a "
			       "signal, such as \"TERM\" or 15");
	*ret = (int)n;
	return 0;
}

json_t *signame_json(int signum)
{
	const char *name = sigabbrev_np(signum);

	if (!signum)
		return json_null();
	return name ? json_sprintf("SIG%s", name)
		    : json_sprintf("SIG%d", signum);
}
