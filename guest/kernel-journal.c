/* SPDX-License-Identifier: Apache-2.0 */
/* The numbered messages of a kernel. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "guest/kernel-journal.h"

/* A segment is begun anew when it has this much; a message is never split. */
#define SEGMENT_SIZE (1024 * 1024)
/* Of all journals, as each has a descriptor. */
#define MAX_FILES 4096

/* Messages first … first + n - 1; end[i] is where the ith of them ends. */
struct segment {
	TAILQ_ENTRY(segment) next;
	uint64_t first;
	size_t n, cap;
	size_t *end;
	size_t len;
	struct buf data; /* while in memory */
	int fd;		 /* else */
};

TAILQ_HEAD(segments, segment);

#define MAX_MARKS 64
#define MAX_MARK_SIZE (16 * 1024)

struct mark {
	uint64_t seq; /* 0: none */
	struct buf data;
};

struct kernel_journals {
	char *dir;
	uint64_t max;
	LIST_HEAD(, kernel_journal) each;
	uint64_t in_files;
	int nfiles;
};

struct kernel_journal {
	LIST_ENTRY(kernel_journal) next_one;
	struct kernel_journals *shared;
	size_t memory;
	uint64_t max;
	struct segments all; /* oldest first */
	uint64_t next;
	uint64_t total;
	size_t in_memory;   /* the rest of total is in files, the oldest */
	bool failing;	    /* to write, which was said */
	struct buf scratch; /* what was read from a file */
	struct mark marks[MAX_MARKS];
	size_t next_mark; /* the oldest one */
};

struct kernel_journals *kernel_journals_new(const char *dir, uint64_t max)
{
	struct kernel_journals *all = xcalloc(1, sizeof(*all));

	all->dir = xstrdup(dir);
	all->max = max;
	LIST_INIT(&all->each);
	return all;
}

void kernel_journals_free(struct kernel_journals *all)
{
	if (!all)
		return;
	free(all->dir);
	free(all);
}

uint64_t kernel_journals_len(const struct kernel_journals *all)
{
	return all->in_files;
}

struct kernel_journal *kernel_journal_new(struct kernel_journals *all,
					  size_t memory, uint64_t max)
{
	struct kernel_journal *j = xcalloc(1, sizeof(*j));

	j->shared = all;
	j->memory = memory;
	j->max = max;
	j->next = 1;
	TAILQ_INIT(&j->all);
	LIST_INSERT_HEAD(&all->each, j, next_one);
	return j;
}

static void drop(struct kernel_journal *j, struct segment *s)
{
	TAILQ_REMOVE(&j->all, s, next);
	j->total -= s->len;
	if (s->fd >= 0) {
		close(s->fd);
		j->shared->in_files -= s->len;
		j->shared->nfiles--;
	} else {
		j->in_memory -= s->len;
	}
	buf_done(&s->data);
	free(s->end);
	free(s);
}

void kernel_journal_free(struct kernel_journal *j)
{
	struct segment *s;

	if (!j)
		return;
	while ((s = TAILQ_FIRST(&j->all)))
		drop(j, s);
	LIST_REMOVE(j, next_one);
	for (size_t i = 0; i < MAX_MARKS; i++)
		buf_done(&j->marks[i].data);
	buf_done(&j->scratch);
	free(j);
}

static struct segment *begin(struct kernel_journal *j)
{
	struct segment *s = xcalloc(1, sizeof(*s));

	s->first = j->next;
	s->fd = -1;
	TAILQ_INSERT_TAIL(&j->all, s, next);
	return s;
}

static uint64_t in_files(const struct kernel_journal *j)
{
	return j->total - j->in_memory;
}

static struct kernel_journal *fullest(const struct kernel_journals *all)
{
	struct kernel_journal *j, *most = NULL;

	LIST_FOREACH(j, &all->each, next_one)
		if (!most || in_files(j) > in_files(most))
			most = j;
	return most;
}

/*
 * A kernel that says much so takes room from itself, or from one that has said
 * more, and never all from one that has said little.
 */
static void make_room(const struct kernel_journals *all, size_t len)
{
	while (all->nfiles &&
	       (all->in_files + len > all->max || all->nfiles >= MAX_FILES)) {
		struct kernel_journal *j = fullest(all);

		drop(j, TAILQ_FIRST(&j->all));
	}
}

