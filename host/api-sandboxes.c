/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sandboxes: making, seeing and ending sandboxes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/lifecycle.h"
#include "host/template.h"

#define MAX_TTL (10LL * 365 * 86400)

int api_find(struct http_req *req, struct sandbox **ret)
{
	struct sb_err err;

	if (daemon_find(http_ctx(req), http_param(req, "id"), ret, &err) == 0)
		return 0;
	http_fail(req, &err);
	return -1;
}

/* Defaults, then the template, then the body. */
static int read_spec(struct daemon *d, const json_t *body, struct spec *spec,
		     struct sb_err *err)
{
	const char *name = d->cfg.default_template;

	if (json_get_str(body, "template", &name, err) < 0 ||
	    template_load(name, d->template_dirs, spec, err) < 0 ||
	    spec_from_json(body, spec, err) < 0)
		return -1;
	return spec_check(spec, err);
}

static void api_sandbox_create(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	autojson json_t *body = NULL;
	autospec struct spec spec;
	struct sandbox *sb;
	struct sb_err err;
	bool wait = true;

	spec_init(&spec);
	if (http_body_json(req, &body, &err) < 0 ||
	    http_query_bool(req, "wait", &wait, &err) < 0 ||
	    read_spec(d, body, &spec, &err) < 0 ||
	    lifecycle_up(d, &spec, http_header(req, "idempotency-key"), &sb,
			 &err) < 0)
		http_fail(req, &err);
	else if (wait)
		lifecycle_wait(sb, req);
	else
		http_reply_json(req, 202, sandbox_json(sb));
}

/* "key" or "key=value" against the labels. */
static bool label_matches(const struct sandbox *sb, const char *label)
{
	const char *eq = strchr(label, '=');
	autofree char *key = eq ? xstrndup(label, eq - label) : xstrdup(label);
	const char *value = spec_vars_get(&sb->spec.labels, key);

	return value && (!eq || strcmp(value, eq + 1) == 0);
}

static void api_sandbox_list(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	const char *label = http_query(req, "label");
	const char *state = http_query(req, "state");
	json_t *list = json_array(), *o = json_object();
	struct sandbox *sb;

	TAILQ_FOREACH(sb, &d->sandboxes, entry) {
		if (label && !label_matches(sb, label))
			continue;
		if (state && strcmp(state, sandbox_state_name(sb->state)) != 0)
			continue;
		json_array_append_new(list, sandbox_json(sb));
	}
	json_put(o, "sandboxes", list);
	http_reply_json(req, 200, o);
}

static void api_sandbox_get(struct http_req *req)
{
	struct sandbox *sb;

	if (api_find(req, &sb) == 0)
		http_reply_json(req, 200, sandbox_json(sb));
}

