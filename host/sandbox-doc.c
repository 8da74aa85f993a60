/* SPDX-License-Identifier: Apache-2.0 */
/* What sandbox-json.c makes, for the tables of routes. */
#include "config.h"

#include "host/api-util.h"

static const struct http_field port_fields[] = {
	{ "host_addr", HTTP_STR, "Address of the host" },
	{ "host", HTTP_INT, "Port there" },
	{ "guest", HTTP_INT, "Port in the guest" },
	{ "name", HTTP_STR, "The guest's own server behind it", .maybe = true },
	{ 0 },
};

const struct http_schema api_port_schema = {
	"Port",
	port_fields,
	"A forward",
	"{'host_addr': '127.0.0.1', 'host': 8080, 'guest': 80}",
};

const struct http_schema api_mount_schema = {
	"Mount",
	(const struct http_field[]){
		{ "host", HTTP_STR, "Path on the host" },
		{ "guest", HTTP_STR, "Path in the guest" },
		{ "readonly", HTTP_BOOL, "Not to be written to" },
		{ 0 } },
	"A folder of the host that the guest sees",
	"{'host': '/srv/data', 'guest': '/data', 'readonly': true}",
};

static const struct http_schema ssh_schema = {
	"Ssh",
	(const struct http_field[]){
		{ "host", HTTP_STR, "Address to connect to" },
		{ "port", HTTP_INT, "Port there" },
		{ "user", HTTP_STR, "Account" },
		{ "key_file", HTTP_STR, "File of the private key" },
		{ "known_hosts_file", HTTP_STR, "File with the guest's key" },
		{ "host_key", HTTP_STR, "The guest's key", .maybe = true },
		{ 0 } },
	"How to come in by SSH",
	NULL,
};

static const struct http_field state_fields[] = {
	{ "id", HTTP_STR, "Its id, which no other ever has" },
	{ "name", HTTP_STR, "Its name" },
	{ "state", HTTP_STR, "Where it is in its life",
	  .words = "creating|booting|installing|ready|paused|stopping|stopped|"
		   "failed|gone" },
	{ "detail", HTTP_STR, "What is being done", .maybe = true },
	{ "cause", HTTP_STR, "Why it failed or stopped", .maybe = true },
	{ "cause_code", HTTP_STR, "The same as a word", .maybe = true },
	{ "remediation", HTTP_STR, "What to do about it", .maybe = true },
	{ "serial_tail", HTTP_LIST, "Last lines of its console, if it failed",
	  .of = HTTP_STR, .maybe = true },
	{ 0 },
};

const struct http_schema api_state_schema = {
	"SandboxState",
	state_fields,
	"How a sandbox stands",
	"{'id': 'sb-1a2b3c4d', 'name': 'demo', 'state': 'ready'}",
};

static const struct http_field sandbox_fields[] = {
	HTTP_GROUP(state_fields),
	{ "image", HTTP_STR, "What it is made of" },
	{ "template", HTTP_STR | HTTP_NULL, "Where its defaults came from" },
	{ "cpus", HTTP_INT, "Virtual CPUs" },
	{ "memory", HTTP_INT, "Bytes" },
	{ "disk", HTTP_INT, "Bytes" },
	{ "network", HTTP_STR, "What it can reach", .words = "none|open" },
	{ "accel", HTTP_STR, "What runs it", .words = "kvm|tcg" },
	{ "isolation", HTTP_STR, "What keeps it in" },
	{ "labels", HTTP_MAP, "To find it by", .of = HTTP_STR },
	{ "env", HTTP_MAP, "Environment of all commands", .of = HTTP_STR },
	{ "preserve", HTTP_BOOL, "Whether its disk is kept" },
	{ "restart", HTTP_STR, "What to do when it ends by itself",
	  .words = "no|on-failure|always" },
	{ "ttl", HTTP_INT | HTTP_NULL, "Seconds that it lives" },
	{ "mounts", HTTP_LIST, "Folders of the host",
	  .schema = &api_mount_schema },
	{ "user", HTTP_STR, "Who runs commands" },
	{ "workspace", HTTP_STR, "Where commands begin" },
	{ "created_at", HTTP_STR | HTTP_NULL, "When it was asked for" },
	{ "ready_at", HTTP_STR | HTTP_NULL, "When it was ready" },
	{ "expires_at", HTTP_STR | HTTP_NULL, "When it goes by itself" },
	{ "share", HTTP_STR, "Its share, on the host" },
	{ "ports", HTTP_LIST, "Forwards", .schema = &api_port_schema },
	{ "ssh", HTTP_OBJ, "How to come in by SSH", .schema = &ssh_schema },
	{ "url", HTTP_STR, "Of guestd, from the host", .maybe = true },
	{ "token_file", HTTP_STR, "File with the token for it" },
	{ "receipt", HTTP_OBJ, "What the guest made of what it was told",
	  .maybe = true },
	{ 0 },
};

const struct http_schema api_sandbox_schema = {
	"Sandbox",
	sandbox_fields,
	"A sandbox",
	NULL,
};
