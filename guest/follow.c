/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a process as Server-Sent Events, or as frames.  A client is sent what it
 * takes, from the store: one that does not read costs no memory and does not
 * hold up the process.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/frame.h"
#include "common/json.h"
#include "guest/run.h"
#include "guest/text.h"

#define PIECE (32 * 1024)

static const struct http_schema start_schema = {
	"StartEvent",
	run_started_fields,
	"A command has begun",
	"{'id': 'p1', 'pid': 4711}",
};

static const struct http_field piece_fields[] = {
	{ "data", HTTP_STR, "What was written" },
	{ "offset", HTTP_INT, "Where that begins, in bytes of its stream" },
	{ "encoding", HTTP_STR, "There if data is not UTF-8, but base64",
	  .words = "base64", .maybe = true },
	{ 0 },
};
static const struct http_schema piece_schema = {
	"OutputEvent",
	piece_fields,
	"A piece of output",
	"{'data': 'hello', 'offset': 0}",
};

static const struct http_field exit_fields[] = {
	{ "id", HTTP_STR, "Its name in /v1/processes" },
	HTTP_GROUP(run_status_fields),
	{ 0 },
};
static const struct http_schema exit_schema = {
	"ExitEvent",
	exit_fields,
	"A command has ended",
	"{'id': 'p1', 'exit_code': 0, 'signal': null, 'timed_out': false,"
	" 'truncated': false, 'duration_ms': 12}",
};

const struct http_event run_events[] = {
	{ "start", &start_schema, "First, always" },
	{ "stdout", &piece_schema, "Written to stdout" },
	{ "stderr", &piece_schema, "Written to stderr" },
	{ "exit", &exit_schema, "Last: the stream ends" },
	{ 0 },
};

struct follower {
	struct http_stream *s;
	struct process *p;
	struct process_watch watch;
	enum output_stream stream;
	uint64_t at; /* in the stream that is followed */
	bool frames; /* bytes as they are */
	bool full;   /* until on_drain */
	bool ended;
};

static size_t send_frame(struct follower *f, enum frame_letter letter,
			 const char *data, size_t len)
{
	autobuf struct buf b = { 0 };
	unsigned char head[FRAME_HEAD];

	frame_head(head, letter, len);
	buf_add(&b, head, sizeof(head));
	buf_add(&b, data, len);
	return http_stream_write(f->s, b.p, b.len);
}

/* An event and the frame that says the same. */
static size_t send_event(struct follower *f, const char *event,
			 enum frame_letter letter, json_t *j /* takes */)
{
	autofree char *text = json_print(j);
	char id[24];

	json_decref(j);
	if (f->frames)
		return send_frame(f, letter, text, strlen(text));
	snprintf(id, sizeof(id), "%llu", (unsigned long long)f->at);
	return http_stream_event(f->s, id, event, text);
}

/* What comes next, and where in its own stream it is. */
static size_t next_piece(const struct follower *f, char *data,
			 enum output_stream *ret_stream, uint64_t *ret_offset)
{
	const struct output *o = process_output(f->p);

	if (f->stream == OUTPUT_MERGED)
		return output_read_piece(o, f->at, data, PIECE, ret_stream,
					 ret_offset);
	*ret_stream = f->stream;
	*ret_offset = f->at;
	return output_read(o, f->stream, f->at, data, PIECE);
}

/* How much of a piece to send now, as text or as base64. */
static size_t whole_text(const struct follower *f, const char *data, size_t n,
			 bool running)
{
	size_t whole = text_whole(data, n);

	/* The rest of a character may be on its way. */
	if (!whole && running && n < 4 &&
	    f->at + n == output_kept(process_output(f->p), f->stream))
		return 0;
	return whole ? whole : n;
}

static size_t send_text(struct follower *f, bool is_stdout, const char *data,
			size_t n, uint64_t offset)
{
	bool base64 = !text_is_valid(data, n);
	json_t *j = json_object();

	json_put(j, "data", text_json(data, n, base64));
	json_put(j, "offset", json_integer((json_int_t)offset));
	if (base64)
		json_put(j, "encoding", json_str("base64"));
	return send_event(f, is_stdout ? "stdout" : "stderr",
			  is_stdout ? FRAME_STDOUT : FRAME_STDERR, j);
}

/* Send one piece; false when there is none to send yet. */
static bool send_piece(struct follower *f, bool running, size_t *ret_pending)
{
	enum output_stream stream;
	char data[PIECE];
	uint64_t offset;
	size_t n;

	n = next_piece(f, data, &stream, &offset);
	if (n && !f->frames)
		n = whole_text(f, data, n, running);
	if (!n)
		return false;
	f->at += n;
	if (f->frames)
		*ret_pending = send_frame(
			f,
			stream == OUTPUT_STDOUT ? FRAME_STDOUT : FRAME_STDERR,
			data, n);
	else
		*ret_pending =
			send_text(f, stream == OUTPUT_STDOUT, data, n, offset);
	return true;
}

static void pump(struct follower *f)
{
	struct process_status st;
	size_t pending = 0;
	json_t *j;

	if (f->ended || f->full)
		return;
	process_get_status(f->p, &st);
	while (pending < HTTP_STREAM_HIGH)
		if (!send_piece(f, st.running, &pending))
			break;
	f->full = pending >= HTTP_STREAM_HIGH;
	if (f->stream == OUTPUT_MERGED)
		process_follow_at(f->p, f->at);
	if (f->full || st.running)
		return;
	j = json_object();
	json_put(j, "id", json_str(process_id(f->p)));
	run_put_status(j, f->p);
	send_event(f, "exit", FRAME_EXIT, j);
	f->ended = true;
	http_stream_end(f->s);
}

static void on_change(void *arg)
{
	pump(arg);
}

static void on_drain(struct http_stream *s, void *arg)
{
	struct follower *f = arg;

	f->full = false;
	pump(f);
}

static void on_close(struct http_stream *s, void *arg)
{
	struct follower *f = arg;

	process_unwatch(&f->watch);
	process_follow_end(f->p);
	process_unref(f->p);
	free(f);
}

/* "frames" in the query, or events. */
static int parse_format(struct http_req *req, struct follower *f,
			struct sb_err *err)
{
	const char *format = http_query(req, "format");

	f->frames = format && strcmp(format, "frames") == 0;
	if (format && !f->frames && strcmp(format, "events") != 0)
		return sb_fail(err, SB_INVALID,
			       "'format' must be events or frames");
	if (f->at < output_first(process_output(f->p)))
		return sb_fail(err, SB_CONFLICT,
			       "the output at that offset was let go");
	return 0;
}

void run_follow(struct http_req *req, struct process *p,
		enum output_stream stream, uint64_t offset)
{
	static const struct http_stream_ops ops = {
		.on_drain = on_drain,
		.on_close = on_close,
	};
	struct follower *f = xcalloc(1, sizeof(*f));
	struct sb_err err;

	f->p = process_ref(p);
	f->stream = stream;
	f->at = offset;
	if (parse_format(req, f, &err) < 0) {
		http_fail(req, &err);
		process_unref(p);
		free(f);
		return;
	}
	f->watch.fn = on_change;
	f->watch.arg = f;
	process_watch(p, &f->watch);
	process_follow_begin(p);
	f->s = http_stream_begin(req, 200,
				 f->frames ? FRAME_TYPE : "text/event-stream",
				 &ops, f);
	send_event(f, "start", FRAME_START,
		   json_pack("{s:s, s:i}", "id", process_id(p), "pid",
			     (int)process_pid(p)));
	pump(f);
}
