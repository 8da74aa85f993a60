/* SPDX-License-Identifier: Apache-2.0 */
/* Where a guest's output goes. */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "common/base64.h"
#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "host/ctl-out.h"
#include "host/ctl-sink.h"
#include "host/ctl-term.h"

void sink_init(struct sink *k, bool capture)
{
	*k = (struct sink){ .capture = capture, .begin_ms = clock_ms() };
	for (int i = 0; i < 2; i++) {
		k->s[i].terminal = isatty(STDOUT_FILENO + i);
		sanitize_init(&k->s[i].filter,
			      term_has_colours(STDOUT_FILENO + i));
	}
}

int sink_push(void *arg, int stream, const char *data, size_t len,
	      struct sb_err *err)
{
	struct sink *k = arg;
	int i = stream == STDERR_FILENO;
	autobuf struct buf out = { 0 };

	if (k->capture) {
		size_t room = SINK_MAX_CAPTURE - k->s[i].kept.len;

		k->truncated |= len > room;
		buf_add(&k->s[i].kept, data, MIN(len, room));
		return 0;
	}
	if (k->s[i].terminal) {
		sanitize_feed(&k->s[i].filter, data, len, &out);
		data = out.p;
		len = out.len;
	}
	if (fs_write_all(stream, data, len) == 0)
		return 0;
	k->unread = errno == EPIPE;
	return sb_fail(err, sb_code_of_errno(errno),
		       "cannot write the command's output: %m");
}

void sink_done(struct sink *k)
{
	for (int i = 0; i < 2; i++) {
		autobuf struct buf out = { 0 };

		if (k->s[i].terminal && !k->capture) {
			sanitize_end(&k->s[i].filter, &out);
			(void)fs_write_all(STDOUT_FILENO + i, out.p, out.len);
		}
		buf_done(&k->s[i].kept);
	}
}

/* Text, or base64 if it is none: no byte is lost. */
static void put_bytes(json_t *j, const char *key, const struct buf *b)
{
	json_t *text = json_stringn(b->p ? b->p : "", b->len);

	if (!text) {
		autofree char *encoded = base64_encode(b->p, b->len);
		autofree char *name = xasprintf("%s_encoding", key);

		text = json_string(encoded);
		json_put(j, name, json_string("base64"));
	}
	json_put(j, key, text);
}

json_t *sink_json(const struct sink *k, int status)
{
	json_t *j = json_object();

	json_put(j, "exit_code", json_integer(status));
	put_bytes(j, "stdout", &k->s[0].kept);
	put_bytes(j, "stderr", &k->s[1].kept);
	json_put(j, "truncated", json_boolean(k->truncated));
	json_put(j, "duration_ms", json_integer(clock_ms() - k->begin_ms));
	return j;
}

void sink_print(const struct sink *k, int status)
{
	autojson json_t *j = sink_json(k, status);

	out_json(j);
}
