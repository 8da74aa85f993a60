/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a process as a log of records: a head with stream and length,
 * then the bytes.  A mark every so often tells where in the log which offsets
 * are, so that a reader walks over little of it.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "guest/output.h"

#define MAX_RECORD (64 * 1024)
#define MARK_EVERY (64 * 1024)
#define BLOCK 4096
#define FORGET_STEP (1024 * 1024)

struct head {
	uint32_t stream : 1;
	uint32_t len : 31;
};

/* A record's place in the log, and the offsets at which it begins. */
struct place {
	uint64_t pos;
	uint64_t at[OUTPUT_NSTREAMS];
};

struct output {
	const char *dir;
	struct buf mem; /* the log, until there is a file */
	int fd;
	bool full;
	uint64_t counted; /* of this one in in_files */
	struct place end;
	uint64_t total[OUTPUT_NSTREAMS];
	struct place last; /* the last record, if there is one */
	struct head last_head;
	struct place *marks;
	size_t nmarks;
	struct place first; /* what is before it was let go */
};

static uint64_t in_files; /* bytes of all outputs */

/* A window on the log, for walking over records that may be tiny. */
struct window {
	const struct output *o;
	uint64_t pos;
	size_t len;
	char data[BLOCK];
};

struct output *output_new(const char *dir)
{
	struct output *o = xcalloc(1, sizeof(*o));

	o->dir = dir;
	o->fd = -1;
	return o;
}

void output_free(struct output *o)
{
	if (!o)
		return;
	util_close(&o->fd);
	in_files -= o->counted;
	buf_done(&o->mem);
	free(o->marks);
	free(o);
}

/* Move the log to a file that nobody else can see. */
static int spill(struct output *o)
{
	autoclose int fd = -1;
	struct sb_err err;

	if (fs_mkdirs(o->dir, 0700, &err) < 0) {
		log_warn("%s", err.msg);
		return -1;
	}
	fd = open(o->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_at(fd, o->mem.p, o->mem.len, 0) < 0) {
		log_warn("cannot keep output in '%s': %m", o->dir);
		return -1;
	}
	o->fd = steal_fd(&fd);
	buf_done(&o->mem);
	return 0;
}

/* pos is at most the end of the log. */
static int log_put(struct output *o, uint64_t pos, const void *data, size_t len)
{
	size_t inside;

	if (o->fd < 0 && pos + len > OUTPUT_MEMORY && spill(o) < 0)
		return -1;
	if (o->fd >= 0)
		return fs_write_at(o->fd, data, len, (off_t)pos);
	inside = MIN(len, o->mem.len - pos);
	if (inside)
		memcpy(o->mem.p + pos, data, inside);
	buf_add(&o->mem, (const char *)data + inside, len - inside);
	return 0;
}

static size_t log_get(const struct output *o, uint64_t pos, void *data,
		      size_t len)
{
	ssize_t n;

	len = MIN(len, o->end.pos - pos);
	if (o->fd >= 0) {
		n = fs_read_at(o->fd, data, len, (off_t)pos);
		return n < 0 ? 0 : (size_t)n;
	}
	if (len)
		memcpy(data, o->mem.p + pos, len);
	return len;
}

static void advance(struct place *p, enum output_stream stream, size_t len)
{
	p->pos += len;
	p->at[stream] += len;
	p->at[OUTPUT_MERGED] += len;
}

static void mark_end(struct output *o)
{
	if (o->nmarks && o->end.pos - o->marks[o->nmarks - 1].pos < MARK_EVERY)
		return;
	o->marks = xrealloc(o->marks, o->nmarks + 1, sizeof(*o->marks));
	o->marks[o->nmarks++] = o->end;
}

/* Begin a record, unless the last one can grow by len. */
static int open_record(struct output *o, enum output_stream stream, size_t len)
{
	struct head h = { .stream = stream };

	if (o->last_head.len && o->last_head.stream == stream &&
	    o->last_head.len + len <= MAX_RECORD)
		return 0;
	if (log_put(o, o->end.pos, &h, sizeof(h)) < 0)
		return -1;
	mark_end(o);
	o->last = o->end;
	o->last_head = h;
	o->end.pos += sizeof(h);
	return 0;
}

/*
 * The bytes go before the head that covers them: if they do not fit on the
 * disk, the log still ends with whole records.
 */
