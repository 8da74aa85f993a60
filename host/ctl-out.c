/* SPDX-License-Identifier: Apache-2.0 */
/* What sandboxctl says, and how. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-term.h"

/* ASCII only on a terminal: C1 controls are valid in a JSON string. */
void out_json(const json_t *j)
{
	size_t flags = JSON_ENCODE_ANY;

	if (isatty(STDOUT_FILENO))
		flags |= JSON_INDENT(2) | JSON_ENSURE_ASCII;
	else
		flags |= JSON_COMPACT;
	json_dumpf(j, stdout, flags);
	putchar('\n');
}

static void error_json(const struct sb_err *err)
{
	autojson json_t *j = json_object();

	json_put(j, "type", json_string("about:blank"));
	json_put(j, "title", json_string(sb_code_name(err->code)));
	json_put(j, "status", json_integer(sb_code_http(err->code)));
	json_put(j, "detail", json_str(err->msg));
	json_put(j, "code", json_string(sb_code_name(err->code)));
	json_put(j, "message", json_str(err->msg));
	if (*err->hint)
		json_put(j, "remediation", json_str(err->hint));
	json_dumpf(j, stderr, JSON_COMPACT | JSON_ENSURE_ASCII);
	fputc('\n', stderr);
}

void out_error(const struct ctl *c, const struct sb_err *err)
{
	autofree char *msg = sanitize_line(err->msg);
	autofree char *hint = sanitize_line(err->hint);

	fflush(stdout);
	if (c->json) {
		error_json(err);
		return;
	}
	fprintf(stderr, "%ssandboxctl:%s %s\n",
		term_colour(STDERR_FILENO, TERM_RED),
		term_colour(STDERR_FILENO, TERM_PLAIN), msg);
	if (*hint)
		fprintf(stderr, "hint: %s\n", hint);
}

void out_note(const char *fmt, ...)
{
	autofree char *text = NULL, *line = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return;
	}
	line = sanitize_line(text);
	fprintf(stderr, "%ssandboxctl:%s %s\n",
		term_colour(STDERR_FILENO, TERM_YELLOW),
		term_colour(STDERR_FILENO, TERM_PLAIN), line);
}

int out_flush(struct sb_err *err)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write to stdout: %m");
	return 0;
}

const char *out_size(unsigned long long bytes, char out[OUT_SIZE_LEN])
{
	static const char units[] = "KMGTPE";
	double v = bytes;
	int unit = -1;

	while (v >= 1024 && unit < (int)sizeof(units) - 2) {
		v /= 1024;
		unit++;
	}
	if (!bytes)
		snprintf(out, OUT_SIZE_LEN, "-");
	else if (unit < 0)
		snprintf(out, OUT_SIZE_LEN, "%llu", bytes);
	else
		snprintf(out, OUT_SIZE_LEN, "%.*f%c",
			 v < 10 && v != (int)v ? 1 : 0, v, units[unit]);
	return out;
}

const char *out_span(long long seconds, char out[OUT_SIZE_LEN])
{
	static const struct {
		long long from;
		int unit;
		char name;
	} units[] = {
		{ 2 * 86400, 86400, 'd' },
		{ 2 * 3600, 3600, 'h' },
		{ 2 * 60, 60, 'm' },
		{ 0, 1, 's' },
	};
	size_t i = 0;

	seconds = MAX(seconds, 0);
	while (seconds < units[i].from)
		i++;
	snprintf(out, OUT_SIZE_LEN, "%lld%c", seconds / units[i].unit,
		 units[i].name);
	return out;
}

time_t out_parse_time(const char *iso)
{
	int64_t ms;

	return iso && clock_parse(iso, &ms) == 0 ? (time_t)(ms / 1000) : -1;
}
