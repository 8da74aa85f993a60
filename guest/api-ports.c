/* SPDX-License-Identifier: Apache-2.0 */
/* The TCP ports of kernels. */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "guest/api-jupyter.h"
#include "guest/api.h"
#include "guest/guestd.h"
#include "guest/kernel-ports.h"

static int find(struct http_req *req, struct kernel **ret, struct sb_err *err)
{
	struct guestd *g = http_ctx(req);

	return gateway_find(g->gateway, http_param(req, "id"), ret, err);
}

/* As POST /v1/run chooses it. */
static int choose(struct http_req *req, struct kernel **ret, struct sb_err *err)
{
	struct guestd *g = http_ctx(req);
	bool dflt = strcmp(http_param(req, "id"), "default") == 0;
	autojson json_t *body = NULL;
	const char *name = NULL;

	if (http_body_json(req, &body, err) < 0 ||
	    json_get_str(body, "kernel", &name, err) < 0)
		return -1;
	if (!dflt && name)
		return sb_fail(err, SB_INVALID,
			       "'kernel' goes with the id 'default' only");
	if (!dflt)
		return find(req, ret, err);
	return str_empty(name) ? gateway_default(g->gateway, ret, err)
			       : gateway_shared(g->gateway, name, ret, err);
}

static void open_ports(struct http_req *req, struct kernel *k)
{
	struct sb_err err;

	if (kernel_ports_open(k, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 200, kernel_ports_json(k));
}

/* Clients give up on a kernel whose heart does not beat when they come. */
static void post_ports(struct http_req *req)
{
	struct kernel *k;
	struct sb_err err;

	if (choose(req, &k, &err) < 0)
		http_fail(req, &err);
	else if (kernel_state(k) == KERNEL_DEAD)
		open_ports(req, k);
	else
		kernel_when_up(req, k, open_ports);
}

static void delete_ports(struct http_req *req)
{
	struct kernel *k;
	struct sb_err err;

	if (find(req, &k, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	kernel_ports_close(k);
	http_reply_empty(req, 204);
}

static const struct http_field post_in[] = {
	{ "id", HTTP_STR, "Of the kernel; 'default': that of POST /v1/run",
	  HTTP_PATH },
	{ "kernel", HTTP_STR,
	  "With 'default': the name of a kernelspec, whose shared kernel is "
	  "taken" },
	{ 0 },
};
static const struct http_field delete_in[] = {
	{ "id", HTTP_STR, "Of the kernel", HTTP_PATH },
	{ 0 },
};

static const struct http_field ports_fields[] = {
	{ "transport", HTTP_STR, "tcp" },
	{ "ip", HTTP_STR, "Where the ports are, seen from this machine" },
	{ "shell_port", HTTP_INT, "Requests" },
	{ "iopub_port", HTTP_INT, "Output, to all" },
	{ "stdin_port", HTTP_INT, "Questions to the user" },
	{ "control_port", HTTP_INT, "Requests that do not wait for others" },
	{ "hb_port", HTTP_INT, "Heartbeat" },
	{ "key", HTTP_STR, "Secret that messages are signed with" },
	{ "signature_scheme", HTTP_STR, "hmac-sha256" },
	{ "kernel_name", HTTP_STR, "Of its specification" },
	{ "kernel_id", HTTP_STR, "Of the kernel" },
	{ 0 },
};
static const struct http_schema ports_schema = {
	"KernelPorts", ports_fields, "A connection file, as Jupyter has it"
};
static const struct http_answer post_out[] = {
	{ 200, "The ports; the same, however often it is asked",
	  &ports_schema },
	{ 0 },
};
static const struct http_answer delete_out[] = {
	{ 204, "They are closed" },
	{ 0 },
};

/* clang-format off */
const struct http_route port_routes[] = {
	{ "POST", "/v1/kernels/{id}/ports", post_ports, 0,
	  "Reach a kernel's ZeroMQ sockets by TCP", { NULL },
	  post_in, post_out, { SB_NOTFOUND, SB_DENIED, SB_BUSY },
	  .text = "What is sent to the five ports goes to the kernel's own "
		  "sockets byte for byte, and back. They stay the same when "
		  "the kernel is restarted, and end with it." },
	{ "DELETE", "/v1/kernels/{id}/ports", delete_ports, 0,
	  "Close these ports", { NULL },
	  delete_in, delete_out, { SB_NOTFOUND } },
	{ 0 },
};
/* clang-format on */