static void api_sandbox_delete(struct http_req *req)
{
	struct sandbox *sb;
	struct sb_err err;
	bool purge = false;
	json_t *o;

	if (api_find(req, &sb) < 0)
		return;
	if (http_query_bool(req, "purge", &purge, &err) < 0 ||
	    lifecycle_down(http_ctx(req), sb, purge, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	o = json_object();
	json_put(o, "id", json_string(sb->id));
	json_put(o, "name", json_str(sandbox_name(sb)));
	json_put(o, "state", json_string(sandbox_state_name(sb->state)));
	http_reply_json(req, 202, o);
}

static void api_sandbox_pause(struct http_req *req)
{
	struct sandbox *sb;

	if (api_find(req, &sb) == 0)
		lifecycle_pause(http_ctx(req), sb, true, req);
}

static void api_sandbox_resume(struct http_req *req)
{
	struct sandbox *sb;

	if (api_find(req, &sb) == 0)
		lifecycle_pause(http_ctx(req), sb, false, req);
}

static int read_ttl(const json_t *body, long long *ret, struct sb_err *err)
{
	const json_t *v = json_object_get(body, "ttl");

	if (json_is_string(v) && parse_duration(json_string_value(v), ret) == 0)
		return 0;
	if (json_is_string(v) || !v)
		return sb_fail(err, SB_INVALID,
			       "'ttl' must be seconds or a duration such as "
			       "\"15m\"; 0 means for ever");
	return json_get_int(body, "ttl", 0, MAX_TTL, ret, err);
}

static void api_sandbox_ttl(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct sandbox *sb;
	long long ttl;
	struct sb_err err;

	if (api_find(req, &sb) < 0)
		return;
	if (http_body_json(req, &body, &err) < 0 ||
	    read_ttl(body, &ttl, &err) < 0 ||
	    lifecycle_ttl(http_ctx(req), sb, ttl, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 200, sandbox_json(sb));
}

static const struct http_schema port_in_schema = {
	"PortWish",
	(const struct http_field[]){
		{ "host", HTTP_INT, "On the host; 0 or not given: any free one",
		  .max = 65535, .maybe = true },
		{ "guest", HTTP_INT, "In the guest", .min = 1, .max = 65535 },
		{ 0 } },
	"A port to forward",
	"{'host': 8080, 'guest': 80}",
};

static const struct http_schema mount_in_schema = {
	"MountWish",
	(const struct http_field[]){
		{ "host", HTTP_STR, "Absolute path on the host" },
		{ "guest", HTTP_STR, "Absolute path in the guest" },
		{ "readonly", HTTP_BOOL, "Not to be written to",
		  .dflt = "false", .maybe = true },
		{ 0 } },
	"A folder of the host to be seen in the guest",
	"{'host': '/srv/data', 'guest': '/data', 'readonly': true}",
};

static const struct http_schema host_ports_schema = {
	"HostPorts",
	(const struct http_field[]){
		{ "server", HTTP_INT, "For guestd", .max = 65535,
		  .maybe = true },
		{ "jupyter", HTTP_INT, "For the gateway", .max = 65535,
		  .maybe = true },
		{ "ssh", HTTP_INT, "For sshd", .max = 65535, .maybe = true },
		{ "vnc", HTTP_INT, "For VNC", .max = 65535, .maybe = true },
		{ 0 } },
	"Where the guest's own servers are on the host; 0: any free port",
	"{'server': 8765, 'ssh': 2222}",
};

/* The keys of sandbox-template(5), each. */
static const struct http_field create_in[] = {
	{ "wait", HTTP_BOOL, "Answer when it is ready", HTTP_QUERY,
	  .dflt = "true" },
	{ "Idempotency-Key", HTTP_STR,
	  "The same key again means the same sandbox", HTTP_HEADER },
	{ "name", HTTP_STR | HTTP_NULL, "Its name; if not given, one is made" },
	{ "unique_name", HTTP_BOOL, "Add a number to a name that is taken" },
	{ "template", HTTP_STR | HTTP_NULL, "Where the defaults come from" },
	{ "image", HTTP_STR, "What it is made of" },
	{ "cpus", HTTP_INT, "Virtual CPUs", .min = 1, .max = 64 },
	{ "memory", HTTP_INT | HTTP_STR, "Bytes, or 1G" },
	{ "disk", HTTP_INT | HTTP_STR, "Bytes, or 8G" },
	{ "mounts", HTTP_LIST, "Folders of the host",
	  .schema = &mount_in_schema },
	{ "ports", HTTP_LIST, "Ports to forward", .schema = &port_in_schema },
	{ "auto_ports", HTTP_BOOL, "Take another port where one is in use" },
	{ "listen", HTTP_STR, "Address of the host to forward from" },
	{ "host_ports", HTTP_OBJ, "Ports of the guest's own servers",
	  .schema = &host_ports_schema },
	{ "env", HTTP_MAP, "Environment of all commands",
	  .of = HTTP_STR | HTTP_INT | HTTP_BOOL },
	{ "labels", HTTP_MAP, "To find it by",
	  .of = HTTP_STR | HTTP_INT | HTTP_BOOL },
	{ "ttl", HTTP_INT | HTTP_STR | HTTP_NULL,
	  "How long it lives: seconds, or 15m; null: for ever" },
	{ "network", HTTP_STR, "What it can reach", .words = "none|open" },
	{ "preserve", HTTP_BOOL, "Keep its disk when it is taken down" },
	{ "restart", HTTP_STR, "What to do when it ends by itself",
	  .words = "no|on-failure|always" },
	{ "debug", HTTP_BOOL, "Log more" },
	{ "user", HTTP_STR, "Who runs commands" },
	{ "workspace", HTTP_STR, "Where commands begin" },
	{ "display", HTTP_STR, "The X display" },
	{ "shared_dir", HTTP_STR, "Where the share is in the guest" },
	{ "server_port", HTTP_INT, "guestd's, in the guest", .min = 1,
	  .max = 65535 },
	{ "origins", HTTP_LIST,
	  "Web origins whose pages may ask guestd; *: all", .of = HTTP_STR },
	{ "jupyter_port", HTTP_INT, "The gateway's, in the guest; 0: none",
	  .max = 65535 },
	{ "max_kernels", HTTP_INT, "How many kernels it may have", .min = 1,
	  .max = 1000 },
	{ "kernel_idle", HTTP_INT | HTTP_STR | HTTP_NULL,
	  "When an idle kernel without a client ends: seconds, or 15m; null: "
	  "never" },
	{ "warm_kernel", HTTP_BOOL,
	  "Keep one kernel started for the next who wants one" },
	{ "server_log", HTTP_STR, "guestd's log, in the share" },
	{ "jupyter_log", HTTP_STR, "The kernels' log, in the share" },
	{ 0 },
};

static const struct http_field list_in[] = {
	{ "label", HTTP_STR, "Only those with this label: key or key=value" },
	{ "state", HTTP_STR, "Only those in this state" },
	{ 0 },
};

static const struct http_field id_in[] = { API_SANDBOX_ID, { 0 } };

static const struct http_field delete_in[] = {
	API_SANDBOX_ID,
	{ "purge", HTTP_BOOL, "Its disk, too, if it is preserved",
	  .dflt = "false" },
	{ 0 },
};

static const struct http_field ttl_in[] = {
	API_SANDBOX_ID,
	{ "ttl", HTTP_INT | HTTP_STR,
	  "From now on: seconds, or 15m; 0: for ever", .max = MAX_TTL,
	  .must = true },
	{ 0 },
};

static const struct http_schema list_schema = {
	"SandboxList",
	(const struct http_field[]){ { "sandboxes", HTTP_LIST, "All that match",
				       .schema = &api_sandbox_schema },
				     { 0 } },
	"Sandboxes",
	"{'sandboxes': []}",
};

static const struct http_schema leaving_schema = {
	"SandboxLeaving",
	(const struct http_field[]){ { "id", HTTP_STR, "Its id" },
				     { "name", HTTP_STR, "Its name" },
				     { "state", HTTP_STR, "Its state" },
				     { 0 } },
	"A sandbox that is being taken down",
	"{'id': 'sb-1a2b3c4d', 'name': 'demo', 'state': 'stopping'}",
};

static const struct http_answer create_out[] = {
	{ 201, "It is ready", &api_sandbox_schema },
	{ 202, "It is being made", &api_sandbox_schema },
	{ 0 },
};
static const struct http_answer list_out[] = {
	{ 200, "The sandboxes", &list_schema },
	{ 0 },
};
static const struct http_answer sandbox_out[] = {
	{ 200, "The sandbox", &api_sandbox_schema },
	{ 0 },
};
static const struct http_answer delete_out[] = {
	{ 202, "It goes", &leaving_schema },
	{ 0 },
};

/* clang-format off */
const struct http_route sandbox_routes[] = {
	{ "POST", "/v1/sandboxes", api_sandbox_create, 0,
	  "Make a sandbox, or boot a stopped one again", { NULL },
	  create_in, create_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_MISSING, SB_GUEST, SB_BUSY,
	    SB_TIMEOUT },
	  .example = "{'name': 'demo', 'ttl': '15m'}" },
	{ "GET", "/v1/sandboxes", api_sandbox_list, 0,
	  "All sandboxes, or those with a label or state", { NULL },
	  list_in, list_out },
	{ "GET", "/v1/sandboxes/{id}", api_sandbox_get, 0,
	  "One sandbox, by id or name", { NULL },
	  id_in, sandbox_out, { SB_NOTFOUND } },
	{ "DELETE", "/v1/sandboxes/{id}", api_sandbox_delete, 0,
	  "Let a sandbox vanish, from any state", { NULL },
	  delete_in, delete_out, { SB_NOTFOUND, SB_CONFLICT } },
	{ "POST", "/v1/sandboxes/{id}/pause", api_sandbox_pause, 0,
	  "Stop the clock of a sandbox", { NULL },
	  id_in, sandbox_out, { SB_NOTFOUND, SB_CONFLICT } },
	{ "POST", "/v1/sandboxes/{id}/resume", api_sandbox_resume, 0,
	  "Let a paused sandbox go on", { NULL },
	  id_in, sandbox_out, { SB_NOTFOUND, SB_CONFLICT } },
	{ "POST", "/v1/sandboxes/{id}/ttl", api_sandbox_ttl, 0,
	  "Set how long a sandbox still lives", { NULL },
	  ttl_in, sandbox_out, { SB_NOTFOUND, SB_CONFLICT },
	  .example = "{'ttl': '15m'}" },
	{ 0 },
};
/* clang-format on */
