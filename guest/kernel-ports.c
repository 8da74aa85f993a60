/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of a kernel as TCP ports. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/log.h"
#include "guest/kernel-ports.h"
#include "guest/kernel-private.h"
#include "guest/kernel-splice.h"

#define BACKLOG 16

/* In the order of the kernel's sockets, s-1 to s-5. */
static const char *const names[] = { "shell_port", "control_port", "stdin_port",
				     "iopub_port", "hb_port" };
#define NPORTS ARRAY_SIZE(names)

struct port {
	uv_tcp_t tcp;
	struct kernel_ports *of;
	int number; /* of the kernel's socket */
	int port;
};

struct kernel_ports {
	struct kernel_splices *splices;
	struct port port[NPORTS];
	int refs; /* ports that are not closed */
};

static void on_connection(uv_stream_t *server, int status)
{
	struct port *port = server->data;

	if (status == 0)
		kernel_splice_accept(port->of->splices, server, port->number);
}

static void on_port_closed(uv_handle_t *h)
{
	struct port *port = h->data;

	if (--port->of->refs == 0)
		free(port->of);
}

static int fill_address(const char *text, int port, struct sockaddr_storage *sa)
{
	if (uv_ip4_addr(text, port, (struct sockaddr_in *)sa) == 0)
		return 0;
	return uv_ip6_addr(text, port, (struct sockaddr_in6 *)sa);
}

static int start_port(struct port *port, const char *address, int wanted)
{
	struct sockaddr_storage sa = { 0 };
	int len = sizeof(sa), r;

	r = fill_address(address, wanted, &sa);
	if (r == 0)
		r = uv_tcp_bind(&port->tcp, (struct sockaddr *)&sa, 0);
	if (r == 0)
		r = uv_listen((uv_stream_t *)&port->tcp, BACKLOG,
			      on_connection);
	if (r == 0)
		r = uv_tcp_getsockname(&port->tcp, (struct sockaddr *)&sa,
				       &len);
	/* Both families have it in the same place. */
	port->port = ntohs(((struct sockaddr_in *)&sa)->sin_port);
	return r;
}

static const char *address_of(const struct kernel *k)
{
	const char *listen = gateway_config(k->gw)->listen;

	return listen ? listen : "127.0.0.1";
}

/* wanted are numbers, 0 for any. */
static int open_ports(struct kernel *k, const int *wanted, struct sb_err *err)
{
	struct loop *loop = gateway_config(k->gw)->loop;
	struct kernel_ports *p = xcalloc(1, sizeof(*p));
	int r = 0;

	p->splices = kernel_splice_new(loop, k->dir, KERNEL_KEPT_DIR,
				       kernel_max_kept(k->gw));
	for (size_t i = 0; i < NPORTS; i++) {
		struct port *port = &p->port[i];

		*port = (struct port){ .of = p, .number = (int)i + 1 };
		uv_tcp_init(loop_uv(loop), &port->tcp);
		port->tcp.data = port;
		p->refs++;
		if (r == 0)
			r = start_port(port, address_of(k), wanted[i]);
	}
	k->ports = p;
	if (r == 0)
		return 0;
	kernel_ports_close(k);
	return sb_fail(err, SB_BUSY, "cannot listen for kernel '%s': %s", k->id,
		       uv_strerror(r));
}

int kernel_ports_open(struct kernel *k, struct sb_err *err)
{
	static const int any[NPORTS];

	if (k->ports)
		return 0;
	if (open_ports(k, any, err) < 0)
		return -1;
	return kernel_process_save(k, err);
}

void kernel_ports_close(struct kernel *k)
{
	struct kernel_ports *p = steal(&k->ports);
	struct sb_err err;

	if (!p)
		return;
	kernel_splice_free(p->splices);
	for (size_t i = 0; i < NPORTS; i++)
		uv_close((uv_handle_t *)&p->port[i].tcp, on_port_closed);
	if (k->state != KERNEL_GONE && kernel_process_save(k, &err) < 0)
		log_warn("%s", err.msg);
}

int kernel_ports_in_use(const struct kernel *k)
{
	return k->ports ? kernel_splice_count(k->ports->splices) : 0;
}

json_t *kernel_ports_save(const struct kernel *k)
{
	json_t *j;

	if (!k->ports)
		return NULL;
	j = json_object();
	for (size_t i = 0; i < NPORTS; i++)
		json_put(j, names[i], json_integer(k->ports->port[i].port));
	return j;
}

void kernel_ports_restore(struct kernel *k, const json_t *saved)
{
	int wanted[NPORTS];
	struct sb_err err;

	if (!json_is_object(saved))
		return;
	for (size_t i = 0; i < NPORTS; i++)
		wanted[i] = (int)json_int_or(saved, names[i], 0);
	if (open_ports(k, wanted, &err) < 0)
		log_warn("%s", err.msg);
}

json_t *kernel_ports_json(const struct kernel *k)
{
	json_t *j = kernel_ports_save(k);
	const char *ip = address_of(k);

	if (!j)
		return NULL;
	if (strcmp(ip, "0.0.0.0") == 0)
		ip = "127.0.0.1";
	else if (strcmp(ip, "::") == 0)
		ip = "::1";
	json_put(j, "transport", json_str("tcp"));
	json_put(j, "ip", json_str(ip));
	json_put(j, "key", json_str(k->key));
	json_put(j, "signature_scheme", json_str("hmac-sha256"));
	json_put(j, "kernel_name", json_str(k->name));
	json_put(j, "kernel_id", json_str(k->id));
	return j;
}
