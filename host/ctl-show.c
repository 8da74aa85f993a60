/* SPDX-License-Identifier: Apache-2.0 */
/* What a cell shows, as text and files. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base64.h"
#include "common/fs.h"
#include "common/json.h"
#include "host/ctl-out.h"
#include "host/ctl-show.h"

static const struct kind {
	const char *mime, *suffix;
	bool is_text;	 /* else base64 */
	bool is_picture; /* says more than the text beside it */
} kinds[] = {
	{ "image/png", "png", false, true },
	{ "image/jpeg", "jpg", false, true },
	{ "image/gif", "gif", false, true },
	{ "image/webp", "webp", false, true },
	{ "image/svg+xml", "svg", true, true },
	{ "application/pdf", "pdf", false, true },
	{ "text/html", "html", true, false },
};

void show_init(struct show *s, const char *dir)
{
	*s = (struct show){ .dir = dir, .dir_fd = -1, .files = json_array() };
	show_renew(s);
}

void show_renew(struct show *s)
{
	s->files_left = SHOW_MAX_FILES;
	s->room = SHOW_MAX_BYTES;
}

void show_done(struct show *s)
{
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	json_decref(s->files);
	*s = (struct show){ .dir_fd = -1 };
}

int show_open(struct show *s, struct sb_err *err)
{
	if (!s->dir)
		return 0;
	if (fs_mkdirs(s->dir, 0777, err) < 0)
		return -1;
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open the folder '%s': %m", s->dir);
	return 0;
}

void show_begin(struct show *s, long long cell)
{
	s->cell = cell;
	s->next = 1;
}

/* Python's encoders put an end of line behind base64, some within. */
static char *decode(const char *text, size_t len, size_t *ret_len)
{
	autofree char *tight = xmalloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (!isspace((unsigned char)text[i]))
			tight[n++] = text[i];
	return base64_decode(tight, n, ret_len);
}

/* A file that nobody had before; its name is the caller's. */
static int new_file(struct show *s, const char *suffix, char **ret_name,
		    struct sb_err *err)
{
	for (; s->next <= SHOW_MAX_FILES; s->next++) {
		autofree char *name =
			xasprintf("cell-%lld-%d.%s", s->cell, s->next, suffix);
		int fd = openat(s->dir_fd, name,
				O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					O_CLOEXEC,
				0666);

		if (fd >= 0) {
			s->next++;
			*ret_name = xasprintf("%s/%s", s->dir, name);
			return fd;
		}
		if (errno != EEXIST)
			return sb_fail(err, sb_code_of_errno(errno),
				       "cannot create '%s/%s': %m", s->dir,
				       name);
	}
	sb_fail(err, SB_DENIED, "there are %d files of cell %lld in '%s'",
		SHOW_MAX_FILES, s->cell, s->dir);
	return sb_hint(err, "give --out an empty folder");
}

static int save(struct show *s, const char *suffix, const char *data,
		size_t len, char **ret_name, struct sb_err *err)
{
	autofree char *name = NULL;
	autoclose int fd = new_file(s, suffix, &name, err);

	if (fd < 0)
		return -1;
	if (fs_write_all(fd, data, len) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", name);
	s->files_left--;
	s->room -= len;
	json_array_append_new(s->files, json_str(name));
	*ret_name = steal(&name);
	return 0;
}

static unsigned int be32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (unsigned int)u[0] << 24 | u[1] << 16 | u[2] << 8 | u[3];
}

/* " 640x480" of a PNG; nothing of others. */
static void add_size(const char *data, size_t len, struct buf *out)
{
	static const char head[] = "\x89PNG\r\n\x1a\n";

	if (len >= 24 && memcmp(data, head, sizeof(head) - 1) == 0)
		buf_addf(out, " %ux%u", be32(data + 16), be32(data + 20));
}

