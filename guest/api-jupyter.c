/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and their specifications, as Jupyter's clients ask for them. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/mime.h"
#include "guest/api-jupyter.h"
#include "guest/api.h"
#include "guest/gateway-ws.h"
#include "guest/guestd.h"
#include "guest/kernel.h"
#include "guest/kernelspec.h"
#include "guest/lab.h"
#include "guest/run.h"

#define MAX_RESOURCE (4 * 1024 * 1024)
#define MAX_PAGE (8 * 1024 * 1024)
#define MAX_LOOK (4 * MAX_PAGE) /* for what is wanted, at a time */

static void get_jupyter(struct http_req *req)
{
	http_reply_json(req, 200,
			json_pack("{s:s}", "version", PACKAGE_VERSION));
}

static int make_as(struct guestd *g, struct spawn_as **ret, struct sb_err *err)
{
	const struct gateway_config *cfg = gateway_config(g->gateway);

	return cfg->make_as(cfg->arg, NULL, ret, err);
}

static struct kernelspec_paths paths(const struct guestd *g,
				     const struct spawn_as *as)
{
	return (struct kernelspec_paths){ as, run_workspace(g),
					  gateway_config(g->gateway)->specs };
}

/* The URLs of its files, for who came by JupyterLab. */
static json_t *rebase(const struct http_req *req, json_t *model /* takes */)
{
	json_t *files = json_object_get(model, "resources"), *url;
	const char *key;
	void *next;

	if (!str_starts(http_path(req), LAB_PATH "/"))
		return model;
	json_object_foreach_safe(files, next, key, url)
		json_object_set_new(
			files, key,
			json_sprintf(LAB_PATH "%s", json_string_value(url)));
	return model;
}

