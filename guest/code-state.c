/* SPDX-License-Identifier: Apache-2.0 */
/* Code of a language in a kernel that keeps its state. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/cell.h"
#include "guest/code-state.h"
#include "guest/gateway.h"
#include "guest/guestd.h"
#include "guest/signame.h"

/* One request and its cell. */
struct code_state {
	struct http_req *req;
	struct cell *cell;
	char *language;
};

/* A program would have shown it on stderr, and without colours. */
static char *traceback_of(const json_t *error)
{
	const json_t *lines = json_object_get(error, "traceback"), *line;
	autobuf struct buf b = { 0 };
	size_t i;

	json_array_foreach(lines, i, line) {
		const char *s = json_string_value(line);

		while (s && *s) {
			size_t n = strcspn(s, "\033");

			buf_add(&b, s, n);
			s += n;
			if (s[0] == '\033' && s[1] == '[')
				s += 2 + strspn(s + 2, "0123456789;");
			s += *s != '\0'; /* what ends it */
		}
		buf_adds(&b, "\n");
	}
	if (!b.len)
		buf_addf(&b, "%s: %s\n", json_str_or(error, "ename", "Error"),
			 json_str_or(error, "evalue", ""));
	return steal(&b.p);
}

static json_t *with(const json_t *text, const char *more)
{
	autobuf struct buf b = { 0 };

	buf_add(&b, json_string_value(text), json_string_length(text));
	buf_adds(&b, more);
	return json_text(b.p, b.len);
}

/* What a signal did to it, as programs have it. */
static int signal_of(const json_t *answer)
{
	if (json_bool_or(answer, "kernel_restarted", false))
		return SIGKILL;
	return json_bool_or(answer, "timed_out", false) ? SIGINT : 0;
}

static json_t *as_program(const struct code_state *s)
{
	static const char *const same[] = { "timed_out", "truncated",
					    "duration_ms", "stdout" };
	autojson json_t *a = cell_answer(s->cell), *output = NULL;
	const json_t *error = json_object_get(a, "error");
	autofree char *more = error ? traceback_of(error) : xstrdup("");
	bool good = strcmp(json_str_or(a, "status", ""), "ok") == 0;
	int sig = signal_of(a);
	json_t *j = json_object();

	output = cell_output(s->cell);
	json_put(j, "id", json_str(json_str_or(a, "kernel_id", "")));
	json_put(j, "exit_code", json_integer(sig ? 128 + sig : !good));
	json_put(j, "signal", signame_json(sig));
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		json_put(j, same[i], json_incref(json_object_get(a, same[i])));
	json_put(j, "stderr", with(json_object_get(a, "stderr"), more));
	json_put(j, "output", with(output, more));
	json_put(j, "language", json_str(s->language));
	return j;
}

static void on_end(void *arg)
{
	struct code_state *s = arg;

	http_reply_json(s->req, 200, as_program(s));
	cell_free(s->cell);
	free(s->language);
	free(s);
}

static int check(const struct toolchain *tc, const struct run_params *r,
		 struct sb_err *err)
{
	if (!tc->kernel) {
		sb_fail(err, SB_INVALID, "language '%s' keeps no state",
			tc->name);
		return sb_hint(err, "leave 'stateful' out, or use python");
	}
	if (r->cwd || r->user || r->stdin_text || r->env || r->background ||
	    r->open_stdin)
		return sb_fail(err, SB_INVALID,
			       "with 'stateful' there is no 'cwd', 'env', "
			       "'user', 'stdin', 'open_stdin' or 'background': "
			       "the kernel runs already");
	return 0;
}

int code_state_run(struct http_req *req /* takes */, const struct toolchain *tc,
		   const struct run_params *params, const char *code,
		   struct sb_err *err)
{
	struct guestd *g = http_ctx(req);
	struct cell_config cfg = { .loop = g->loop,
				   .code = code,
				   .result = "none",
				   .timeout_ms = params->timeout_ms,
				   .max_output = params->max_output,
				   .merged = true,
				   .on_end = on_end };
	struct code_state *s;

	if (check(tc, params, err) < 0 ||
	    gateway_shared(g->gateway, tc->kernel, &cfg.k, err) < 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	s->req = req;
	s->language = xstrdup(tc->name);
	cfg.arg = s;
	s->cell = cell_start(&cfg);
	return 0;
}
