/* SPDX-License-Identifier: Apache-2.0 */
/* image: build, list, import and remove what guests boot from. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-out.h"
#include "host/ctl-progress.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-table.h"

#define QUIET_MS 45000 /* heartbeats come every 15 s */

/* A build or an import as its events tell it. */
struct making {
	struct progress *progress;
	json_t *image;	    /* set by "done" */
	struct sb_err *err; /* filled by "error" */
	bool failed;
};

static void fail_by(const json_t *problem, struct sb_err *err)
{
	const char *hint = json_str_or(problem, "remediation", NULL);

	sb_fail(err, sb_code_of_name(json_str_or(problem, "code", "")), "%s",
		json_str_or(problem, "message", "no reason given"));
	if (hint)
		sb_hint(err, "%s", hint);
}

static int on_event(void *arg, const char *event, const char *data)
{
	struct making *m = arg;
	autojson json_t *j = NULL;

	if (json_parse(data, strlen(data), &j, NULL))
		return 0;
	if (strcmp(event, "progress") == 0) {
		progress_step(m->progress, json_str_or(j, "text", "working"),
			      json_int_or(j, "percent", -1));
		return 0;
	}
	if (strcmp(event, "done") == 0)
		m->image = steal(&j);
	else if (strcmp(event, "error") == 0)
		fail_by(j, m->err);
	else
		return 0;
	m->failed = !m->image;
	return 1;
}

static int follow(struct ctl *c, const json_t *body, int cancel_fd,
		  struct making *m, struct sb_err *err)
{
	int rc;

	if (daemon_open(c, err))
		return -1;
	hclient_set_cancel(c->daemon, cancel_fd);
	hclient_set_timeout(c->daemon, QUIET_MS);
	rc = hclient_send_events(c->daemon, "POST", "/v1/images", body,
				 on_event, m, err);
	daemon_close(c); /* leaving cancels what is not done */
	if (rc || m->failed)
		return -1;
	if (!m->image) {
		sb_fail(err, SB_SYSTEM, "sandboxd went away during the work");
		return sb_hint(err, "call it again");
	}
	return 0;
}

static int make(struct ctl *c, const char *name, const json_t *body,
		struct sb_err *err)
{
	struct making m = { .err = err };
	int cancel_fd = interrupt_begin(err), rc, sig;
	autojson json_t *image = NULL;
	autofree char *path = NULL;

	if (cancel_fd < 0)
		return -1;
	m.progress = progress_new(name, c->json);
	progress_step(m.progress, "starting", -1);
	rc = follow(c, body, cancel_fd, &m, err);
	progress_free(m.progress);
	image = m.image;
	sig = interrupt_end(cancel_fd);
	if (sig && !image) {
		out_note("interrupted: nothing is left of image '%s'", name);
		return 128 + sig;
	}
	if (rc)
		return -1;
	path = sanitize_line(json_str_or(image, "path", "?"));
	if (c->json)
		out_json(image);
	else
		printf("Image %s is ready: %s\n", name, path);
	return 0;
}

struct build_values {
	bool force;
};

static const struct opt build_opts[] = {
	{ .name = "force",
	  .help = "build it even if it is up to date",
	  .store = offsetof(struct build_values, force) },
	{ 0 },
};

static int run_build(struct ctl *c, const struct cmd_args *a,
		     struct sb_err *err)
{
	const char *name = a->argc ? a->argv[0] : "base";
	const struct build_values *v = a->values;
	autojson json_t *body = json_object();

	json_put(body, "name", json_str(name));
	if (v->force)
		json_put(body, "force", json_true());
	return make(c, name, body, err);
}

static const struct cmd cmd_build = {
	.name = "image build",
	.args = "[NAME]",
	.summary = "build an image from its recipe (default: base)",
	.detail = "What is up to date is not built again. Ctrl-C cancels the "
		  "build and leaves nothing half-made.",
	.examples = "sandboxctl image build\nsandboxctl image build desktop",
	.opts = build_opts,
	.values = sizeof(struct build_values),
	.max = 1,
	.words = { WORD_IMAGE },
	.run = run_build,
};

struct import_values {
	const char *format;
};

static const struct opt import_opts[] = {
	{ .name = "format",
	  .arg = "qcow2|raw",
	  .help = "what FILE is (required; it is never guessed)",
	  .kind = OPT_STR,
	  .store = offsetof(struct import_values, format) },
	{ 0 },
};

static int run_import(struct ctl *c, const struct cmd_args *a,
		      struct sb_err *err)
{
	const struct import_values *v = a->values;
	autojson json_t *body = json_object();
	char path[PATH_MAX];

