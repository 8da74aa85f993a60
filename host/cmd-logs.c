/* SPDX-License-Identifier: Apache-2.0 */
/* logs: what a sandbox has written, also after its death. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/log-line.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-term.h"

#define MAX_JSON (16 << 20) /* bytes of a log in one JSON value */
#define MAX_RECORD (64 << 10)

struct values {
	bool follow;
	const char *source;
	long long lines;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "follow",
	  .letter = 'f',
	  .help = "go on as the log grows, until Ctrl-C",
	  .store = AT(follow) },
	{ .name = "source",
	  .letter = 's',
	  .arg = "serial|guestd|kernel|desktop|qemu",
	  .help = "which log: the guest's console (default), its server, its "
		  "kernels, its desktop, or QEMU's",
	  .kind = OPT_STR,
	  .store = AT(source) },
	{ .name = "lines",
	  .letter = 'n',
	  .arg = "N",
	  .help = "only the last N lines",
	  .kind = OPT_NUM,
	  .store = AT(lines) },
	{ 0 },
};

struct sink {
	bool terminal;
	bool records; /* JSON lines, to be made readable */
	struct sanitize filter;
	struct buf line;  /* a record that has not come whole */
	struct buf *keep; /* collect here instead of printing */
};

static bool is_records(const struct values *v)
{
	return v->source && (strcmp(v->source, "guestd") == 0 ||
			     strcmp(v->source, "kernel") == 0 ||
			     strcmp(v->source, "desktop") == 0);
}

/* One line of JSON as text for people. */
static void add_record(struct sink *s, const char *line, size_t len,
		       struct buf *out)
{
	autojson json_t *j = log_line_json(line, len);
	autobuf struct buf text = { 0 };

	log_record_text(j, &text);
	buf_adds(&text, "\n");
	sanitize_feed(&s->filter, text.p, text.len, out);
}

static void add_records(struct sink *s, struct buf *out)
{
	struct buf *b = &s->line;
	size_t done = 0;
	const char *nl;

	while ((nl = memchr(b->p + done, '\n', b->len - done))) {
		size_t n = nl - (b->p + done);

		add_record(s, b->p + done, n, out);
		done += n + 1;
	}
	buf_drop(b, done);
	if (b->len > MAX_RECORD) {
		add_record(s, b->p, b->len, out);
		b->len = 0;
	}
}

static int on_data(void *arg, const char *data, size_t len)
{
	autobuf struct buf out = { 0 };
	struct sink *s = arg;

	if (s->keep) {
		buf_add(s->keep, data, len);
		return s->keep->len > MAX_JSON;
	}
	if (!s->terminal)
		return fs_write_all(STDOUT_FILENO, data, len) != 0;
	if (s->records) {
		buf_add(&s->line, data, len);
		add_records(s, &out);
	} else {
		sanitize_feed(&s->filter, data, len, &out);
	}
	return fs_write_all(STDOUT_FILENO, out.p, out.len) != 0;
}

static void end_output(struct sink *s)
{
	autobuf struct buf out = { 0 };

	if (s->line.len)
		add_record(s, s->line.p, s->line.len, &out);
	buf_done(&s->line);
	sanitize_end(&s->filter, &out);
	(void)fs_write_all(STDOUT_FILENO, out.p, out.len);
}

static char *path_of(const char *name, const struct values *v)
{
	autobuf struct buf query = { 0 };

	buf_addf(&query, "/logs?source=%s", v->source ? v->source : "serial");
	if (v->lines)
		buf_addf(&query, "&lines=%lld", v->lines);
	if (v->follow)
		buf_adds(&query, "&follow=true");
	return daemon_path(DAEMON_SANDBOXES, name, query.p);
}

static int print_json(const struct values *v, const struct buf *text,
		      struct sb_err *err)
{
	autojson json_t *j = json_object();
	json_t *lines = json_array();
	const char *p = text->p ? text->p : "", *end = p + text->len;

	json_put(j, "source", json_str(v->source ? v->source : "serial"));
	json_put(j, "lines", lines);
	if (text->len > MAX_JSON) {
		sb_fail(err, SB_LIMIT, "the log is larger than %d MiB",
			MAX_JSON >> 20);
		return sb_hint(err, "ask for fewer lines with -n");
	}
	while (p < end) {
		const char *nl = memchr(p, '\n', end - p);
		size_t n = (nl ? nl : end) - p;

		json_array_append_new(lines, is_records(v) ? log_line_json(p, n)
							   : json_text(p, n));
		p += n + 1;
	}
	out_json(j);
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	autofree char *path = path_of(a->argv[0], v);
	autobuf struct buf keep = { 0 };
	struct sink s = { .keep = c->json ? &keep : NULL,
			  .records = is_records(v) };
	int r;

	if (c->json && v->follow)
		return sb_fail(err, SB_INVALID,
			       "--json and --follow do not go together");
	s.terminal = isatty(STDOUT_FILENO);
	sanitize_init(&s.filter, term_has_colours(STDOUT_FILENO));
	if (daemon_open(c, err))
		return -1;
	if (v->follow)
		hclient_set_timeout(c->daemon, -1);
	r = hclient_stream(c->daemon, path, on_data, &s, err);
	end_output(&s);
	if (r == 0 && c->json)
		r = print_json(v, &keep, err);
	return r;
}

const struct cmd cmd_logs = {
	.name = "logs",
	.alias = "log",
	.section = "Sandboxes",
	.args = "NAME",
	.summary = "print a sandbox's logs",
	.detail =
		"On a terminal, escape sequences other than colours are left "
		"out, and records of guestd, kernels and desktop are made readable; a "
		"file or a pipe gets the bytes as they are.",
	.examples = "sandboxctl logs demo -f\n"
		    "sandboxctl logs demo --source guestd -n 20",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run,
};