static int add_file(struct show *s, const struct kind *k, const json_t *value,
		    struct buf *out, struct sb_err *err)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);
	autofree char *bytes = NULL, *name = NULL;
	char size[OUT_SIZE_LEN];

	if (!k->is_text) {
		bytes = decode(text, len, &len);
		text = bytes;
	}
	if (!text || len > SHOW_MAX_FILE) {
		buf_addf(out, "[%s: %s]\n", k->mime,
			 text ? "too large" : "not valid base64");
		return 0;
	}
	if (s->dir_fd >= 0 && (!s->files_left || len > s->room)) {
		buf_addf(out, "[%s: not saved, as the cell shows too much]\n",
			 k->mime);
		return 0;
	}
	if (s->dir_fd >= 0 && save(s, k->suffix, text, len, &name, err) < 0)
		return -1;
	buf_addf(out, "[%s", k->mime);
	add_size(text, len, out);
	buf_addf(out, ", %s: %s]\n", out_size(len, size),
		 name ? name : "save it with --out DIR");
	return 0;
}

/* The words of HTML, for want of better: without tags, scripts and styles. */
static void add_html(const char *p, size_t len, struct buf *out)
{
	static const char *const skipped[] = { "script", "style" };
	const char *end = p + len, *last = memrchr(p, '>', len);

	while (p < end) {
		/* The last is looked for once, not from each '<'. */
		const char *close = *p == '<' && last && p < last
					    ? memchr(p, '>', end - p)
					    : NULL;

		if (!close) {
			buf_add(out, p++, 1);
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(skipped); i++) {
			size_t n = strlen(skipped[i]);
			const char *to;

			if ((size_t)(end - p) <= n ||
			    strncasecmp(p + 1, skipped[i], n) != 0)
				continue;
			to = strcasestr(close, i ? "</style" : "</script");
			close = to ? memchr(to, '>', end - to) : end - 1;
			close = close ? close : end - 1;
		}
		p = close + 1;
	}
}

/* Text of some type, which Jupyter allows to be a list of lines. */
static bool add_text(const json_t *data, const char *mime, struct buf *out)
{
	const json_t *v = json_object_get(data, mime);
	size_t start = out->len;

	if (!json_is_string(v))
		return false;
	if (strcmp(mime, "text/html") == 0)
		add_html(json_string_value(v), json_string_length(v), out);
	else
		buf_add(out, json_string_value(v), json_string_length(v));
	if (out->len > start && out->p[out->len - 1] != '\n')
		buf_adds(out, "\n");
	return out->len > start;
}

/* IPython's own objects are there for what they carry. */
static bool names_object(const json_t *data)
{
	return str_starts(json_str_or(data, "text/plain", ""),
			  "<IPython.core.display.");
}

/*
 * Whoever gives Markdown means it to be read; the plain text beside it only
 * names the object.  Else the plain text is what Python shows.
 */
static bool add_best_text(const json_t *data, bool has_file, struct buf *out)
{
	static const char *const order[] = { "text/markdown", "text/plain",
					     "text/latex", NULL };
	const json_t *j = json_object_get(data, "application/json");

	if (names_object(data) && add_text(data, "text/html", out))
		return true;
	for (size_t i = 0; order[i]; i++)
		if (add_text(data, order[i], out))
			return true;
	if (j) {
		autofree char *text = json_print(j);

		buf_addf(out, "%s\n", text);
		return true;
	}
	return !has_file && add_text(data, "text/html", out);
}

int show_bundle(struct show *s, const json_t *data, bool is_result,
		struct buf *out, struct sb_err *err)
{
	autobuf struct buf notes = { 0 };
	bool picture = false;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const json_t *v = json_object_get(data, kinds[i].mime);

		/* HTML beside text is not worth a note. */
		if (!json_is_string(v) ||
		    (!kinds[i].is_picture && s->dir_fd < 0))
			continue;
		picture |= kinds[i].is_picture;
		if (add_file(s, &kinds[i], v, &notes, err) < 0)
			return -1;
	}
	if (is_result || !picture)
		add_best_text(data, notes.len, out);
	buf_add(out, notes.p, notes.len);
	return 0;
}
