/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the I/O thread answers by itself, whatever the main thread does:
 * kernel_info, comm_info, interrupt, shutdown.  The rest is handed over.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "guest/kernel/kernel.h"

static void reply(struct kernel *k, struct request *r, const char *type,
		  const char *content)
{
	struct outgoing *o = outgoing_new(r->channel, type, r);

	buf_adds(&o->content, content);
	kernel_send_now(k, o);
}

static void kernel_info(struct kernel *k, struct request *r)
{
	autofree char *info = NULL;

	outbox_lock(&k->out);
	info = xstrdup(k->info);
	outbox_unlock(&k->out);
	reply(k, r, "kernel_info_reply", info);
}

/* The comms of one target, or all. */
static void comm_info(struct kernel *k, struct request *r)
{
	autojson json_t *content = NULL, *found = json_object();
	autofree char *text = NULL;
	const char *target = NULL, *id;
	json_t *comm;

	if (json_parse(r->content.p, r->content.len, &content, NULL) == 0)
		json_get_str(content, "target_name", &target, NULL);
	outbox_lock(&k->out);
	json_object_foreach(k->comms, id, comm) {
		if (!target ||
		    strcmp(json_str_or(comm, "target_name", ""), target) == 0)
			json_object_set_new(found, id, json_deep_copy(comm));
	}
	outbox_unlock(&k->out);
	json_decref(content);
	content = json_object();
	json_put(content, "status", json_str("ok"));
	json_put(content, "comms", steal(&found));
	text = json_print(content);
	reply(k, r, "comm_info_reply", text);
}

static void interrupt(struct kernel *k, struct request *r)
{
	interrupt_now(&k->irq, INTERRUPT_REQUEST);
	reply(k, r, "interrupt_reply", "{\"status\":\"ok\"}");
}

static void shut_down(struct kernel *k, struct request *r)
{
	autojson json_t *content = NULL;
	struct outgoing *o;
	char text[64];

	if (json_parse(r->content.p, r->content.len, &content, NULL) < 0)
		content = NULL;
	snprintf(text, sizeof(text), "{\"status\":\"ok\",\"restart\":%s}",
		 json_bool_or(content, "restart", false) ? "true" : "false");
	reply(k, r, "shutdown_reply", text);
	/* The others who use this kernel are to know. */
	o = outgoing_new(CHANNEL_IOPUB, "shutdown_reply", r);
	buf_adds(&o->content, text);
	outbox_lock(&k->out);
	outbox_add(&k->out, o);
	outbox_unlock(&k->out);
	if (!k->stop_at)
		k->stop_at = clock_ms() + KERNEL_STOP_MS;
	inbox_stop(&k->in);
	interrupt_now(&k->irq, INTERRUPT_SHUTDOWN);
}

/* Deprecated, but old clients ask. */
static void connect_info(struct kernel *k, struct request *r)
{
	autobuf struct buf b = { 0 };

	buf_adds(&b, "{\"status\":\"ok\"");
	for (int i = 0; i < CHANNELS; i++)
		buf_addf(&b, ",\"%s_port\":%d", channel_name(i),
			 k->conn.ports[i]);
	buf_adds(&b, "}");
	reply(k, r, "connect_reply", b.p);
}

static const struct {
	const char *type;
	void (*answer)(struct kernel *k, struct request *r);
} answers[] = {
	{ "kernel_info_request", kernel_info },
	{ "comm_info_request", comm_info },
	{ "interrupt_request", interrupt },
	{ "shutdown_request", shut_down },
	{ "connect_request", connect_info },
};

void kernel_dispatch(struct kernel *k, struct request *r)
{
	if (r->channel == CHANNEL_STDIN) {
		if (strcmp(r->type, "input_reply") == 0)
			inbox_input(&k->in, r);
		else
			request_unref(r);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		if (strcmp(answers[i].type, r->type) != 0)
			continue;
		kernel_status(k, "busy", r);
		answers[i].answer(k, r);
		kernel_status(k, "idle", r);
		request_unref(r);
		return;
	}
	inbox_put(&k->in, r);
}
