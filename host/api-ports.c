/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sandboxes/{id}/ports: forwards, at run time too. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/ports.h"

static void api_ports_list(struct http_req *req)
{
	json_t *o, *list;
	struct sandbox *sb;

	if (api_find(req, &sb) < 0)
		return;
	o = json_object();
	list = json_array();
	for (size_t i = 0; i < sb->nports; i++)
		json_array_append_new(list,
				      sandbox_port_json(sb, &sb->ports[i]));
	json_put(o, "ports", list);
	http_reply_json(req, 200, o);
}

/* A change of the forwards: libvirt on a thread, the record on the loop. */
struct port_op {
	struct daemon *d;
	struct http_req *req;
	char id[SANDBOX_ID_LEN + 1];
	char *domain, *addr;
	struct sandbox_port port;
	bool add;
	int rc;
	struct sb_err err;
};

static void port_work(void *arg)
{
	struct port_op *op = arg;
	struct vm_forward f = { .host_addr = op->addr,
				.host_port = op->port.host,
				.guest_port = op->port.guest };
	struct vm_host *vm;

	op->rc = daemon_vm(op->d, &vm, &op->err);
	if (op->rc == 0)
		op->rc = op->add ? vm_forward_add(vm, op->domain, &f, &op->err)
				 : vm_forward_remove(vm, op->domain, &f,
						     &op->err);
}

/* Write the new list down.  The sandbox may have left in the meantime. */
static int record(struct port_op *op, struct sandbox **ret)
{
	struct sandbox_port ports[VM_MAX_FORWARDS];
	struct sandbox *sb;
	size_t n = 0;

	if (daemon_find(op->d, op->id, &sb, &op->err) < 0)
		return -1;
	for (size_t i = 0; i < sb->nports; i++)
		if (op->add || sb->ports[i].host != op->port.host)
			ports[n++] = sb->ports[i];
	if (op->add && n == ARRAY_SIZE(ports))
		return sb_fail(&op->err, SB_LIMIT,
			       "a sandbox has at most %d ports",
			       VM_MAX_FORWARDS);
	if (op->add)
		ports[n++] = op->port;
	*ret = sb;
	return sandbox_write_ports(sb, ports, n, &op->err);
}

static void port_done(void *arg)
{
	struct port_op *op = arg;
	struct sandbox *sb;

	if (op->rc == 0)
		op->rc = record(op, &sb);
	if (!op->add || op->rc < 0)
		ports_release(op->port.host);
	if (op->rc < 0)
		http_fail(op->req, &op->err);
	else if (op->add)
		http_reply_json(op->req, 201, sandbox_port_json(sb, &op->port));
	else
		http_reply_empty(op->req, 204);
	free(op->domain);
	free(op->addr);
	free(op);
}

static void port_start(struct http_req *req, struct sandbox *sb,
		       const struct sandbox_port *port, bool add)
{
	struct port_op *op = xcalloc(1, sizeof(*op));

	op->d = http_ctx(req);
	op->req = req;
	memcpy(op->id, sb->id, sizeof(op->id));
	op->domain = sandbox_domain(sb);
	op->addr = xstrdup(sb->spec.listen);
	op->port = *port;
	op->add = add;
	task_start(op->d->loop, port_work, port_done, op);
}

static int check_running(const struct sandbox *sb, struct sb_err *err)
{
	if (sb->state == SANDBOX_READY)
		return 0;
	return sb_fail(err, SB_CONFLICT, "sandbox '%s' is %s, not ready",
		       sb->name, sandbox_state_name(sb->state));
}

static int read_port(const json_t *body, struct sandbox_port *port,
		     bool *ret_auto, struct sb_err *err)
{
	long long host = 0, guest = 0;

	if (json_get_int(body, "host", 0, 65535, &host, err) < 0 ||
	    json_get_int(body, "guest", 1, 65535, &guest, err) < 0 ||
	    json_get_bool(body, "auto", ret_auto, err) < 0)
		return -1;
	if (!guest)
		return sb_fail(err, SB_INVALID, "'guest' is missing");
	*port = (struct sandbox_port){ .host = (int)host, .guest = (int)guest };
	return 0;
}

