/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about the machine itself: health, readiness, facts, metrics. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "guest/api.h"
#include "guest/auth.h"
#include "guest/desktop.h"
#include "guest/guestd.h"
#include "guest/languages.h"
#include "guest/personal.h"

#define MAX_OS_RELEASE (16 * 1024)
#define MAX_PROC (256 * 1024)

static long long uptime_s(const struct guestd *g)
{
	return (clock_ms() - g->started_ms) / 1000;
}

static void get_health(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);

	http_reply_json(req, 200,
			json_pack("{s:s, s:s, s:I, s:i}", "status", "ok",
				  "version", PACKAGE_VERSION, "uptime_s",
				  (json_int_t)uptime_s(g), "pid", (int)g->pid));
}

/* What was asked for and is not there. */
static json_t *missing_parts(const struct guestd *g)
{
	json_t *list = json_array(), *m;
	size_t i;

	if (!auth_is_open(g->auth))
		json_array_append_new(list, json_str("personalisation"));
	json_array_foreach(json_object_get(g->message, "mounts"), i, m) {
		const char *path = json_str_or(m, "path", "");

		if (!personal_is_mounted(path))
			json_array_append_new(list, json_str(path));
	}
	/* One that is being started is not waited for. */
	if (desktop_state(g->desktop) == DESKTOP_FAILED)
		json_array_append_new(list, json_str("desktop"));
	return list;
}

static void get_ready(struct http_req *req)
{
	json_t *missing = missing_parts(http_ctx(req));
	bool ready = json_array_size(missing) == 0;

	http_reply_json(req, ready ? 200 : 503,
			json_pack("{s:s, s:o}", "status",
				  ready ? "ready" : "not ready", "missing",
				  missing));
}

/* The value of KEY= in os-release, without its quotes. */
static json_t *os_field(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		size_t n;

		p += *p == '\n';
		if (strncmp(p, key, len) != 0 || p[len] != '=')
			continue;
		p += len + 1;
		n = strcspn(p, "\n");
		if (n >= 2 && (*p == '"' || *p == '\'') && p[n - 1] == *p)
			return json_text(p + 1, n - 2);
		return json_text(p, n);
	}
	return json_null();
}

static json_t *os_json(void)
{
	autofree char *text = NULL;
	json_t *j = json_object();

	fs_read("/etc/os-release", MAX_OS_RELEASE, &text, NULL, NULL);
	json_put(j, "id", os_field(text, "ID"));
	json_put(j, "name", os_field(text, "PRETTY_NAME"));
	json_put(j, "version", os_field(text, "VERSION_ID"));
	return j;
}

/* What a guest can tell: whether a hypervisor is below it. */
static json_t *isolation_json(void)
{
	autofree char *text = NULL;

	fs_read("/proc/cpuinfo", MAX_PROC, &text, NULL, NULL);
	return json_str(text && strstr(text, " hypervisor") ? "vm" : "none");
}

struct facts {
	struct http_req *req;
	struct guestd *g;
	json_t *languages;
	json_t *os, *isolation;
};

static void gather(void *arg)
{
	struct facts *f = arg;

	if (!f->languages)
		f->languages = languages_find();
	f->os = os_json();
	f->isolation = isolation_json();
}

static void reply_facts(void *arg)
{
	struct facts *f = arg;
	struct guestd *g = f->g;
	json_t *j = json_object();
	char host[65] = "";

	if (!g->languages)
		g->languages = json_incref(f->languages);
	gethostname(host, sizeof(host) - 1);
	json_put(j, "id", json_str(g->sandbox));
	json_put(j, "hostname", json_str(host));
	json_put(j, "user", json_str(GUESTD_USER));
	json_put(j, "workspace", json_str(GUESTD_WORKSPACE));
	json_put(j, "os", f->os);
	json_put(j, "languages", f->languages);
	json_put(j, "display", json_str(desktop_display(g->desktop)));
	json_put(j, "ports", json_pack("{s:i}", "guestd", g->port));
	json_put(j, "isolation", f->isolation);
	json_put(j, "version", json_str(PACKAGE_VERSION));
	json_put(j, "uptime_s", json_integer(uptime_s(g)));
	http_reply_json(f->req, 200, j);
	free(f);
}

static void get_sandbox(struct http_req *req)
{
	struct facts *f = xcalloc(1, sizeof(*f));

	f->req = req;
	f->g = http_ctx(req);
	f->languages = json_incref(f->g->languages);
	loop_work(f->g->loop, gather, reply_facts, f);
}

static long long resident_bytes(void)
{
	autofree char *text = NULL;
	long long pages = 0;

	if (fs_read("/proc/self/statm", 256, &text, NULL, NULL) == 0)
		sscanf(text, "%*s %lld", &pages);
	return pages * sysconf(_SC_PAGESIZE);
}

static void add_metric(struct buf *b, const char *name, const char *type,
		       const char *help, long long value)
{
	buf_addf(b, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", name, help, name,
		 type, name, value);
}

