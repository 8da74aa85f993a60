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
#include "common/log-line.h"
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

char *log_path(void)
{
	char *path;

	pthread_mutex_lock(&the_log.lock);
	path = xstrdup0(the_log.path);
	pthread_mutex_unlock(&the_log.lock);
	return path;
}

void log_set_level(enum log_level level)
{
	the_log.level = level;
}

enum log_level log_get_level(void)
{
	return the_log.level;
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

static void format_record(struct buf *b, enum log_level level, json_t *fields,
			  const char *msg)
{
	autojson json_t *j = json_object();
	autofree char *text = NULL;
	char iso[CLOCK_ISO_LEN];

	clock_iso(clock_wall_ms(), iso);
	json_put(j, "ts", json_string(iso));
	json_put(j, "level", json_string(level_names[level]));
	json_put(j, "msg", json_str(msg));
	if (fields)
		json_object_update_missing(j, fields);
	if (the_log.json) {
		text = json_print(j);
		buf_adds(b, text);
	} else {
		log_record_text(j, b);
	}
	buf_adds(b, "\n");
}

__attribute__((format(printf, 3, 0))) static void
write_record(enum log_level level, json_t *fields, const char *fmt, va_list ap)
{
	autobuf struct buf b = { 0 };
	char msg[LOG_MAX_RECORD];
	int saved = errno;

	if (level > the_log.level)
		return;
	vsnprintf(msg, sizeof(msg), fmt, ap);
	pthread_mutex_lock(&the_log.lock);
	format_record(&b, level, fields, msg);
	if (the_log.fd >= 0)
		rotate();
	/* A log that cannot be written has nobody to tell. */
	(void)fs_write_all(the_log.fd >= 0 ? the_log.fd : STDERR_FILENO, b.p,
			   b.len);
	pthread_mutex_unlock(&the_log.lock);
	errno = saved;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_record(level, NULL, fmt, ap);
	va_end(ap);
}

void log_fields(enum log_level level, json_t *fields, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_record(level, fields, fmt, ap);
	va_end(ap);
	json_decref(fields);
}