static void api_ports_add(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct sandbox_port port;
	struct sandbox *sb;
	struct sb_err err;
	bool any = false;

	if (api_find(req, &sb) < 0)
		return;
	if (http_body_json(req, &body, &err) < 0 ||
	    read_port(body, &port, &any, &err) < 0 ||
	    check_running(sb, &err) < 0 ||
	    ports_reserve(sb->spec.listen, port.host, any, &port.host, &err) <
		    0)
		http_fail(req, &err);
	else
		port_start(req, sb, &port, true);
}

static void api_ports_remove(struct http_req *req)
{
	struct sandbox *sb;
	struct sb_err err;
	long long host;

	if (api_find(req, &sb) < 0)
		return;
	if (check_running(sb, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	for (size_t i = 0; i < sb->nports; i++) {
		const struct sandbox_port *p = &sb->ports[i];

		if (parse_num(http_param(req, "host"), 1, 65535, &host) < 0 ||
		    p->host != host)
			continue;
		if (p->name[0]) {
			sb_fail(&err, SB_DENIED,
				"port %d leads to the guest's %s and stays",
				p->host, p->name);
			http_fail(req, &err);
			return;
		}
		port_start(req, sb, p, false);
		return;
	}
	sb_fail(&err, SB_NOTFOUND, "sandbox '%s' has no forward from port '%s'",
		sb->name, http_param(req, "host"));
	http_fail(req, &err);
}

static const struct http_field list_in[] = { API_SANDBOX_ID, { 0 } };

static const struct http_field add_in[] = {
	API_SANDBOX_ID,
	{ "host", HTTP_INT, "On the host; 0: any free one", .max = 65535,
	  .dflt = "0" },
	{ "guest", HTTP_INT, "In the guest", .min = 1, .max = 65535,
	  .must = true },
	{ "auto", HTTP_BOOL, "Take another where that one is in use",
	  .dflt = "false" },
	{ 0 },
};

static const struct http_field remove_in[] = {
	API_SANDBOX_ID,
	{ "host", HTTP_INT, "Port on the host", HTTP_PATH, .min = 1,
	  .max = 65535 },
	{ 0 },
};

static const struct http_schema list_schema = {
	"PortList",
	(const struct http_field[]){ { "ports", HTTP_LIST, "All of them",
				       .schema = &api_port_schema },
				     { 0 } },
	"The forwards of a sandbox",
	"{'ports': [{'host_addr': '127.0.0.1', 'host': 8080, 'guest': 80}]}",
};

static const struct http_answer list_out[] = {
	{ 200, "The forwards", &list_schema },
	{ 0 },
};
static const struct http_answer add_out[] = {
	{ 201, "The new one", &api_port_schema },
	{ 0 },
};
static const struct http_answer remove_out[] = {
	{ 204, "It is gone" },
	{ 0 },
};

/* clang-format off */
const struct http_route port_routes[] = {
	{ "GET", "/v1/sandboxes/{id}/ports", api_ports_list, 0,
	  "The port forwards of a sandbox", { NULL },
	  list_in, list_out, { SB_NOTFOUND } },
	{ "POST", "/v1/sandboxes/{id}/ports", api_ports_add, 0,
	  "Forward another port", { NULL },
	  add_in, add_out, { SB_NOTFOUND, SB_CONFLICT },
	  .example = "{'guest': 80}" },
	{ "DELETE", "/v1/sandboxes/{id}/ports/{host}", api_ports_remove, 0,
	  "Take a port forward away", { NULL },
	  remove_in, remove_out, { SB_NOTFOUND, SB_CONFLICT } },
	{ 0 },
};
/* clang-format on */