/* Put a segment into a file. */
static int spill(struct kernel_journal *j, struct segment *s)
{
	struct kernel_journals *all = j->shared;
	autoclose int fd = -1;

	/* Others would make room for nothing. */
	if (s->len > all->max)
		return -1;
	make_room(all, s->len);
	fd = open(all->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, s->data.p, s->data.len) < 0) {
		if (!j->failing)
			log_warn("cannot keep more of a kernel's messages in "
				 "'%s': %m",
				 all->dir);
		j->failing = true;
		return -1;
	}
	j->failing = false;
	s->fd = steal_fd(&fd);
	j->in_memory -= s->len;
	all->in_files += s->len;
	all->nfiles++;
	buf_done(&s->data);
	return 0;
}

/*
 * On a full disk the oldest ones make room: whoever reads must find no hole, but
 * only that the beginning is gone.
 */
static void shrink(struct kernel_journal *j)
{
	const struct segment *last = TAILQ_LAST(&j->all, segments);
	struct segment *s = TAILQ_FIRST(&j->all);

	while (s != last && (j->total > j->max || j->in_memory > j->memory)) {
		if (j->total > j->max || (s->fd < 0 && spill(j, s) < 0)) {
			drop(j, TAILQ_FIRST(&j->all));
			s = TAILQ_FIRST(&j->all);
		} else {
			s = TAILQ_NEXT(s, next);
		}
	}
}

uint64_t kernel_journal_add(struct kernel_journal *j, const void *data,
			    size_t len)
{
	struct segment *s = TAILQ_LAST(&j->all, segments);

	if (!s || s->fd >= 0 || s->len + len > SEGMENT_SIZE)
		s = begin(j);
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		s->end = xrealloc(s->end, s->cap, sizeof(*s->end));
	}
	buf_add(&s->data, data, len);
	s->len += len;
	s->end[s->n++] = s->len;
	j->total += len;
	j->in_memory += len;
	shrink(j);
	return j->next++;
}

void kernel_journal_mark(struct kernel_journal *j, const void *data, size_t len)
{
	struct mark *m = &j->marks[j->next_mark];

	if (len > MAX_MARK_SIZE)
		return;
	j->next_mark = (j->next_mark + 1) % MAX_MARKS;
	m->seq = j->next - 1;
	m->data.len = 0;
	buf_add(&m->data, data, len);
}

uint64_t kernel_journal_marked(const struct kernel_journal *j, uint64_t from,
			       uint64_t to, const char **ret_data,
			       size_t *ret_len)
{
	/* From the oldest one on they are in order. */
	for (size_t i = 0; i < MAX_MARKS; i++) {
		const struct mark *m =
			&j->marks[(j->next_mark + i) % MAX_MARKS];

		if (!m->seq || m->seq < from || m->seq >= to)
			continue;
		*ret_data = m->data.p;
		*ret_len = m->data.len;
		return m->seq;
	}
	return 0;
}

uint64_t kernel_journal_first(const struct kernel_journal *j)
{
	const struct segment *s = TAILQ_FIRST(&j->all);

	return s ? s->first : j->next;
}

uint64_t kernel_journal_next(const struct kernel_journal *j)
{
	return j->next;
}

/* Those who read are mostly at the end. */
static struct segment *find(const struct kernel_journal *j, uint64_t seq,
			    size_t *ret_from, size_t *ret_len)
{
	struct segment *s = TAILQ_LAST(&j->all, segments);
	size_t i;

	while (s && seq < s->first)
		s = TAILQ_PREV(s, segments, next);
	if (!s || seq - s->first >= s->n)
		return NULL;
	i = seq - s->first;
	*ret_from = i ? s->end[i - 1] : 0;
	*ret_len = s->end[i] - *ret_from;
	return s;
}

size_t kernel_journal_size(const struct kernel_journal *j, uint64_t seq)
{
	size_t from, len;

	return find(j, seq, &from, &len) ? len : 0;
}

int kernel_journal_get(struct kernel_journal *j, uint64_t seq,
		       const char **ret_data, size_t *ret_len,
		       struct sb_err *err)
{
	size_t from, len;
	struct segment *s = find(j, seq, &from, &len);

	if (!s)
		return sb_fail(err, SB_NOTFOUND, "message %llu is not kept",
			       (unsigned long long)seq);
	*ret_len = len;
	if (s->fd < 0) {
		*ret_data = s->data.p + from;
		return 0;
	}
	buf_done(&j->scratch);
	j->scratch.p = xmalloc(len + 1);
	if (fs_read_at(s->fd, j->scratch.p, len, (off_t)from) != (ssize_t)len)
		return sb_fail(err, SB_SYSTEM,
			       "cannot read a kernel's messages: %m");
	*ret_data = j->scratch.p;
	return 0;
}
