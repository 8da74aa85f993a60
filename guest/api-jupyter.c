/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and their specifications, as Jupyter's clients ask for them. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "guest/api.h"
#include "guest/gateway-ws.h"
#include "guest/guestd.h"
#include "guest/kernel.h"
#include "guest/kernelspec.h"
#include "guest/run.h"

#define MAX_RESOURCE (4 * 1024 * 1024)
#define MAX_PAGE (8 * 1024 * 1024)
#define MAX_MESSAGES 1000

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

static void get_kernelspecs(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	autospawnas struct spawn_as *as = NULL;
	struct kernelspec_paths where;
	struct sb_err err;

	if (make_as(g, &as, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	where = paths(g, as);
	http_reply_json(req, 200, kernelspec_list(&where));
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
	http_reply_json(req, 200, kernelspec_model(&s));
	kernelspec_done(&s);
}

static const char *type_of(const char *file)
{
	static const char *const types[][2] = {
		{ ".png", "image/png" },	 { ".svg", "image/svg+xml" },
		{ ".js", "text/javascript" },	 { ".css", "text/css" },
		{ ".json", "application/json" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_ends(file, types[i][0]))
			return types[i][1];
	return "application/octet-stream";
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
		http_reply(req, 200, type_of(file), data, len);
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
	struct kernel_listener listener;
};

static void on_change(void *arg)
{
	struct waiter *w = arg;
	enum kernel_state state = kernel_state(w->k);
	bool stop = strcmp(http_method(w->req), "DELETE") == 0;
	struct sb_err err;

	if (state != KERNEL_GONE &&
	    (stop || (state != KERNEL_READY && state != KERNEL_DEAD)))
		return;
	kernel_unlisten(&w->listener);
	if (stop) {
		http_reply_empty(w->req, 204);
	} else if (state == KERNEL_READY) {
		http_reply_json(w->req, 200, kernel_json(w->k));
	} else {
		sb_fail(&err, SB_GUEST, "the kernel did not start: %s",
			state == KERNEL_DEAD ? kernel_reason(w->k)
					     : "it was shut down");
		http_fail(w->req, &err);
	}
	free(w);
}

static void wait_for(struct http_req *req, struct kernel *k)
{
	struct waiter *w = xcalloc(1, sizeof(*w));

	w->req = req;
	w->k = k;
	w->listener.on_change = on_change;
	w->listener.arg = w;
	kernel_listen(k, &w->listener);
}

static void post_kernel_restart(struct http_req *req)
{
	struct kernel *k = find(req);

	if (!k)
		return;
	/* Before: it may fail at once.  What it was is over by then. */
	wait_for(req, k);
	kernel_restart(k);
}

static void delete_kernel(struct http_req *req)
{
	struct kernel *k = find(req);

	if (!k)
		return;
	wait_for(req, k);
	kernel_stop(k);
}

static void get_kernel_channels(struct http_req *req)
{
	struct kernel *k = find(req);

	if (k)
		gateway_ws_accept(req, k);
}

/* Messages after a number, as many as fit. */
static uint64_t put_messages(struct kernel_journal *j, uint64_t seq,
			     long long limit, struct buf *out)
{
	size_t start = out->len;
	long long n = 0;

	seq = MAX(seq, kernel_journal_first(j));
	for (; seq < kernel_journal_next(j) && n < limit; seq++) {
		size_t at = out->len, len;
		const char *data;
		struct frame f;

		if (n && at - start + kernel_journal_size(j, seq) > MAX_PAGE)
			break;
		if (kernel_journal_get(j, seq, &data, &len, NULL) < 0 ||
		    frame_read(data, len, &f, NULL) < 0)
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
	long long after = 0, limit = MAX_MESSAGES;
	autobuf struct buf b = { 0 };
	struct kernel_journal *j;
	struct sb_err err;
	uint64_t last;

	if (!k)
		return;
	if (http_query_int(req, "after", 0, INT64_MAX - 1, &after, &err) < 0 ||
	    http_query_int(req, "limit", 1, MAX_MESSAGES, &limit, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	j = kernel_journal(k);
	buf_adds(&b, "{\"messages\":[");
	last = put_messages(j, (uint64_t)after + 1, limit, &b);
	buf_addf(&b, "],\"last\":%llu,\"first\":%llu,\"next\":%llu}",
		 (unsigned long long)last,
		 (unsigned long long)kernel_journal_first(j),
		 (unsigned long long)kernel_journal_next(j));
	http_reply(req, 200, "application/json", b.p, b.len);
}

static const struct http_field messages_in[] = {
	{ "id", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ "after", HTTP_INT, "Only messages after this number", .min = 0,
	  .max = HTTP_NO_MAX, .dflt = "0" },
	{ "limit", HTTP_INT, "At most so many", .min = 1, .max = MAX_MESSAGES,
	  .dflt = "1000" },
	{ 0 },
};
static const struct http_field messages_fields[] = {
	{ "messages", HTTP_LIST,
	  "Each with seq, channel, header, "
	  "parent_header, metadata, content, buffers",
	  .of = HTTP_OBJ },
	{ "last", HTTP_INT, "The last of these: go on after it" },
	{ "first", HTTP_INT, "The oldest that is kept" },
	{ "next", HTTP_INT, "The next to come" },
	{ 0 },
};
static const struct http_schema messages_schema = {
	"KernelMessages", messages_fields, "Some messages of a kernel"
};
static const struct http_answer messages_out[] = {
	{ 200, "The messages", &messages_schema },
	{ 0 },
};

/*
 * Those of Jupyter are not described further: Jupyter does that, and its
 * clients send what we need not know.
 */
const struct http_route jupyter_routes[] = {
	/* clang-format off */
	{ "GET", "/api", get_jupyter, HTTP_URL_TOKEN,
	  "The version of the gateway" },
	{ "GET", "/api/kernelspecs", get_kernelspecs, HTTP_URL_TOKEN,
	  "Which kernels can be started" },
	{ "GET", "/api/kernelspecs/{name}", get_kernelspec, HTTP_URL_TOKEN,
	  "One of them" },
	{ "GET", "/kernelspecs/{name}/{file}", get_kernelspec_file,
	  HTTP_URL_TOKEN, "Its logo and the like" },
	{ "GET", "/api/kernels", get_kernels, HTTP_URL_TOKEN,
	  "Kernels that run or have died" },
	{ "POST", "/api/kernels", post_kernels, HTTP_URL_TOKEN,
	  "Start a kernel" },
	{ "GET", "/api/kernels/{id}", get_kernel, HTTP_URL_TOKEN,
	  "One kernel" },
	{ "DELETE", "/api/kernels/{id}", delete_kernel, HTTP_URL_TOKEN,
	  "End a kernel" },
	{ "POST", "/api/kernels/{id}/interrupt", post_kernel_interrupt,
	  HTTP_URL_TOKEN, "Interrupt what a kernel runs" },
	{ "POST", "/api/kernels/{id}/restart", post_kernel_restart,
	  HTTP_URL_TOKEN, "Start a kernel anew, under the same id" },
	{ "GET", "/api/kernels/{id}/channels", get_kernel_channels,
	  HTTP_URL_TOKEN, "A WebSocket to a kernel" },
	{ "GET", "/v1/kernels/{id}/messages", get_kernel_messages,
	  HTTP_URL_TOKEN,
	  "What a kernel has said, by number", { NULL },
	  messages_in, messages_out, { SB_NOTFOUND } },
	{ "GET", "/api/sessions", get_sessions, HTTP_URL_TOKEN,
	  "Notebooks and the kernels that they have" },
	{ "POST", "/api/sessions", post_sessions, HTTP_URL_TOKEN,
	  "A notebook and its kernel" },
	{ "GET", "/api/sessions/{id}", get_session, HTTP_URL_TOKEN,
	  "One of them" },
	{ "PATCH", "/api/sessions/{id}", patch_session, HTTP_URL_TOKEN,
	  "Another name, path or kernel" },
	{ "DELETE", "/api/sessions/{id}", delete_session, HTTP_URL_TOKEN,
	  "Forget it and end its kernel" },
	{ 0 },
	/* clang-format on */
};