	if (!v->format) {
		sb_fail(err, SB_INVALID, "image import needs --format");
		return sb_hint(err, "say --format qcow2 or --format raw: a "
				    "foreign file's format is never guessed");
	}
	if (!realpath(a->argv[1], path))
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot find '%s': %m", a->argv[1]);
	json_put(body, "name", json_str(a->argv[0]));
	json_put(body, "file", json_str(path));
	json_put(body, "format", json_str(v->format));
	return make(c, a->argv[0], body, err);
}

static const struct cmd cmd_import = {
	.name = "image import",
	.args = "NAME FILE",
	.summary = "make an image of a foreign disk file",
	.examples = "sandboxctl image import mine disk.qcow2 --format qcow2",
	.opts = import_opts,
	.values = sizeof(struct import_values),
	.min = 2,
	.max = 2,
	.run = run_import,
};

static int run_list(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *reply = NULL;
	struct table *t;
	const json_t *e;
	size_t i;

	if (daemon_call(c, "GET", "/v1/images", NULL, &reply, err))
		return -1;
	if (c->json) {
		out_json(reply);
		return 0;
	}
	t = table_new(5, "NAME", "STATE", "SIZE", "PARENT", "DESCRIPTION");
	json_array_foreach(json_object_get(reply, "images"), i, e) {
		char size[OUT_SIZE_LEN];

		table_row(t, json_str_or(e, "name", NULL),
			  json_str_or(e, "state", NULL),
			  out_size(json_int_or(e, "size", 0), size),
			  json_str_or(e, "parent", NULL),
			  json_str_or(e, "description", NULL));
	}
	table_print(t, stdout);
	table_free(t);
	return 0;
}

static const struct cmd cmd_list = {
	.name = "image list",
	.alias = "ls",
	.summary = "list the images",
	.examples = "sandboxctl image list",
	.run = run_list,
};

static void print_image(const json_t *image)
{
	static const char *const texts[] = { "name",   "state", "description",
					     "parent", "hash",	"created_at",
					     "path" };
	char size[OUT_SIZE_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *value = json_str_or(image, texts[i], "");
		autofree char *text = sanitize_line(value);

		if (*text)
			printf("%-12s %s\n", texts[i], text);
	}
	printf("%-12s %s\n", "size",
	       out_size(json_int_or(image, "size", 0), size));
	printf("%-12s %s\n", "disk size",
	       out_size(json_int_or(image, "virtual_size", 0), size));
	printf("%-12s %s\n", "guestd",
	       json_bool_or(image, "baked", false) ? "part of the image"
						   : "installed at boot");
}

static int run_info(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autofree char *path = daemon_path(DAEMON_IMAGES, a->argv[0], "");
	autojson json_t *image = NULL;

	if (daemon_call(c, "GET", path, NULL, &image, err))
		return -1;
	if (c->json)
		out_json(image);
	else
		print_image(image);
	return 0;
}

static const struct cmd cmd_image_info = {
	.name = "image info",
	.args = "NAME",
	.summary = "show all about an image",
	.examples = "sandboxctl image info base",
	.min = 1,
	.max = 1,
	.words = { WORD_IMAGE },
	.run = run_info,
};

static int run_rm(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *j = json_object();
	json_t *removed = json_array();

	json_put(j, "removed", removed);
	for (int i = 0; i < a->argc; i++) {
		autofree char *path =
			daemon_path(DAEMON_IMAGES, a->argv[i], "");

		if (daemon_call(c, "DELETE", path, NULL, NULL, err))
			return -1;
		json_array_append_new(removed, json_str(a->argv[i]));
	}
	if (c->json)
		out_json(j);
	return 0;
}

static const struct cmd cmd_rm = {
	.name = "image rm",
	.summary = "remove images that no sandbox uses",
	.args = "NAME...",
	.examples = "sandboxctl image rm full",
	.min = 1,
	.max = CMD_ANY,
	.words = { WORD_IMAGE, WORD_IMAGE },
	.run = run_rm,
};

static const struct cmd *const commands[] = {
	&cmd_build, &cmd_list, &cmd_image_info, &cmd_import, &cmd_rm, NULL,
};

const struct cmd cmd_image = {
	.name = "image",
	.alias = "images",
	.section = "Images and templates",
	.args = "COMMAND",
	.summary = "build, list, import and remove images",
	.max = CMD_ANY,
	.verbatim = 1,
	.words = { WORD_COMMAND },
	.sub = commands,
};
