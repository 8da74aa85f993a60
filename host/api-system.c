/* SPDX-License-Identifier: Apache-2.0 */
/* Health, metrics, events, templates and the daemon itself. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/doctor.h"
#include "host/events.h"
#include "host/template.h"

void api_health(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	json_t *o = json_object();

	json_put(o, "status", json_string("ok"));
	json_put(o, "version", json_string(PACKAGE_VERSION));
	json_put(o, "pid", json_integer(getpid()));
	json_put(o, "uptime_s",
		 json_integer((clock_ms() - d->started_ms) / 1000));
	http_reply_json(req, 200, o);
}

void api_metrics(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	size_t count[SANDBOX_NSTATES] = { 0 };
	autobuf struct buf b = { 0 };
	struct httpd_stats st;
	struct sandbox *sb;

	httpd_get_stats(d->httpd, &st);
	TAILQ_FOREACH(sb, &d->sandboxes, entry)
		count[sb->state]++;
	buf_adds(&b, "# HELP sandbox_count Sandboxes by state.\n"
		     "# TYPE sandbox_count gauge\n");
	for (int s = 0; s < SANDBOX_GONE; s++)
		buf_addf(&b, "sandbox_count{state=\"%s\"} %zu\n",
			 sandbox_state_name(s), count[s]);
	buf_addf(&b,
		 "# HELP sandboxd_http_requests_total Requests answered.\n"
		 "# TYPE sandboxd_http_requests_total counter\n"
		 "sandboxd_http_requests_total %llu\n"
		 "# HELP sandboxd_http_errors_total Requests refused, by whose "
		 "fault.\n"
		 "# TYPE sandboxd_http_errors_total counter\n"
		 "sandboxd_http_errors_total{side=\"client\"} %llu\n"
		 "sandboxd_http_errors_total{side=\"server\"} %llu\n"
		 "# HELP sandboxd_uptime_seconds Time since the start.\n"
		 "# TYPE sandboxd_uptime_seconds gauge\n"
		 "sandboxd_uptime_seconds %lld\n",
		 st.requests, st.client_errors, st.server_errors,
		 (long long)(clock_ms() - d->started_ms) / 1000);
	http_reply(req, 200, "text/plain; version=0.0.4", b.p, b.len);
}

void api_openapi(struct http_req *req)
{
	struct daemon *d = http_ctx(req);

	http_reply_json(req, 200,
			httpd_openapi(d->httpd, "sandboxd", PACKAGE_VERSION));
}

void api_events(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	const char *id = http_query(req, "sandbox");
	struct sandbox *sb;
	struct sb_err err;

	if (!id || daemon_find(d, id, &sb, &err) == 0)
		events_subscribe(d, req, id ? sb->id : NULL);
	else if (!events_replay(d, req, id))
		http_fail(req, &err);
}

void api_templates(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	json_t *o = json_object();

	json_put(o, "templates", template_list(d->template_dirs));
	http_reply_json(req, 200, o);
}

/* Looking at libvirt blocks: a thread does it. */
struct examination {
	struct daemon *d;
	struct http_req *req;
	json_t *checks;
};

static void examine(void *arg)
{
	struct examination *x = arg;

	x->checks = doctor_examine(x->d);
}

static void examined(void *arg)
{
	struct examination *x = arg;
	json_t *o = json_object();

	json_put(o, "checks", x->checks);
	http_reply_json(x->req, 200, o);
	util_free(&x);
}

void api_doctor(struct http_req *req)
{
	struct examination *x = xcalloc(1, sizeof(*x));

	x->d = http_ctx(req);
	x->req = req;
	task_start(x->d->loop, examine, examined, x);
}
