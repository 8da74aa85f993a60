/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files are that guestd comes with. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/bundle.h"

char *bundle_beside(int above, const char *name)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[MAX(n, 0)] = '\0';
	for (int i = 0; i <= above; i++) {
		slash = strrchr(exe, '/');
		if (slash)
			*slash = '\0';
	}
	return xasprintf("%s/%s", exe, name);
}

char *bundle_file(const char *name)
{
	return bundle_beside(1, name);
}
