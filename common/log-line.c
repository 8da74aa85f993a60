/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a log. */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log-line.h"

#define MAX_TIME 40

json_t *log_line_json(const char *line, size_t len)
{
	json_t *j = NULL;

	if (len && line[0] == '{' && json_parse(line, len, &j, NULL) == 0)
		return j;
	j = json_object();
	json_put(j, "msg", json_text(line, len));
	return j;
}

int64_t log_line_time(const char *line, size_t len)
{
	static const char key[] = "{\"ts\":\"";
	char text[MAX_TIME];
	size_t skip = 0, n;
	int64_t ms;

	if (len > strlen(key) && memcmp(line, key, strlen(key)) == 0)
		skip = strlen(key);
	n = MIN(len - skip, sizeof(text) - 1);
	memcpy(text, line + skip, n);
	text[n] = '\0';
	text[strcspn(text, "\" ")] = '\0';
	return clock_parse(text, &ms) == 0 ? ms : -1;
}

/* Make control bytes visible, in place of letting them act. */
static void escape(struct buf *b, const char *s)
{
	for (; *s; s++) {
		unsigned char c = *s;

		if (c < 0x20 || c == 0x7f)
			buf_addf(b, "\\x%02x", c);
		else
			buf_add(b, s, 1);
	}
}

static void add_field(struct buf *out, const char *name, const json_t *value)
{
	autofree char *text = json_print(value);

	buf_adds(out, " ");
	escape(out, name);
	buf_adds(out, "=");
	escape(out, text);
}

void log_record_text(const json_t *record, struct buf *out)
{
	static const char *const head[] = { "ts", "level", "msg" };
	static const char *const after[] = { " ", ": ", "" };
	const char *name;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(head); i++) {
		const char *text = json_str_or(record, head[i], NULL);

		if (!text)
			continue;
		escape(out, text);
		buf_adds(out, after[i]);
	}
	json_object_foreach((json_t *)record, name, value)
		if (strcmp(name, "ts") != 0 && strcmp(name, "level") != 0 &&
		    strcmp(name, "msg") != 0)
			add_field(out, name, value);
}