static int add_piece(struct output *o, enum output_stream stream,
		     const char *data, size_t len)
{
	struct head h;

	if (o->end.pos - o->first.pos + sizeof(h) + len > OUTPUT_MAX ||
	    in_files + len > OUTPUT_MAX_ALL ||
	    open_record(o, stream, len) < 0 ||
	    log_put(o, o->end.pos, data, len) < 0)
		return -1;
	h = o->last_head;
	h.len += len;
	if (log_put(o, o->last.pos, &h, sizeof(h)) < 0)
		return -1;
	o->last_head = h;
	advance(&o->end, stream, len);
	if (o->fd >= 0) {
		in_files += o->end.pos - o->first.pos - o->counted;
		o->counted = o->end.pos - o->first.pos;
	}
	return 0;
}

void output_add(struct output *o, enum output_stream stream, const void *data,
		size_t len)
{
	const char *p = data;

	o->total[stream] += len;
	o->total[OUTPUT_MERGED] += len;
	while (len && !o->full) {
		size_t n = MIN(len, MAX_RECORD);

		if (add_piece(o, stream, p, n) < 0)
			o->full = true;
		p += n;
		len -= n;
	}
}

uint64_t output_kept(const struct output *o, enum output_stream stream)
{
	return o->end.at[stream];
}

uint64_t output_total(const struct output *o, enum output_stream stream)
{
	return o->total[stream];
}

static bool get_head(struct window *w, uint64_t pos, struct head *ret)
{
	if (pos < w->pos || pos + sizeof(*ret) > w->pos + w->len) {
		w->pos = pos;
		w->len = log_get(w->o, pos, w->data, sizeof(w->data));
		if (w->len < sizeof(*ret))
			return false;
	}
	memcpy(ret, w->data + (pos - w->pos), sizeof(*ret));
	return true;
}

/* The last mark that is not behind offset.  There is one if there is output. */
static struct place find_mark(const struct output *o, enum output_stream stream,
			      uint64_t offset)
{
	size_t low = 0, high = o->nmarks;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (o->marks[mid].at[stream] <= offset)
			low = mid;
		else
			high = mid;
	}
	return o->marks[low];
}

/* Go on from p to the record that holds offset, which is kept. */
static bool walk_to(struct window *w, struct place *p,
		    enum output_stream stream, uint64_t offset,
		    struct head *ret)
{
	while (get_head(w, p->pos, ret)) {
		bool counts = stream == OUTPUT_MERGED || ret->stream == stream;

		if (counts && offset < p->at[stream] + ret->len)
			return true;
		p->pos += sizeof(*ret);
		advance(p, ret->stream, ret->len);
	}
	return false;
}

size_t output_read(const struct output *o, enum output_stream stream,
		   uint64_t offset, void *data, size_t max)
{
	struct window w = { .o = o };
	struct place p;
	struct head h;
	size_t got = 0;

	if (offset >= o->end.at[stream] || offset < o->first.at[stream])
		return 0;
	max = MIN(max, o->end.at[stream] - offset);
	p = find_mark(o, stream, offset);
	while (got < max && walk_to(&w, &p, stream, offset, &h)) {
		uint64_t skip = offset - p.at[stream];
		size_t n = MIN(h.len - skip, max - got);

		n = log_get(o, p.pos + sizeof(h) + skip, (char *)data + got, n);
		if (!n)
			break;
		got += n;
		offset += n;
	}
	return got;
}

size_t output_read_piece(const struct output *o, uint64_t offset, void *data,
			 size_t max, enum output_stream *ret_stream,
			 uint64_t *ret_offset)
{
	struct window w = { .o = o };
	struct place p;
	struct head h;
	uint64_t skip;

	if (offset >= o->end.at[OUTPUT_MERGED] ||
	    offset < o->first.at[OUTPUT_MERGED])
		return 0;
	p = find_mark(o, OUTPUT_MERGED, offset);
	if (!walk_to(&w, &p, OUTPUT_MERGED, offset, &h))
		return 0;
	skip = offset - p.at[OUTPUT_MERGED];
	*ret_stream = h.stream;
	*ret_offset = p.at[h.stream] + skip;
	return log_get(o, p.pos + sizeof(h) + skip, data,
		       MIN(h.len - skip, max));
}

uint64_t output_first(const struct output *o)
{
	return o->first.at[OUTPUT_MERGED];
}

/* In steps, for each is a call to the kernel. */
void output_forget(struct output *o, uint64_t offset)
{
	struct place p;

	if (o->fd < 0 || offset < output_first(o) + FORGET_STEP ||
	    offset > o->end.at[OUTPUT_MERGED])
		return;
	p = find_mark(o, OUTPUT_MERGED, offset);
	if (p.pos <= o->first.pos ||
	    fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		      (off_t)p.pos) < 0)
		return;
	in_files -= MIN(p.pos - o->first.pos, o->counted);
	o->counted -= MIN(p.pos - o->first.pos, o->counted);
	o->first = p;
}
