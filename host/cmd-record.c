/* SPDX-License-Identifier: Apache-2.0 */
/* record: films of a sandbox's desktop. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-desk.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-out.h"
#include "host/ctl-progress.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-save.h"
#include "host/ctl-table.h"

#define FILMS "/v1/screen/recordings"
#define VERBS "start|stop|status|ls|save|rm"
#define MAX_FPS 60
#define MAX_NAME 128
/* A film of 1 GiB is copied twice until it is whole, on a disk that may be slow
 * as only an emulated one is. */
#define STOP_MS (15 * 60 * 1000)
/* An MP4 file begins with the size of a box, and that box is "ftyp". */
#define HEAD 8

struct values {
	const char *name, *output;
	long long fps;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "name",
	  .arg = "FILM",
	  .help = "name of the film (default: with start, made of the time; "
		  "else the latest, but rm needs it)",
	  .kind = OPT_STR,
	  .store = AT(name) },
	{ .name = "fps",
	  .arg = "N",
	  .help = "with start: pictures a second, at most (default: 30)",
	  .kind = OPT_NUM,
	  .store = AT(fps),
	  .max = MAX_FPS },
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "with save: write this file, or to stdout (-)",
	  .kind = OPT_STR,
	  .store = AT(output) },
	{ 0 },
};

struct record {
	struct ctl *c;
	const char *sandbox;
	const struct values *v;
	struct desk desk;
	int cancel_fd;
};

/* One film: its name, which is a guest's. */
static int print_film(const struct record *r, const json_t *film)
{
	autofree char *name = sanitize_line(json_str_or(film, "name", ""));
	const char *error = json_str_or(film, "error", NULL);

	if (r->c->json)
		out_json(film);
	else
		puts(name);
	if (error)
		out_note("the film ended early: %s", error);
	return 0;
}

static int post(struct record *r, const char *path, struct sb_err *err)
{
	autojson json_t *body = json_object(), *film = NULL;

	if (r->v->name)
		json_put(body, "name", json_str(r->v->name));
	if (r->v->fps)
		json_put(body, "fps", json_integer(r->v->fps));
	if (hclient_json(r->desk.guestd, "POST", path, body, &film, err) < 0)
		return -1;
	return print_film(r, film);
}

static int start(struct record *r, struct sb_err *err)
{
	desk_await(&r->desk, r->cancel_fd);
	return post(r, "/v1/screen/record/start", err);
}

static int stop(struct record *r, struct sb_err *err)
{
	hclient_set_timeout(r->desk.guestd, STOP_MS);
	return post(r, "/v1/screen/record/stop", err);
}

static int list(struct record *r, const char *path, const char *key,
		struct sb_err *err)
{
	autojson json_t *reply = NULL;
	struct table *t;
	const json_t *f;
	size_t i;

	if (hclient_json(r->desk.guestd, "GET", path, NULL, &reply, err) < 0)
		return -1;
	if (r->c->json) {
		out_json(reply);
		return 0;
	}
	t = table_new(5, "FILM", "STATE", "LENGTH", "SIZE", "STARTED");
	json_array_foreach(json_object_get(reply, key), i, f) {
		char length[OUT_SIZE_LEN], size[OUT_SIZE_LEN];

		table_row(t, json_str_or(f, "name", NULL),
			  json_str_or(f, "state", NULL),
			  out_span(json_int_or(f, "duration_ms", 0) / 1000,
				   length),
			  out_size(MAX(json_int_or(f, "bytes", 0), 0), size),
			  json_str_or(f, "started_at", NULL));
	}
	table_print(t, stdout);
	table_free(t);
	return 0;
}

static int status(struct record *r, struct sb_err *err)
{
	return list(r, "/v1/screen/record/status", "running", err);
}

static int ls(struct record *r, struct sb_err *err)
{
	return list(r, FILMS, "recordings", err);
}

/* Whether a film's name may be part of the name of a file of ours. */
static bool is_plain(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789-_.";
	size_t len = strlen(name);

	return len && len <= MAX_NAME && strspn(name, letters) == len;
}

/* The film that is meant: the one named, or the last that was begun. */
static int find(struct record *r, json_t **ret, struct sb_err *err)
{
	autofree char *path = NULL;
	autojson json_t *reply = NULL;
	json_t *all;

	if (r->v->name) {
		path = daemon_path(FILMS "/", r->v->name, "");
		if (hclient_json(r->desk.guestd, "GET", path, NULL, &reply,
				 err) < 0)
			return -1;
		*ret = json_incref(reply);
	} else {
		if (hclient_json(r->desk.guestd, "GET", FILMS, NULL, &reply,
				 err) < 0)
			return -1;
		all = json_object_get(reply, "recordings");
		if (!json_array_size(all)) {
			sb_fail(err, SB_NOTFOUND, "there is no film yet");
			return sb_hint(err, "sandboxctl record %s start",
				       r->sandbox);
		}
		*ret = json_incref(
			json_array_get(all, json_array_size(all) - 1));
	}
	if (is_plain(json_str_or(*ret, "name", "")))
		return 0;
	json_decref(steal(ret));
	return sb_fail(err, SB_GUEST, "guestd names no film");
}

struct download {
	struct save file;
	struct progress *progress;
	long long done, whole;
	char head[HEAD];
	struct sb_err *err;
	bool failed;
};

static int on_data(void *arg, const char *data, size_t len)
{
	struct download *d = arg;
	char size[OUT_SIZE_LEN];

	for (size_t i = 0; i < len && d->done + (long long)i < HEAD; i++)
		d->head[d->done + i] = data[i];
	d->done += (long long)len;
	d->failed = save_add(&d->file, data, len, d->err) < 0;
	progress_step(d->progress, out_size(d->done, size),
		      d->whole > 0 ? (int)MIN(d->done * 100 / d->whole, 100)
				   : -1);
	return d->failed;
}