static void get_kernelspecs(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	autospawnas struct spawn_as *as = NULL;
	struct kernelspec_paths where;
	json_t *list, *model;
	struct sb_err err;
	const char *name;

	if (make_as(g, &as, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	where = paths(g, as);
	list = kernelspec_list(&where);
	json_object_foreach(json_object_get(list, "kernelspecs"), name, model)
		rebase(req, model);
	http_reply_json(req, 200, list);
}

static int find_spec(struct http_req *req, struct kernelspec *ret,
		     struct sb_err *err)
{
	struct guestd *g = http_ctx(req);
	autospawnas struct spawn_as *as = NULL;
	struct kernelspec_paths where;

	if (make_as(g, &as, err) < 0)
		return -1;
	where = paths(g, as);
	return kernelspec_find(&where, http_param(req, "name"), ret, err);
}

static void get_kernelspec(struct http_req *req)
{
	struct kernelspec s;
	struct sb_err err;

	if (find_spec(req, &s, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	http_reply_json(req, 200, rebase(req, kernelspec_model(&s)));
	kernelspec_done(&s);
}

static void get_kernelspec_file(struct http_req *req)
{
	const char *file = http_param(req, "file");
	autofree char *path = NULL, *data = NULL;
	autoclose int fd = -1;
	struct kernelspec s = { 0 };
	struct sb_err err;
	size_t len;
	int r = find_spec(req, &s, &err);

	if (r == 0 && strchr(file, '/'))
		r = sb_fail(&err, SB_NOTFOUND, "'%s' is not the name of a file",
			    file);
	if (r == 0)
		r = fs_open_beneath(s.dir, file, &fd, &err);
	if (r == 0) {
		path = xasprintf("/proc/self/fd/%d", fd);
		r = fs_read(path, MAX_RESOURCE, &data, &len, &err);
	}
	kernelspec_done(&s);
	if (r < 0)
		http_fail(req, &err);
	else
		http_reply(req, 200, mime_of_name(file), data, len);
}

static void get_kernels(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	json_t *list = json_array();

	for (struct kernel *k = gateway_next(g->gateway, NULL); k;
	     k = gateway_next(g->gateway, k))
		json_array_append_new(list, kernel_json(k));
	http_reply_json(req, 200, list);
}

static bool id_is_good(const char *id)
{
	return strlen(id) == KERNEL_ID_LEN &&
	       strspn(id, "0123456789abcdef-") == KERNEL_ID_LEN;
}

static int start(struct guestd *g, const json_t *body, struct kernel **ret,
		 struct sb_err *err)
{
	struct kernel_config cfg = { 0 };

	if (json_get_str(body, "name", &cfg.name, err) < 0 ||
	    json_get_str(body, "path", &cfg.cwd, err) < 0 ||
	    json_get_str(body, "kernel_id", &cfg.id, err) < 0 ||
	    run_parse_env(body, &cfg.env, err) < 0)
		return -1;
	if (cfg.id && !id_is_good(cfg.id))
		return sb_fail(err, SB_INVALID,
			       "'kernel_id' must be a UUID in lower case");
	return gateway_start(g->gateway, &cfg, ret, err);
}

static void post_kernels(struct http_req *req)
{
	autojson json_t *body = NULL;
	autofree char *location = NULL;
	struct kernel *k;
	struct sb_err err;

	if (http_body_json(req, &body, &err) < 0 ||
	    start(http_ctx(req), body, &k, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	location = xasprintf("/api/kernels/%s", kernel_id(k));
	http_set_header(req, "Location", location);
	http_reply_json(req, 201, kernel_json(k));
}

/* The kernel that all share, so that a client can name it. */
static void post_kernel_default(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	autojson json_t *body = NULL;
	const char *name = NULL;
	struct kernel *k;
	struct sb_err err;
	int rc = http_body_json(req, &body, &err);

	if (rc == 0)
		rc = json_get_str(body, "kernel", &name, &err);
	if (rc == 0)
		rc = str_empty(name)
			     ? gateway_default(g->gateway, &k, &err)
			     : gateway_shared(g->gateway, name, &k, &err);
	if (rc < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 200, kernel_json(k));
}

/* The kernel of the path; else the request is answered. */
static struct kernel *find(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	struct kernel *k;
	struct sb_err err;

	if (gateway_find(g->gateway, http_param(req, "id"), &k, &err) == 0)
		return k;
	http_fail(req, &err);
	return NULL;
}

static void get_kernel(struct http_req *req)
{
	struct kernel *k = find(req);

	if (k)
		http_reply_json(req, 200, kernel_json(k));
}

static void post_kernel_interrupt(struct http_req *req)
{
	struct kernel *k = find(req);
	struct sb_err err;

	if (!k)
		return;
	if (kernel_interrupt(k, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_empty(req, 204);
}

/* A request that waits for its kernel to be up, or gone. */
struct waiter {
	struct http_req *req;
	struct kernel *k;
	kernel_reply reply; /* when it is up; NULL: it is to go */
	struct kernel_listener listener;
};

static void on_change(void *arg)
{
	struct waiter *w = arg;
	enum kernel_state state = kernel_state(w->k);
	bool stop = !w->reply;
	struct sb_err err;

	if (state != KERNEL_GONE &&
	    (stop || (state != KERNEL_READY && state != KERNEL_DEAD)))
		return;
	kernel_unlisten(w->k, &w->listener);
	if (stop) {
		http_reply_empty(w->req, 204);
	} else if (state == KERNEL_READY) {
		w->reply(w->req, w->k);
	} else {
		sb_fail(&err, SB_GUEST, "the kernel did not start: %s",
			state == KERNEL_DEAD ? kernel_message(w->k)
					     : "it was shut down");
		http_fail(w->req, &err);
	}
	free(w);
}

static void wait_for(struct http_req *req, struct kernel *k, kernel_reply reply)
{
	struct waiter *w = xcalloc(1, sizeof(*w));

	w->req = req;
	w->k = k;
	w->reply = reply;
	w->listener.on_change = on_change;
	w->listener.arg = w;
	kernel_listen(k, &w->listener);
}

void kernel_when_up(struct http_req *req, struct kernel *k, kernel_reply reply)
{
	if (kernel_state(k) == KERNEL_READY)
		reply(req, k);
	else
		wait_for(req, k, reply);
}

static void reply_kernel(struct http_req *req, struct kernel *k)
{
	http_reply_json(req, 200, kernel_json(k));
}

static void post_kernel_restart(struct http_req *req)
{
	struct kernel *k = find(req);

	if (!k)
		return;
	/* Before: it may fail at once.  What it was is over by then. */
	wait_for(req, k, reply_kernel);
	kernel_restart(k);
}

static void delete_kernel(struct http_req *req)
{
	struct kernel *k = find(req);

	if (!k)
		return;
	wait_for(req, k, NULL);
	kernel_stop(k);
}

static void get_kernel_channels(struct http_req *req)
{
	struct kernel *k = find(req);

	if (k)
		gateway_ws_accept(req, k);
}

/* Whether a message answers the request of that id; NULL: any. */
static bool answers(const struct frame *f, const char *parent)
{
	struct part id;

	return !parent || (jscan_str(f->part[FRAME_PARENT], "msg_id", &id) &&
			   part_is(id, parent));
}

/* Messages after a number, as many as fit. */
static uint64_t put_messages(struct kernel_journal *j, uint64_t seq,
			     const char *parent, long long limit,
			     struct buf *out)
{
	size_t start = out->len, looked_at = 0;
	long long n = 0;

	/* A number of an earlier guestd's is past the end. */
	seq = MIN(MAX(seq, kernel_journal_first(j)), kernel_journal_next(j));
	for (; seq < kernel_journal_next(j) && n < limit; seq++) {
		size_t at = out->len, len;
		const char *data;
		struct frame f;

		if ((n &&
		     at - start + kernel_journal_size(j, seq) > MAX_PAGE) ||
		    looked_at > MAX_LOOK)
			break;
		looked_at += kernel_journal_size(j, seq);
		if (kernel_journal_get(j, seq, &data, &len, NULL) < 0 ||
		    frame_read(data, len, &f, NULL) < 0 || !answers(&f, parent))
			continue;
		if (n)
			buf_adds(out, ",");
		if (frame_to_json(&f, seq, out, NULL) == 0)
			n++;
		else
			out->len = at;
	}
	return seq - 1;
}

static void get_kernel_messages(struct http_req *req)
{
	struct kernel *k = find(req);
	long long after = 0, limit = KERNEL_MAX_MESSAGES;
	autobuf struct buf b = { 0 };
	struct kernel_journal *j;
	struct sb_err err;
	uint64_t last;

	if (!k)
		return;
	if (http_query_int(req, "after", 0, INT64_MAX - 1, &after, &err) < 0 ||
	    http_query_int(req, "limit", 1, KERNEL_MAX_MESSAGES, &limit, &err) <
		    0) {
		http_fail(req, &err);
		return;
	}
	j = kernel_journal(k);
	buf_adds(&b, "{\"messages\":[");
	last = put_messages(j, (uint64_t)after + 1, http_query(req, "parent"),
			    limit, &b);
	buf_addf(&b, "],\"last\":%llu,\"first\":%llu,\"next\":%llu}",
		 (unsigned long long)last,
		 (unsigned long long)kernel_journal_first(j),
		 (unsigned long long)kernel_journal_next(j));
	http_reply(req, 200, "application/json", b.p, b.len);
}

static void get_swagger(struct http_req *req)
{
	const char *text = http_openapi(req);

	http_reply(req, 200, "application/json", text, strlen(text));
}

/* Whatever is JSON is YAML. */
static void get_swagger_yaml(struct http_req *req)
{
	const char *text = http_openapi(req);

	http_reply(req, 200, "application/yaml", text, strlen(text));
}

#define JUPYTER (HTTP_URL_TOKEN | HTTP_LENIENT)

const struct http_route jupyter_routes[] = {
	/* clang-format off */
	{ "GET", "/api", get_jupyter, JUPYTER,
	  "The version of the gateway", .out = jupyter_version_out },
	{ "GET", "/api/swagger.json", get_swagger, JUPYTER,
	  "This description, where Jupyter has it",
	  .out = jupyter_document_out },
	{ "GET", "/api/swagger.yaml", get_swagger_yaml, JUPYTER,
	  "This description as YAML", .out = jupyter_yaml_out },
	{ "GET", "/api/kernelspecs", get_kernelspecs, JUPYTER,
	  "Which kernels can be started",
	  { LAB_PATH "/api/kernelspecs" }, .out = kernelspecs_out },
	{ "GET", "/api/kernelspecs/{name}", get_kernelspec, JUPYTER,
	  "One of them", { LAB_PATH "/api/kernelspecs/{name}" },
	  kernelspec_in, kernelspec_out, { SB_NOTFOUND } },
	{ "GET", "/kernelspecs/{name}/{file}", get_kernelspec_file, JUPYTER,
	  "Its logo and the like", { LAB_PATH "/kernelspecs/{name}/{file}" },
	  kernelspec_file_in, kernelspec_file_out, { SB_NOTFOUND } },
	{ "GET", "/api/kernels", get_kernels, JUPYTER,
	  "Kernels that run or have died",
	  { LAB_PATH "/api/kernels" }, .out = kernels_out },
	{ "POST", "/api/kernels", post_kernels, JUPYTER,
	  "Start a kernel", { LAB_PATH "/api/kernels" },
	  kernel_start_in, kernel_started_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_MISSING },
	  "{'name': 'sandbox-python'}" },
	{ "GET", "/api/kernels/{id}", get_kernel, JUPYTER,
	  "One kernel", { LAB_PATH "/api/kernels/{id}" },
	  kernel_in, kernel_out, { SB_NOTFOUND } },
	{ "DELETE", "/api/kernels/{id}", delete_kernel, JUPYTER,
	  "End a kernel", { LAB_PATH "/api/kernels/{id}" },
	  kernel_in, kernel_done_out, { SB_NOTFOUND } },
	{ "POST", "/api/kernels/{id}/interrupt", post_kernel_interrupt,
	  JUPYTER, "Interrupt what a kernel runs", { LAB_PATH "/api/kernels/{id}/interrupt" },
	  kernel_in, kernel_done_out, { SB_NOTFOUND, SB_CONFLICT } },
	{ "POST", "/api/kernels/{id}/restart", post_kernel_restart,
	  JUPYTER, "Start a kernel anew, under the same id", { LAB_PATH "/api/kernels/{id}/restart" },
	  kernel_in, kernel_out, { SB_NOTFOUND, SB_GUEST } },
	{ "GET", "/api/kernels/{id}/channels", get_kernel_channels,
	  JUPYTER, "A WebSocket to a kernel", { LAB_PATH "/api/kernels/{id}/channels" },
	  kernel_channels_in, kernel_channels_out,
	  { SB_NOTFOUND, SB_UPGRADE } },
	{ "POST", "/v1/kernels/default", post_kernel_default, HTTP_URL_TOKEN,
	  "The kernel of POST /v1/run, started if need be", { NULL },
	  kernel_default_in, kernel_out, { SB_NOTFOUND, SB_MISSING },
	  "{'kernel': 'sandbox-python'}" },
	{ "GET", "/v1/kernels/{id}/messages", get_kernel_messages,
	  HTTP_URL_TOKEN, "What a kernel has said, by number", { LAB_PATH "/v1/kernels/{id}/messages" },
	  kernel_messages_in, kernel_messages_out, { SB_NOTFOUND } },
	{ "GET", "/api/sessions", get_sessions, JUPYTER,
	  "Notebooks and the kernels that they have",
	  { LAB_PATH "/api/sessions" }, .out = sessions_out },
	{ "POST", "/api/sessions", post_sessions, JUPYTER,
	  "A notebook and its kernel", { LAB_PATH "/api/sessions" },
	  session_start_in, session_started_out,
	  { SB_NOTFOUND }, "{'path': 'a.ipynb', 'type': 'notebook'}" },
	{ "GET", "/api/sessions/{id}", get_session, JUPYTER,
	  "One of them", { LAB_PATH "/api/sessions/{id}" },
	  session_in, session_out, { SB_NOTFOUND } },
	{ "PATCH", "/api/sessions/{id}", patch_session, JUPYTER,
	  "Another name, path or kernel", { LAB_PATH "/api/sessions/{id}" },
	  session_change_in, session_out, { SB_NOTFOUND, SB_MISSING } },
	{ "DELETE", "/api/sessions/{id}", delete_session, JUPYTER,
	  "Forget it and end its kernel", { LAB_PATH "/api/sessions/{id}" },
	  session_in, session_ended_out, { SB_NOTFOUND } },
	{ 0 },
	/* clang-format on */
};
