/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about films of the screen. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/files-call.h"
#include "guest/guestd.h"
#include "guest/recording.h"

#define MAX_SECONDS (7 * 86400)
#define MAX_BYTES (1LL << 40)
#define DEFAULT_FPS 30
#define MAX_FPS 60

static void answer(void *arg, json_t *model, const struct sb_err *err)
{
	struct http_req *req = arg;

	if (err) {
		json_decref(model);
		http_fail(req, err);
	} else {
		http_reply_json(req, 200, model);
	}
}

static int parse_start(const json_t *body, struct recording_params *ret,
		       struct sb_err *err)
{
	const char *codec = "h264";
	long long fps = DEFAULT_FPS;

	*ret = (struct recording_params){ .cursor = true };
	if (json_get_str(body, "name", &ret->name, err) < 0 ||
	    json_get_str(body, "codec", &codec, err) < 0 ||
	    json_get_int(body, "fps", 1, MAX_FPS, &fps, err) < 0 ||
	    json_get_bool(body, "cursor", &ret->cursor, err) < 0 ||
	    json_get_int(body, "max_seconds", 0, MAX_SECONDS, &ret->max_seconds,
			 err) < 0 ||
	    json_get_int(body, "max_bytes", 0, MAX_BYTES, &ret->max_bytes,
			 err) < 0)
		return -1;
	ret->fps = (int)fps;
	if (strcmp(codec, "h264") != 0)
		return sb_fail(err, SB_INVALID, "'codec' must be \"h264\"");
	return 0;
}

static void start(struct http_req *req, const json_t *body)
{
	const struct guestd *g = http_ctx(req);
	struct recording_params params;
	struct recording *r;
	struct sb_err err;

	if (parse_start(body, &params, &err) < 0 ||
	    recording_start(g->recordings, &params, &r, &err) < 0)
		http_fail(req, &err);
	else
		recording_wait(r, false, answer, req);
}

