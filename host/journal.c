/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of one sandbox. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "host/journal.h"

/* A sandbox changes its state a few dozen times; this is generous. */
#define MAX_JOURNAL (8 << 20)

int journal_append(const char *dir, json_t *entry, struct sb_err *err)
{
	autojson json_t *e = entry;
	autofree char *path = xasprintf("%s/journal", dir);
	autoclose int fd = -1;
	autofree char *text = NULL;
	autobuf struct buf b = { 0 };

	json_put(e, "time", json_integer(clock_wall_ms()));
	text = json_print(e);
	buf_adds(&b, text);
	buf_adds(&b, "\n");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, b.p, b.len) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write journal '%s': %m", path);
	return 0;
}

int journal_replay(const char *dir,
		   int (*fn)(void *arg, const json_t *entry,
			     struct sb_err *err),
		   void *arg, struct sb_err *err)
{
	autofree char *path = xasprintf("%s/journal", dir);
	autofree char *text = NULL;
	size_t len;

	if (fs_read(path, MAX_JOURNAL, &text, &len, err) < 0)
		return -1;
	for (char *line = text, *nl;
	     (nl = memchr(line, '\n', text + len - line)); line = nl + 1) {
		autojson json_t *e = NULL;

		if (json_parse(line, nl - line, &e, err) < 0)
			return sb_wrap(err, "journal '%s'", path);
		if (fn(arg, e, err) < 0)
			return -1;
	}
	return 0;
}
