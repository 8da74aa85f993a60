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
#include "guest/guestd.h"
#include "guest/languages.h"
#include "guest/personal.h"

#define MAX_OS_RELEASE (16 * 1024)
#define MAX_PROC (256 * 1024)

static long long uptime_s(const struct guestd *g)
{
	return (clock_ms() - g->started_ms) / 1000;
}

void get_health(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);

	http_reply_json(req, 200,
			json_pack("{s:s, s:s, s:I, s:i}", "status", "ok",
				  "version", PACKAGE_VERSION, "uptime_s",
				  (json_int_t)uptime_s(g), "pid",
				  (int)getpid()));
}

/* The shares that were asked for and are not there. */
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
	return list;
}

void get_ready(struct http_req *req)
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

static json_t *display_json(void)
{
	for (int i = 0; i < 10; i++) {
		autofree char *path = xasprintf("/tmp/.X11-unix/X%d", i);

		if (access(path, F_OK) == 0)
			return json_sprintf(":%d", i);
	}
	return json_null();
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
	json_t *os, *display, *isolation;
};

static void gather(void *arg)
{
	struct facts *f = arg;

	if (!f->languages)
		f->languages = languages_find();
	f->os = os_json();
	f->display = display_json();
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
	json_put(j, "display", f->display);
	json_put(j, "ports", json_pack("{s:i}", "guestd", g->port));
	json_put(j, "isolation", f->isolation);
	json_put(j, "version", json_str(PACKAGE_VERSION));
	json_put(j, "uptime_s", json_integer(uptime_s(g)));
	http_reply_json(f->req, 200, j);
	free(f);
}

void get_sandbox(struct http_req *req)
{
	struct facts *f = xcalloc(1, sizeof(*f));

	f->req = req;
	f->g = http_ctx(req);
	f->languages = json_incref(f->g->languages);
	loop_work(f->g->loop, gather, reply_facts, f);
}

void get_openapi(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);

	http_reply_json(req, 200,
			httpd_openapi(g->httpd, "guestd", PACKAGE_VERSION));
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

void get_metrics(struct http_req *req)
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
