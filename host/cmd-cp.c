/* SPDX-License-Identifier: Apache-2.0 */
/* cp: copy files and trees into a sandbox and out of it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-guest.h"

static const struct opt opts[] = { GUEST_VIA, { 0 } };

/* "NAME:PATH"; a slash before the colon makes it a local path. */
struct place {
	char *sandbox; /* NULL: on the host */
	char *path;
};

static void place_done(struct place *p)
{
	util_free(&p->sandbox);
	util_free(&p->path);
}
#define autoplace __attribute__((cleanup(place_done)))

static void parse(const char *word, struct place *ret)
{
	size_t n = strcspn(word, ":/");

	if (n == 0 || word[n] != ':') {
		ret->path = xstrdup(word);
		return;
	}
	ret->sandbox = xstrndup(word, n);
	ret->path = xstrdup(word + n + 1);
}

/* Relative paths of the guest are below the workspace. */
static void resolve(struct place *p, const json_t *sandbox)
{
	char *path = p->path;

	if (!p->sandbox || path[0] == '/')
		return;
	p->path = xasprintf("%s%s%s", guest_workspace(sandbox),
			    *path ? "/" : "", path);
	free(path);
}

/* "-" is a stream: cat in the guest is all it takes. */
static int stream(struct ctl *c, const json_t *sandbox, const char *via,
		  bool put, const char *path, struct sb_err *err)
{
	struct guest_opts o = { .input = put, .via = via };
	char *const get_argv[] = { "cat", "--", (char *)path, NULL };
	char *const put_argv[] = { "sh", "-c",	       "cat > \"$1\"",
				   "cp", (char *)path, NULL };

	if (c->json)
		return sb_fail(err, SB_INVALID,
			       "--json does not go with a stream ('-')");
	return guest_exec(c, sandbox, &o, put ? put_argv : get_argv, err);
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct guest_opts *o = a->values;
	autoplace struct place from = { 0 }, to = { 0 };
	autojson json_t *sandbox = NULL;
	const struct place *host;
	bool put;

	parse(a->argv[0], &from);
	parse(a->argv[1], &to);
	put = to.sandbox != NULL;
	if (put == (from.sandbox != NULL)) {
		sb_fail(err, SB_INVALID,
			"one side of cp must be NAME:PATH in a guest, the "
			"other a path of the host");
		return sb_hint(err, "sandboxctl cp file.txt demo:file.txt");
	}
	host = put ? &from : &to;
	if (guest_find(c, put ? to.sandbox : from.sandbox, &sandbox, err))
		return -1;
	resolve(&from, sandbox);
	resolve(&to, sandbox);
	if (strcmp(host->path, "-") == 0)
		return stream(c, sandbox, o->via, put,
			      put ? to.path : from.path, err);
	return guest_copy(c, sandbox, o->via, put ? "put" : "get", from.path,
			  to.path, err);
}

const struct cmd cmd_cp = {
	.name = "cp",
	.section = "Work inside",
	.args = "SOURCE TARGET",
	.summary = "copy files and folders into a sandbox or out of it",
	.detail =
		"One side is NAME:PATH in the guest, where a relative PATH is "
		"below " GUEST_WORKSPACE "; the other is a path of the host "
		"(./a:b for one with a colon), or - for stdin or stdout. "
		"Folders are copied whole. Into a folder that exists, the "
		"source is copied under its own name.",
	.examples = "sandboxctl cp data.csv demo:\n"
		    "sandboxctl cp demo:/var/log/syslog .\n"
		    "sandboxctl cp demo:result.json - | jq .",
	.opts = opts,
	.values = sizeof(struct guest_opts),
	.min = 2,
	.max = 2,
	.run = run,
};
