/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a page. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/token.h"
#include "common/mime.h"
#include "common/static.h"

#define MAX_FILES 4096
#define MAX_DEPTH 8
#define MAX_FILE (8 * 1024 * 1024)

const char static_csp_terminal[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; "
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
	"form-action 'none'; frame-ancestors 'self'";
const char static_csp_vnc[] =
	"default-src 'none'; script-src 'self'; "
	"style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
	"connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'self'";

struct static_site {
	char *dir;
	const char *csp;
	bool looked;
	char **name; /* relative to dir */
	size_t n;
};

struct static_site *static_site_new(const char *dir, const char *csp)
{
	struct static_site *s = xcalloc(1, sizeof(*s));

	s->dir = xstrdup(dir);
	s->csp = csp;
	return s;
}

void static_site_free(struct static_site *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
	free(s->dir);
	free(s);
}

static void add_file(struct static_site *s, const char *name)
{
	if (s->n == MAX_FILES)
		return;
	s->name = xrealloc(s->name, s->n + 1, sizeof(*s->name));
	s->name[s->n++] = xstrdup(name);
}

/* Regular files only; names that begin with a dot are not for the world. */
static void look(struct static_site *s, const char *below, int depth)
{
	autofree char *path = xasprintf("%s/%s", s->dir, below);
	DIR *dir = depth ? opendir(path) : NULL;
	const struct dirent *e;
	struct stat st;

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		autofree char *name = xasprintf("%s%s%s", below,
						*below ? "/" : "", e->d_name);

		if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st,
						   AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			look(s, name, depth - 1);
		else if (S_ISREG(st.st_mode))
			add_file(s, name);
	}
	closedir(dir);
}

static const char *find(struct static_site *s, const char *name)
{
	if (!s->looked)
		look(s, "", MAX_DEPTH);
	s->looked = true;
	if (!*name)
		name = "index.html";
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->name[i], name) == 0)
			return s->name[i];
	return NULL;
}

bool static_has(struct static_site *s, const char *name)
{
	return find(s, name);
}

static char *type_of(const char *name)
{
	const char *type = mime_of_name(name);

	return xasprintf("%s%s", type,
			 str_starts(type, "text/") ? "; charset=utf-8" : "");
}

static void put_headers(struct http_req *req, const char *csp, const char *data,
			size_t len, char *etag)
{
	char hex[SHA256_HEX_LEN + 1];
	struct sha256 *sha = sha256_new();

	sha256_add(sha, data, len);
	sha256_finish(sha, hex);
	sprintf(etag, "\"%.32s\"", hex);
	http_set_header(req, "ETag", etag);
	/* Kept by the browser, but asked for each time. */
	http_set_header(req, "Cache-Control", "no-cache");
	http_set_header(req, "Content-Security-Policy", csp);
	http_set_header(req, "Referrer-Policy", "no-referrer");
	http_set_header(req, "Cross-Origin-Opener-Policy", "same-origin");
}

void static_reply(struct static_site *s, struct http_req *req /* takes */,
		  const char *name)
{
	const char *file = find(s, name);
	const char *match = http_header(req, "if-none-match");
	autofree char *path = NULL, *type = NULL, *data = NULL;
	struct sb_err err;
	char etag[40];
	size_t len;

	if (!file) {
		sb_fail(&err, SB_NOTFOUND, "there is no '%s'", http_path(req));
		http_fail(req, &err);
		return;
	}
	path = xasprintf("%s/%s", s->dir, file);
	type = type_of(file);
	if (fs_read(path, MAX_FILE, &data, &len, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	put_headers(req, s->csp, data, len, etag);
	if (match && strstr(match, etag))
		http_reply_empty(req, 304);
	else
		http_reply(req, 200, type, data, len);
}

const char *static_name(struct http_req *req /* takes */, const char *prefix)
{
	const char *rest = http_path(req) + strlen(prefix);
	const char *slash = strrchr(prefix, '/'), *query;
	autofree char *to = NULL;

	if (*rest == '/')
		return rest + 1;
	/* Relative, for we may be behind a proxy that adds a prefix. */
	query = strchr(http_target(req), '?');
	to = xasprintf("%s/%s", slash + 1, query ? query : "");
	http_set_header(req, "Location", to);
	http_reply_empty(req, 307);
	return NULL;
}

const struct http_answer static_page_out[] = {
	{ 200, "The page", .type = "text/html" },
	{ 304, "The page is what you have" },
	{ 307, "To the same with a slash at its end" },
	{ 0 },
};

const struct http_answer static_file_out[] = {
	{ 200, "The file", .type = "text/html" },
	{ 200, NULL, .type = "text/css" },
	{ 200, NULL, .type = "text/javascript" },
	{ 200, NULL, .type = "image/svg+xml" },
	{ 304, "The file is what you have" },
	{ 0 },
};