static int download(struct record *r, const char *name, struct download *d,
		    struct sb_err *err)
{
	autofree char *path = daemon_path(FILMS "/", name, "/download");
	int rc;

	d->err = err;
	d->progress = progress_new(name, r->c->json || !isatty(STDERR_FILENO));
	rc = hclient_stream(r->desk.guestd, path, on_data, d, err);
	progress_free(d->progress);
	if (rc < 0 || d->failed)
		return -1;
	if (d->done < HEAD || memcmp(d->head + 4, "ftyp", 4) != 0)
		return sb_fail(err, SB_GUEST, "what came is no film");
	return save_end(&d->file, err);
}

static void print_saved(const struct record *r, const char *path,
			const json_t *film, long long bytes)
{
	const char *state = json_str_or(film, "state", "");
	autojson json_t *j = json_object();

	json_put(j, "file", json_str(path));
	json_put(j, "name", json_str(json_str_or(film, "name", "")));
	json_put(j, "bytes", json_integer(bytes));
	if (r->c->json)
		out_json(j);
	else if (!r->v->output || strcmp(r->v->output, path) != 0)
		puts(path);
	if (strcmp(state, "complete") != 0)
		out_note("it is still being recorded: this is as far as it is");
}

static int save(struct record *r, struct sb_err *err)
{
	autofree char *stem = NULL, *path = NULL;
	autojson json_t *film = NULL;
	struct download d = { 0 };
	const char *name;
	int rc;

	if (find(r, &film, err) < 0)
		return -1;
	name = json_str_or(film, "name", "");
	stem = xasprintf("%s-%s", r->sandbox, name);
	path = save_name(r->v->output, stem, ".mp4");
	d.whole = MIN(json_int_or(film, "bytes", 0), 1LL << 50);
	rc = save_open(&d.file, path, err);
	if (rc == 0)
		rc = download(r, name, &d, err);
	save_done(&d.file);
	if (rc == 0)
		print_saved(r, path, film, d.done);
	return rc;
}

static int rm(struct record *r, struct sb_err *err)
{
	autofree char *path = daemon_path(FILMS "/", r->v->name, "");
	autojson json_t *j = json_object();

	if (hclient_json(r->desk.guestd, "DELETE", path, NULL, NULL, err) < 0)
		return -1;
	json_put(j, "removed", json_str(r->v->name));
	if (r->c->json)
		out_json(j);
	return 0;
}

static const struct verb {
	const char *name;
	int (*run)(struct record *r, struct sb_err *err);
	bool takes_name, takes_fps, takes_output;
} verbs[] = {
	{ "start", start, true, true, false },
	{ "stop", stop, true, false, false },
	{ "status", status, false, false, false },
	{ "ls", ls, false, false, false },
	{ "save", save, true, false, true },
	{ "rm", rm, true, false, false },
};

static const struct verb *verb_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(name, verbs[i].name) == 0)
			return &verbs[i];
	return NULL;
}

static int check(const struct record *r, const struct verb *verb,
		 struct sb_err *err)
{
	const struct values *v = r->v;
	const char *extra = v->name && !verb->takes_name       ? "--name"
			    : v->fps && !verb->takes_fps       ? "--fps"
			    : v->output && !verb->takes_output ? "--output"
							       : NULL;

	if (extra)
		return sb_fail(err, SB_INVALID, "record %s takes no %s",
			       verb->name, extra);
	if (verb->run == rm && !v->name) {
		sb_fail(err, SB_INVALID,
			"record rm needs the name of a film (--name)");
		return sb_hint(err, "sandboxctl record %s ls shows them",
			       r->sandbox);
	}
	if (r->c->json && v->output && strcmp(v->output, "-") == 0)
		return sb_fail(err, SB_INVALID,
			       "--json does not go with a stream ('-')");
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	struct record r = { .c = c, .sandbox = a->argv[0], .v = a->values };
	const struct verb *verb = verb_of(a->argv[1]);
	int rc, sig;

	if (!verb) {
		sb_fail(err, SB_INVALID, "record cannot '%s'", a->argv[1]);
		return sb_hint(err, "it is one of " VERBS);
	}
	if (check(&r, verb, err) < 0)
		return -1;
	/* So that half a film can be removed again. */
	r.cancel_fd = interrupt_begin(err);
	if (r.cancel_fd < 0)
		return -1;
	rc = desk_open(c, r.sandbox, r.cancel_fd, &r.desk, err);
	if (rc == 0)
		rc = verb->run(&r, err);
	desk_done(&r.desk);
	sig = interrupt_end(r.cancel_fd);
	return rc && sig ? 128 + sig : rc;
}

const struct cmd cmd_record = {
	.name = "record",
	.section = "Desktop",
	.args = "NAME " VERBS,
	.summary = "film a sandbox's desktop",
	.detail = "start begins a film and prints its name; stop ends it. "
		  "status says which are being made, ls which there are. save "
		  "fetches one as an MP4 file, also while it is being made: "
		  "NAME-FILM.mp4 in this folder, unless -o says otherwise. "
		  "Without --name these mean the latest film. rm deletes the "
		  "film of that name in the sandbox.",
	.examples = "sandboxctl record demo start --fps 15\n"
		    "sandboxctl record demo stop\n"
		    "sandboxctl record demo save -o film.mp4",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 2,
	.max = 2,
	.verbs = VERBS,
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run,
};