static void get_metrics(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	autobuf struct buf b = { 0 };
	struct httpd_stats st;

	httpd_get_stats(g->httpd, &st);
	add_metric(&b, "guestd_uptime_seconds", "gauge",
		   "Seconds since guestd started.", uptime_s(g));
	add_metric(&b, "guestd_http_requests_total", "counter",
		   "Requests answered.", st.requests);
	add_metric(&b, "guestd_http_client_errors_total", "counter",
		   "Requests answered with 4xx.", st.client_errors);
	add_metric(&b, "guestd_http_server_errors_total", "counter",
		   "Requests answered with 5xx.", st.server_errors);
	add_metric(&b, "guestd_http_connections", "gauge", "Open connections.",
		   st.connections);
	add_metric(&b, "process_resident_memory_bytes", "gauge",
		   "Memory in use.", resident_bytes());
	http_reply(req, 200, "text/plain; version=0.0.4", b.p, b.len);
}

static const struct http_schema health_schema = {
	"Health",
	(const struct http_field[]){
		{ "status", HTTP_STR, "Always ok", .words = "ok" },
		{ "version", HTTP_STR, "Of guestd" },
		{ "uptime_s", HTTP_INT, "Seconds since it started" },
		{ "pid", HTTP_INT, "Its process id" },
		{ 0 } },
	"That guestd is alive",
	"{'status': 'ok', 'version': '0.1.0', 'uptime_s': 60, 'pid': 300}",
};

static const struct http_schema ready_schema = {
	"Readiness",
	(const struct http_field[]){
		{ "status", HTTP_STR, "In a word", .words = "ready|not ready" },
		{ "missing", HTTP_LIST, "What is not up", .of = HTTP_STR },
		{ 0 } },
	"Whether everything is up",
	"{'status': 'ready', 'missing': []}",
};

static const struct http_schema os_schema = {
	"OperatingSystem",
	(const struct http_field[]){
		{ "id", HTTP_STR | HTTP_NULL, "ID of os-release" },
		{ "name", HTTP_STR | HTTP_NULL, "PRETTY_NAME of it" },
		{ "version", HTTP_STR | HTTP_NULL, "VERSION_ID of it" },
		{ 0 } },
	"The operating system",
	"{'id': 'debian', 'name': 'Debian GNU/Linux 12', 'version': '12'}",
};

static const struct http_schema language_schema = {
	"Language",
	(const struct http_field[]){
		{ "name", HTTP_STR, "What it is called" },
		{ "program", HTTP_STR, "What runs it" },
		{ "version", HTTP_STR | HTTP_NULL, "What the program says" },
		{ 0 } },
	"A language that is installed",
	"{'name': 'python', 'program': '/usr/bin/python3',"
	" 'version': '3.11.2'}",
};

static const struct http_schema sandbox_schema = {
	"Sandbox",
	(const struct http_field[]){
		{ "id", HTTP_STR | HTTP_NULL, "Its name on the host" },
		{ "hostname", HTTP_STR, "Its name for itself" },
		{ "user", HTTP_STR, "Who runs commands" },
		{ "workspace", HTTP_STR, "Where relative paths begin" },
		{ "os", HTTP_OBJ, "The system", .schema = &os_schema },
		{ "languages", HTTP_LIST, "What is installed",
		  .schema = &language_schema },
		{ "display", HTTP_STR | HTTP_NULL, "The X display, if any" },
		{ "ports", HTTP_MAP, "What listens where", .of = HTTP_INT },
		{ "isolation", HTTP_STR, "What is around it",
		  .words = "vm|none" },
		{ "version", HTTP_STR, "Of guestd" },
		{ "uptime_s", HTTP_INT, "Seconds since guestd started" },
		{ 0 } },
	"Facts about this machine",
	NULL,
};

static const struct http_answer health_out[] = {
	{ 200, "It is alive", &health_schema },
	{ 0 },
};
static const struct http_answer ready_out[] = {
	{ 200, "Everything is up", &ready_schema },
	{ 503, "Not everything is up", &ready_schema },
	{ 0 },
};
static const struct http_answer sandbox_out[] = {
	{ 200, "The facts", &sandbox_schema },
	{ 0 },
};
static const struct http_answer metrics_out[] = {
	{ 200, "The figures", .type = "text/plain" },
	{ 0 },
};

/* clang-format off */
const struct http_route system_routes[] = {
	{ "GET", "/health", get_health, HTTP_PUBLIC, "Whether guestd is alive",
	  { "/livez" },
	  .out = health_out },
	{ "GET", "/readyz", get_ready, HTTP_PUBLIC,
	  "Whether everything that was asked for is up", .out = ready_out },
	{ "GET", "/v1/sandbox", get_sandbox, 0, "Facts about this machine",
	  .out = sandbox_out },
	{ "GET", "/metrics", get_metrics, 0, "Figures for Prometheus",
	  .out = metrics_out },
	{ 0 },
};
/* clang-format on */
