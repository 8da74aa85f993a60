/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/images */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/api.h"
#include "host/api-util.h"

static void api_image_list(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	json_t *o = json_object();

	json_put(o, "images", image_list(&d->images));
	http_reply_json(req, 200, o);
}

static void api_image_get(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	struct sb_err err;
	json_t *o;

	if (image_info(&d->images, http_param(req, "name"), &o, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 200, o);
}

/* The sandbox whose disk lies on that image, or on one that does. */
static const struct sandbox *user_of(struct daemon *d, const char *name)
{
	struct sandbox *sb;

	TAILQ_FOREACH(sb, &d->sandboxes, entry)
		if (strcmp(sb->spec.image, name) == 0)
			return sb;
	return NULL;
}

static void api_image_delete(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	const char *name = http_param(req, "name");
	const struct sandbox *sb = user_of(d, name);
	struct sb_err err;

	if (sb) {
		sb_fail(&err, SB_CONFLICT, "sandbox '%s' uses image '%s'",
			sb->name, name);
		sb_hint(&err, "remove it first: sandboxctl down %s", sb->name);
		http_fail(req, &err);
	} else if (image_remove(&d->images, name, &err) < 0) {
		http_fail(req, &err);
	} else {
		http_reply_empty(req, 204);
	}
}

/* A build or an import: a thread that works, a stream that tells. */
struct making {
	struct daemon *d;
	struct http_stream *stream; /* NULL: the client has left */
	struct cancel *cancel;
	char *name, *file, *format;
	bool force;
	bool done;
	int rc;
	struct sb_err err;
	/* Of the last progress, for the loop. */
	int percent;
	char text[128];
};

static void tell(struct making *m, const char *event, json_t *j /* takes */)
{
	autojson json_t *take = j;
	autofree char *text = json_print(take);

	if (m->stream)
		http_stream_event(m->stream, NULL, event, text);
}

static void tell_progress(void *arg)
{
	struct making *m = arg;
	json_t *j = json_object();

	json_put(j, "percent", json_integer(m->percent));
	json_put(j, "text", json_str(m->text));
	tell(m, "progress", j);
}

static void on_progress(void *arg, int percent, const char *text)
{
	struct making *m = arg;

	m->percent = percent;
	strncpy(m->text, text, sizeof(m->text) - 1);
	task_call(m->d->loop, tell_progress, m);
}

static void make_work(void *arg)
{
	struct making *m = arg;
	struct image_progress p = { m->cancel, on_progress, m };

	m->rc = m->file ? image_import(&m->d->images, m->name, m->file,
				       m->format, &p, &m->err)
			: image_build(&m->d->images, m->name, m->force, &p,
				      &m->err);
}

static void making_free(struct making *m)
{
	cancel_free(m->cancel);
	free(m->name);
	free(m->file);
	free(m->format);
	free(m);
}

static void make_done(void *arg)
{
	struct making *m = arg;
	json_t *j;

	m->done = true;
	if (m->rc == 0)
		m->rc = image_info(&m->d->images, m->name, &j, &m->err);
	if (m->rc == 0)
		tell(m, "done", j);
	else
		tell(m, "error", http_problem(&m->err));
	if (m->stream)
		http_stream_end(m->stream); /* on_close frees */
	else
		making_free(m);
}

static void on_close(struct http_stream *s, void *arg)
{
	struct making *m = arg;

	m->stream = NULL;
	if (m->done)
		making_free(m);
	else
		cancel_set(m->cancel);
}

static int read_making(const json_t *body, struct making *m, struct sb_err *err)
{
	const char *name = NULL, *file = NULL, *format = NULL;

	if (json_get_str(body, "name", &name, err) < 0 ||
	    json_get_str(body, "file", &file, err) < 0 ||
	    json_get_str(body, "format", &format, err) < 0 ||
	    json_get_bool(body, "force", &m->force, err) < 0)
		return -1;
	if (!name)
		return sb_fail(err, SB_INVALID, "'name' is missing");
	if (!file != !format)
		return sb_fail(err, SB_INVALID,
			       "'file' and 'format' go together: the format of "
			       "a foreign image is never guessed");
	m->name = xstrdup(name);
	m->file = xstrdup0(file);
	m->format = xstrdup0(format);
	return 0;
}

static void api_image_make(struct http_req *req)
{
	static const struct http_stream_ops ops = { .on_close = on_close };
	struct making *m = xcalloc(1, sizeof(*m));
	autojson json_t *body = NULL;
	struct sb_err err;

	if (http_body_json(req, &body, &err) < 0 ||
	    read_making(body, m, &err) < 0) {
		http_fail(req, &err);
		free(m);
		return;
	}
	m->d = http_ctx(req);
	m->cancel = cancel_new();
	m->stream = http_stream_begin(req, 200, "text/event-stream", &ops, m);
	task_start(m->d->loop, make_work, make_done, m);
}

static const struct http_field name_in[] = {
	{ "name", HTTP_STR, "Name of the image", HTTP_PATH },
	{ 0 },
};

static const struct http_field make_in[] = {
	{ "name", HTTP_STR, "Its name; without a file, that of its recipe",
	  .must = true },
	{ "file", HTTP_STR, "A disk to import: absolute path on the host" },
	{ "format", HTTP_STR, "Of the file; never guessed",
	  .words = "qcow2|raw" },
	{ "force", HTTP_BOOL, "Build it anew", .dflt = "false" },
	{ 0 },
};

static const struct http_schema image_schema = {
	"Image",
	(const struct http_field[]){
		{ "name", HTTP_STR, "Its name" },
		{ "description", HTTP_STR | HTTP_NULL, "What is in it" },
		{ "parent", HTTP_STR | HTTP_NULL, "What it is built upon" },
		{ "state", HTTP_STR, "Whether it can be used",
		  .words = "ready|stale|damaged|not built" },
		{ "cause", HTTP_STR, "What is damaged", .maybe = true },
		{ "size", HTTP_INT, "Bytes on disk", .maybe = true },
		{ "bytes", HTTP_INT, "Of its disk file", .maybe = true },
		{ "virtual_size", HTTP_INT, "Of the disk, for the guest",
		  .maybe = true },
		{ "path", HTTP_STR, "Its folder", .maybe = true },
		{ "parent_dir", HTTP_STR, "Its parent's folder",
		  .maybe = true },
		{ "hash", HTTP_STR, "Over all that it is built from",
		  .maybe = true },
		{ "created_at", HTTP_STR, "When it was built", .maybe = true },
		{ "baked", HTTP_BOOL, "Whether guestd is in it already",
		  .maybe = true },
		{ "imported", HTTP_BOOL, "Whether it is a foreign one",
		  .maybe = true },
		{ "format", HTTP_STR, "Of its disk file", .maybe = true },
		{ "kernel_version", HTTP_STR, "Of its Linux", .maybe = true },
		{ "cmdline", HTTP_STR, "Its kernel's", .maybe = true },
		{ 0 } },
	"An image",
	"{'name': 'base', 'description': 'Python and sshd', 'parent': null,"
	" 'state': 'not built'}",
};

static const struct http_schema list_schema = {
	"ImageList",
	(const struct http_field[]){ { "images", HTTP_LIST, "All, built or not",
				       .schema = &image_schema },
				     { 0 } },
	"Images",
	NULL,
};

static const struct http_schema progress_schema = {
	"Progress",
	(const struct http_field[]){
		{ "percent", HTTP_INT, "How much is done" },
		{ "text", HTTP_STR, "What is being done" },
		{ 0 } },
	"How far it is",
	"{'percent': 40, 'text': 'installing packages'}",
};

static const struct http_event make_events[] = {
	{ "progress", &progress_schema, "It goes on" },
	{ "done", &image_schema, "Last: the image" },
	{ "error", &http_problem_schema, "Last: what went wrong" },
	{ 0 },
};

static const struct http_answer list_out[] = {
	{ 200, "The images", &list_schema },
	{ 0 },
};
static const struct http_answer image_out[] = {
	{ 200, "The image", &image_schema },
	{ 0 },
};
static const struct http_answer make_out[] = {
	{ 200, "How it goes", .events = make_events },
	{ 0 },
};
static const struct http_answer delete_out[] = {
	{ 204, "It is gone" },
	{ 0 },
};

/* clang-format off */
const struct http_route image_routes[] = {
	{ "GET", "/v1/images", api_image_list, 0,
	  "All images, built or not", .out = list_out },
	{ "POST", "/v1/images", api_image_make, 0,
	  "Build or import an image; progress as Server-Sent Events", { NULL },
	  make_in, make_out,
	  .example = "{'name': 'base'}",
	  .text = "A client that leaves cancels it." },
	{ "GET", "/v1/images/{name}", api_image_get, 0, "One image", { NULL },
	  name_in, image_out, { SB_NOTFOUND } },
	{ "DELETE", "/v1/images/{name}", api_image_delete, 0,
	  "Remove an image", { NULL },
	  name_in, delete_out, { SB_NOTFOUND, SB_CONFLICT } },
	{ 0 },
};
/* clang-format on */
