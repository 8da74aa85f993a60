/* SPDX-License-Identifier: Apache-2.0 */
/* Health, metrics, events, templates and the daemon itself. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/httpd-ticket.h"
#include "common/json.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/doctor.h"
#include "host/door.h"
#include "host/events.h"
#include "host/template.h"

static void api_health(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	json_t *o = json_object();

	json_put(o, "status", json_string("ok"));
	json_put(o, "version", json_string(PACKAGE_VERSION));
	json_put(o, "pid", json_integer(getpid()));
	json_put(o, "uptime_s",
		 json_integer((clock_ms() - d->started_ms) / 1000));
	if (d->door)
		json_put(o, "url", json_str(door_url(d->door)));
	http_reply_json(req, 200, o);
}

static void api_metrics(struct http_req *req)
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

static void api_events(struct http_req *req)
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

static void api_templates(struct http_req *req)
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

static void api_doctor(struct http_req *req)
{
	struct examination *x = xcalloc(1, sizeof(*x));

	x->d = http_ctx(req);
	x->req = req;
	task_start(x->d->loop, examine, examined, x);
}

static void post_ticket(struct http_req *req)
{
	struct ticket_box *box;
	struct sb_err err;

	if (door_tickets(http_ctx(req), &box, &err) < 0)
		http_fail(req, &err);
	else
		http_ticket_post(req, box, true);
}

static const struct http_field events_in[] = {
	{ "sandbox", HTTP_STR, "Only of this one: id or name" },
	{ 0 },
};

static const struct http_schema health_schema = {
	"Health",
	(const struct http_field[]){
		{ "status", HTTP_STR, "Always ok", .words = "ok" },
		{ "version", HTTP_STR, "Of sandboxd" },
		{ "pid", HTTP_INT, "Its process id" },
		{ "uptime_s", HTTP_INT, "Seconds since it started" },
		{ "url", HTTP_STR, "Where it listens on TCP", .maybe = true },
		{ 0 } },
	"That sandboxd is well",
	"{'status': 'ok', 'version': '0.1.0', 'pid': 300, 'uptime_s': 60}",
};

static const struct http_schema check_schema = {
	"Check",
	(const struct http_field[]){
		{ "name", HTTP_STR, "What was looked at" },
		{ "status", HTTP_STR, "How it is", .words = "ok|warn|fail" },
		{ "detail", HTTP_STR, "What was found" },
		{ "remedy", HTTP_STR, "What to do about it", .maybe = true },
		{ 0 } },
	"Something that was looked at",
	"{'name': 'accelerator', 'status': 'ok', 'detail': 'KVM'}",
};

static const struct http_schema doctor_schema = {
	"Checks",
	(const struct http_field[]){
		{ "checks", HTTP_LIST, "All of them", .schema = &check_schema },
		{ 0 } },
	"How this host is",
	NULL,
};

static const struct http_schema template_schema = {
	"Template",
	(const struct http_field[]){
		{ "name", HTTP_STR, "Its name" },
		{ "file", HTTP_STR, "Where it is" },
		{ "description", HTTP_STR, "What it is for", .maybe = true },
		{ "error", HTTP_STR, "Why it cannot be used", .maybe = true },
		{ 0 } },
	"Defaults for sandboxes",
	"{'name': 'default', 'file': '/etc/sandbox/templates/default.yaml',"
	" 'description': 'A small machine'}",
};

static const struct http_schema templates_schema = {
	"TemplateList",
	(const struct http_field[]){ { "templates", HTTP_LIST, "All of them",
				       .schema = &template_schema },
				     { 0 } },
	"Templates",
	NULL,
};

static const struct http_event state_events[] = {
	{ "state", &api_state_schema,
	  "First one for each sandbox that there is, then each change" },
	{ 0 },
};

static const struct http_answer health_out[] = {
	{ 200, "It is well", &health_schema },
	{ 0 },
};
static const struct http_answer metrics_out[] = {
	{ 200, "The figures", .type = "text/plain" },
	{ 0 },
};
static const struct http_answer events_out[] = {
	{ 200, "The changes", .events = state_events },
	{ 0 },
};
static const struct http_answer doctor_out[] = {
	{ 200, "What was found", &doctor_schema },
	{ 0 },
};
static const struct http_answer templates_out[] = {
	{ 200, "The templates", &templates_schema },
	{ 0 },
};

/* clang-format off */
const struct http_route system_routes[] = {
	{ "GET", "/health", api_health, HTTP_PUBLIC,
	  "Whether the daemon is well", { "/livez", "/readyz" },
	  .out = health_out },
	{ "GET", "/metrics", api_metrics, 0,
	  "Counters for Prometheus", .out = metrics_out },
	{ "GET", "/v1/events", api_events, 0,
	  "State changes as Server-Sent Events", { NULL },
	  events_in, events_out, { SB_NOTFOUND } },
	{ "GET", "/v1/doctor", api_doctor, 0,
	  "What the daemon finds wrong with this host", .out = doctor_out },
	{ "GET", "/v1/templates", api_templates, 0,
	  "The templates that can be named", .out = templates_out },
	{ "POST", "/v1/tickets", post_ticket, 0,
	  "Make a one-time ticket for a URL", { NULL }, http_ticket_path_in,
	  http_ticket_out, { SB_BUSY, SB_MISSING },
	  .example = "{'path': '/v1/sandboxes/demo/v1/vnc/view'}",
	  .text = "For links and WebSockets of a page, which cannot send a "
		  "header, on sandboxd's TCP port: the token itself must not "
		  "be in a URL. No guest sees the ticket." },
	{ 0 },
};
/* clang-format on */
