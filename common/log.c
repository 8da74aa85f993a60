/* SPDX-License-Identifier: Apache-2.0 */
/* Logging: one line a record, bounded on disk. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/util.h"

#define LOG_MAX_FILE (4 << 20)
#define LOG_MAX_RECORD 2048

static const char *const level_names[] = { "error", "warn", "info", "debug" };

/* The only mutable state of its kind: a log belongs to the whole process. */
static struct {
	pthread_mutex_t lock;
	enum log_level level;
	char *path; /* NULL: stderr */
	int fd;
	bool json;
} the_log = { .lock = PTHREAD_MUTEX_INITIALIZER,
	      .level = LOG_LEVEL_INFO,
	      .fd = -1 };

static int open_log(const char *path)
{
	return open(path,
		    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
		    0644);
}

int log_open(const char *path, bool json, struct sb_err *err)
{
	int fd = open_log(path);

	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open log '%s': %m", path);
	pthread_mutex_lock(&the_log.lock);
	if (the_log.fd >= 0)
		close(the_log.fd);
	util_free(&the_log.path);
	the_log.path = xstrdup(path);
	the_log.fd = fd;
	the_log.json = json;
	pthread_mutex_unlock(&the_log.lock);
	return 0;
}

void log_set_level(enum log_level level)
{
	the_log.level = level;
}

enum log_level log_get_level(void)
{
	return the_log.level;
}

/* Make control bytes visible, in place of letting them act. */
static void escape(struct buf *b, const char *s)
{
	for (; *s; s++) {
		unsigned char c = *s;

		if (c < 0x20 || c == 0x7f)
			buf_addf(b, "\\x%02x", c);
		else
			buf_add(b, s, 1);
	}
}

static void rotate(void)
{
	autofree char *old = NULL;
	struct stat st;
	int fd;

	if (fstat(the_log.fd, &st) < 0 || st.st_size < LOG_MAX_FILE)
		return;
	old = xasprintf("%s.1", the_log.path);
	if (rename(the_log.path, old) < 0)
		return;
	fd = open_log(the_log.path);
	if (fd < 0)
		return;
	close(the_log.fd);
	the_log.fd = fd;
}

static void format_record(struct buf *b, enum log_level level, const char *msg)
{
	char iso[CLOCK_ISO_LEN];

	clock_iso(clock_wall_ms(), iso);
	if (the_log.json) {
		autojson json_t *j = json_object();
		autofree char *s = NULL;

		json_put(j, "time", json_string(iso));
		json_put(j, "level", json_string(level_names[level]));
		json_put(j, "msg", json_str(msg));
		s = json_print(j);
		buf_adds(b, s);
	} else {
		buf_addf(b, "%s %s: ", iso, level_names[level]);
		escape(b, msg);
	}
	buf_adds(b, "\n");
}

void log_write(enum log_level level, const char *fmt, ...)
{
	autobuf struct buf b = { 0 };
	char msg[LOG_MAX_RECORD];
	int saved = errno;
	va_list ap;

	if (level > the_log.level)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&the_log.lock);
	format_record(&b, level, msg);
	if (the_log.fd >= 0)
		rotate();
	/* A log that cannot be written has nobody to tell. */
	(void)fs_write_all(the_log.fd >= 0 ? the_log.fd : STDERR_FILENO, b.p,
			   b.len);
	pthread_mutex_unlock(&the_log.lock);
	errno = saved;
}