static void stop(struct http_req *req, const char *name)
{
	const struct guestd *g = http_ctx(req);
	struct recording *r;
	struct sb_err err;

	if (recording_find(g->recordings, name, &r, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	recording_wait(r, true, answer, req);
	recording_stop(r);
}

static void post_start(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct sb_err err;

	if (http_body_json(req, &body, &err) < 0)
		http_fail(req, &err);
	else
		start(req, body);
}

static void post_stop(struct http_req *req)
{
	autojson json_t *body = NULL;
	const char *name = NULL;
	struct sb_err err;

	if (http_body_json(req, &body, &err) < 0 ||
	    json_get_str(body, "name", &name, &err) < 0)
		http_fail(req, &err);
	else
		stop(req, name);
}

/* As a system that users come from has it. */
static void get_record(struct http_req *req)
{
	const char *mode = http_query(req, "mode");
	struct sb_err err;

	if (mode && strcmp(mode, "start") == 0) {
		start(req, NULL);
	} else if (mode && strcmp(mode, "stop") == 0) {
		stop(req, NULL);
	} else {
		sb_fail(&err, SB_INVALID, "'mode' must be start or stop");
		http_fail(req, &err);
	}
}

static void get_status(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	json_t *j = json_object(), *running = json_array();
	autojson json_t *all = NULL;
	struct recording *r;
	struct sb_err err;
	json_t *one;
	size_t i;

	if (recordings_list(g->recordings, &all, &err) < 0) {
		json_decref(j);
		json_decref(running);
		http_fail(req, &err);
		return;
	}
	json_array_foreach(all, i, one)
		if (recording_find(g->recordings, json_str_or(one, "name", ""),
				   &r, NULL) == 0)
			json_array_append(running, one);
	json_put(j, "recording", json_boolean(json_array_size(running) > 0));
	json_put(j, "running", running);
	http_reply_json(req, 200, j);
}

static void get_recordings(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	struct sb_err err;
	json_t *list;

	if (recordings_list(g->recordings, &list, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	http_reply_json(req, 200, json_pack("{s:o}", "recordings", list));
}

static void get_recording(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	struct sb_err err;
	json_t *j;

	if (recordings_get(g->recordings, http_param(req, "id"), &j, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 200, j);
}

static void send_film(struct http_req *req, const char *name)
{
	const struct guestd *g = http_ctx(req);
	autofree char *file = xasprintf("%s.mp4", name);
	autofree char *shown = xasprintf("inline; filename=\"%s\"", file);
	struct sb_err err;
	int fd;

	if (recordings_open(g->recordings, name, &fd, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	/* A browser plays it, and knows what to call it. */
	http_set_header(req, "Content-Disposition", shown);
	file_send(req, fd, file, "video/mp4");
}

static void download(struct http_req *req)
{
	send_film(req, http_param(req, "id"));
}

static void download_latest(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	const char *name = http_query(req, "name");
	autofree char *latest = NULL;
	struct sb_err err;

	if (!name)
		name = latest = recordings_latest(g->recordings);
	if (name) {
		send_film(req, name);
		return;
	}
	sb_fail(&err, SB_NOTFOUND, "there is no recording yet");
	sb_hint(&err, "POST /v1/screen/record/start makes one");
	http_fail(req, &err);
}

static void delete_recording(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	struct sb_err err;

	if (recordings_delete(g->recordings, http_param(req, "id"), &err) < 0)
		http_fail(req, &err);
	else
		http_reply_empty(req, 204);
}

static const struct http_field film_fields[] = {
	{ "id", HTTP_STR, "Its name again" },
	{ "name", HTTP_STR, "Its name" },
	{ "state", HTTP_STR, "Where it is in its life",
	  .words = "starting|recording|ending|complete" },
	{ "started_at", HTTP_STR, "When its first picture was taken" },
	{ "duration_ms", HTTP_INT, "How long it is", .maybe = true },
	{ "pictures", HTTP_INT, "How many it has", .maybe = true },
	{ "width", HTTP_INT, "Pixels of its first picture", .maybe = true },
	{ "height", HTTP_INT, "Pixels of its first picture", .maybe = true },
	{ "reason", HTTP_STR, "Why it ended",
	  .words = "stopped|time|size|disk|display|error", .maybe = true },
	{ "error", HTTP_STR, "What went wrong", .maybe = true },
	{ "bytes", HTTP_INT, "Size of the file" },
	{ "path", HTTP_STR, "The file" },
	{ 0 },
};
static const struct http_schema film_schema = { "Recording", film_fields,
						"A film of the screen" };
static const struct http_answer film_out[] = {
	{ 200, "What it is", &film_schema },
	{ 0 },
};
static const struct http_schema films_schema = {
	"Recordings",
	(const struct http_field[]){ { "recordings", HTTP_LIST,
				       "The oldest first",
				       .schema = &film_schema },
				     { 0 } },
	"All films",
};
static const struct http_answer films_out[] = {
	{ 200, "They are", &films_schema },
	{ 0 },
};
static const struct http_schema status_schema = {
	"RecordingStatus",
	(const struct http_field[]){
		{ "recording", HTTP_BOOL, "Whether any is being made" },
		{ "running", HTTP_LIST, "Those that are",
		  .schema = &film_schema },
		{ 0 } },
	"What is being recorded",
};
static const struct http_answer status_out[] = {
	{ 200, "It is", &status_schema },
	{ 0 },
};
static const struct http_answer deleted_out[] = {
	{ 204, "It is gone" },
	{ 0 },
};
static const struct http_answer bytes_out[] = {
	{ 200, "The film as far as it is written", .type = "video/mp4" },
	{ 206, "A part of it", .type = "video/mp4" },
	{ 304, "It has not changed" },
	{ 416, "There is no such part" },
	{ 0 },
};
static const struct http_field start_in[] = {
	{ "name", HTTP_STR, "Its name; else made of the time" },
	{ "fps", HTTP_INT, "Pictures a second, at most", .min = 1,
	  .max = MAX_FPS, .dflt = "30" },
	{ "cursor", HTTP_BOOL, "With the pointer", .dflt = "true" },
	{ "codec", HTTP_STR, "How it is encoded", .words = "h264",
	  .dflt = "'h264'" },
	{ "max_seconds", HTTP_INT, "End by itself then; 0: never",
	  .max = MAX_SECONDS, .dflt = "0" },
	{ "max_bytes", HTTP_INT, "And at this size; 0: never", .max = MAX_BYTES,
	  .dflt = "0" },
	{ 0 },
};
static const struct http_field stop_in[] = {
	{ "name", HTTP_STR, "Which one; else the latest" },
	{ 0 },
};
static const struct http_field mode_in[] = {
	{ "mode", HTTP_STR, "What to do", .words = "start|stop", .must = true },
	{ 0 },
};
static const struct http_field id_in[] = {
	{ "id", HTTP_STR, "Name of the recording", HTTP_PATH },
	{ 0 },
};

/* clang-format off */
const struct http_route record_routes[] = {
	{ "POST", "/v1/screen/record/start", post_start, 0,
	  "Film the screen", { "/screen/record/start" },
	  start_in, film_out,
	  { SB_CONFLICT, SB_BUSY, SB_MISSING, SB_NOSPACE, SB_SYSTEM },
	  .example = "{'fps': 15, 'max_seconds': 600}",
	  .text = "Answers when the first picture is taken. The file can be "
		  "played while it grows." },
	{ "POST", "/v1/screen/record/stop", post_stop, 0,
	  "End a film", { "/screen/record/stop" },
	  stop_in, film_out, { SB_NOTFOUND, SB_CONFLICT, SB_NOSPACE, SB_SYSTEM },
	  .text = "Answers when the film is whole." },
	{ "GET", "/record", get_record, 0,
	  "Begin or end a film, in one route", { NULL },
	  mode_in, film_out,
	  { SB_CONFLICT, SB_BUSY, SB_MISSING, SB_NOSPACE, SB_SYSTEM } },
	{ "GET", "/v1/screen/record/status", get_status, 0,
	  "What is being recorded", { "/screen/record/status" },
	  NULL, status_out },
	{ "GET", "/v1/screen/record/download", download_latest, 0,
	  "The latest film, or the one named", { "/screen/record/download" },
	  stop_in, bytes_out, { SB_NOTFOUND } },
	{ "GET", "/v1/screen/recordings", get_recordings, 0,
	  "All films", { NULL }, NULL, films_out },
	{ "GET", "/v1/screen/recordings/{id}", get_recording, 0,
	  "One film", { NULL }, id_in, film_out, { SB_NOTFOUND } },
	{ "GET", "/v1/screen/recordings/{id}/download", download, 0,
	  "Its bytes, with ranges", { NULL }, id_in, bytes_out,
	  { SB_NOTFOUND } },
	{ "DELETE", "/v1/screen/recordings/{id}", delete_recording, 0,
	  "Delete it", { NULL }, id_in, deleted_out,
	  { SB_NOTFOUND, SB_CONFLICT } },
	{ 0 },
};
/* clang-format on */
