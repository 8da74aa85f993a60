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
#include "guest/static.h"

#define MAX_FILES 4096
#define MAX_DEPTH 8
#define MAX_FILE (8 * 1024 * 1024)

struct static_site {
	char *dir;
	bool looked;
	char **name; /* relative to dir */
	size_t n;
};

struct static_site *static_site_new(const char *dir)
{
	struct static_site *s = xcalloc(1, sizeof(*s));

	s->dir = xstrdup(dir);
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

static const char *type_of(const char *name)
{
	static const struct {
		const char *suffix, *type;
	} types[] = {
		/* clang-format off */
		{ ".html", "text/html; charset=utf-8" },
		{ ".js",   "text/javascript; charset=utf-8" },
		{ ".mjs",  "text/javascript; charset=utf-8" },
		{ ".css",  "text/css; charset=utf-8" },
		{ ".json", "application/json" },
		{ ".svg",  "image/svg+xml" },
		{ ".png",  "image/png" },
		{ ".ico",  "image/x-icon" },
		{ ".woff", "font/woff" },
		{ ".woff2", "font/woff2" },
		{ ".wasm", "application/wasm" },
		{ ".mp3",  "audio/mpeg" },
		{ ".oga",  "audio/ogg" },
		{ ".txt",  "text/plain; charset=utf-8" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_ends(name, types[i].suffix))
			return types[i].type;
	return "application/octet-stream";
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
		  const char *name, const char *csp)
{
	const char *file = find(s, name);
	const char *match = http_header(req, "if-none-match");
	autofree char *path = NULL, *data = NULL;
	struct sb_err err;
	char etag[40];
	size_t len;

	if (!file) {
		sb_fail(&err, SB_NOTFOUND, "there is no '%s'", http_path(req));
		http_fail(req, &err);
		return;
	}
	path = xasprintf("%s/%s", s->dir, file);
	if (fs_read(path, MAX_FILE, &data, &len, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	put_headers(req, csp, data, len, etag);
	if (match && strstr(match, etag))
		http_reply_empty(req, 304);
	else
		http_reply(req, 200, type_of(file), data, len);
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
