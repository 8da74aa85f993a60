/* SPDX-License-Identifier: Apache-2.0 */
/* up: start a sandbox and wait until it can be used. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-follow.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-out.h"
#include "host/ctl-request.h"
#include "host/ctl-sanitize.h"

#define AT(field) offsetof(struct request, field)

static const struct opt opts[] = {
	{ .name = "template",
	  .arg = "NAME",
	  .help = "start from this template",
	  .kind = OPT_STR,
	  .store = AT(template),
	  .word = WORD_TEMPLATE },
	{ .name = "image",
	  .arg = "NAME",
	  .help = "boot this image",
	  .kind = OPT_STR,
	  .store = AT(image),
	  .word = WORD_IMAGE },
	{ .name = "cpus",
	  .arg = "N",
	  .help = "number of virtual CPUs",
	  .kind = OPT_NUM,
	  .store = AT(cpus),
	  .max = 255 },
	{ .name = "memory",
	  .arg = "SIZE",
	  .help = "memory, such as 512M or 2G",
	  .kind = OPT_SIZE,
	  .store = AT(memory) },
	{ .name = "disk",
	  .arg = "SIZE",
	  .help = "size of the disk, such as 8G",
	  .kind = OPT_SIZE,
	  .store = AT(disk) },
	{ .name = "mount",
	  .letter = 'v',
	  .arg = "HOST:GUEST[:ro]",
	  .help = "show a folder of the host in the guest",
	  .kind = OPT_LIST,
	  .store = AT(mounts) },
	{ .name = "publish",
	  .letter = 'p',
	  .arg = "HOST:GUEST",
	  .help = "forward a port; HOST 0 picks a free one",
	  .kind = OPT_LIST,
	  .store = AT(ports) },
	{ .name = "auto-ports",
	  .help = "take free ports for those that are taken",
	  .store = AT(auto_ports) },
	{ .name = "env",
	  .letter = 'e',
	  .arg = "KEY=VALUE",
	  .help = "set a variable; KEY alone takes yours",
	  .kind = OPT_LIST,
	  .store = AT(env) },
	{ .name = "env-file",
	  .arg = "FILE",
	  .help = "read variables from a file",
	  .kind = OPT_STR,
	  .store = AT(env_file) },
	{ .name = "ttl",
	  .arg = "DURATION",
	  .help = "remove it after 90s, 15m, 2h, …",
	  .kind = OPT_SECONDS,
	  .store = AT(ttl) },
	{ .name = "preserve",
	  .help = "keep disk and share at down, for the next up",
	  .store = AT(preserve) },
	{ .name = "label",
	  .letter = 'l',
	  .arg = "KEY=VALUE",
	  .help = "attach a label",
	  .kind = OPT_LIST,
	  .store = AT(labels) },
	{ .name = "net",
	  .arg = "none|open",
	  .help = "only the forwards (default), or the network",
	  .kind = OPT_STR,
	  .store = AT(network) },
	{ .name = "restart",
	  .arg = "no|on-failure|always",
	  .help = "when to start it again if it ends by itself",
	  .kind = OPT_STR,
	  .store = AT(restart) },
	{ .name = "no-wait",
	  .help = "return as soon as the start has begun",
	  .store = AT(no_wait) },
	{ 0 },
};

static void print_ports(const json_t *sandbox)
{
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(sandbox, "ports"), i, port) {
		autofree char *name = NULL;

		if (json_object_get(port, "name"))
			continue; /* our own servers */
		name = sanitize_line(json_str_or(port, "host_addr", ""));
		printf("  port    %s:%lld leads to port %lld of the guest\n",
		       name, json_int_or(port, "host", 0),
		       json_int_or(port, "guest", 0));
	}
}

static void print_summary(const json_t *sandbox, double seconds)
{
	autofree char *name = sanitize_line(json_str_or(sandbox, "name", "?"));
	autofree char *url = sanitize_line(json_str_or(sandbox, "url", "-"));
	autofree char *share = sanitize_line(json_str_or(sandbox, "share", ""));

	printf("%s is ready after %.1f s.\n", name, seconds);
	printf("  url     %s\n", url);
	if (*share)
		printf("  shared  %s is /shared in the guest\n", share);
	print_ports(sandbox);
	printf("\nTry:\n"
	       "  sandboxctl exec %s -- uname -a\n"
	       "  sandboxctl py %s 'print(6 * 7)'\n"
	       "  sandboxctl ssh %s\n"
	       "  sandboxctl down %s\n",
	       name, name, name, name);
}

static void print_serial(const json_t *sandbox)
{
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(sandbox, "serial_tail"), i, line) {
		autofree char *text = NULL;

		if (!json_is_string(line))
			continue;
		text = sanitize_line(json_string_value(line));
		fprintf(stderr, "serial| %s\n", text);
	}
}

/* A sandbox that was kept from earlier on stays kept. */
static int undo(struct ctl *c, const json_t *sandbox, time_t begin,
		struct sb_err *err)
{
	bool fresh = out_parse_time(json_str_or(sandbox, "created_at", "")) >=
		     begin;
	const char *name = json_str_or(sandbox, "name", "?");
	autofree char *path = daemon_path(DAEMON_SANDBOXES,
					  json_str_or(sandbox, "id", name),
					  fresh ? "?purge=true" : "");

	daemon_close(c);
	if (daemon_call(c, "DELETE", path, NULL, NULL, err) &&
	    err->code != SB_NOTFOUND) {
		sb_wrap(err, "interrupted, but '%s' could not be removed",
			name);
		return sb_hint(err, "try: sandboxctl down %s", name);
	}
	out_note("interrupted: '%s' is being %s", name,
		 fresh ? "removed" : "stopped");
	return 0;
}

static int wait_ready(struct ctl *c, const json_t *sandbox, int cancel_fd,
		      json_t **ret, struct sb_err *err)
{
	struct progress *p;
	double seconds;
	int rc;

	p = progress_new(json_str_or(sandbox, "name", "?"), c->json);
	progress_step(p, "starting", -1);
	rc = follow_ready(c, sandbox, cancel_fd, p, ret, err);
	seconds = progress_seconds(p);
	progress_free(p);
	if (rc == 0 && !c->json)
		print_summary(*ret, seconds);
	if (rc && *ret && !c->json)
		print_serial(*ret);
	return rc;
}

static void print_started(const json_t *sandbox)
{
	autofree char *name = sanitize_line(json_str_or(sandbox, "name", "?"));

	printf("%s is starting.\n", name);
}

/*
 * Ask for the sandbox.  If the daemon is lost over it, nobody knows how far it
 * came: the name tells.
 */
static int post(struct ctl *c, const char *name, const json_t *body,
		json_t **ret, struct sb_err *err)
{
	static const char path[] = "/v1/sandboxes?wait=false";

	if (daemon_call(c, "POST", path, body, ret, err) == 0)
		return 0;
	if (!name || !daemon_is_lost(err))
		return -1;
	daemon_close(c);
	if (daemon_sandbox(c, name, ret, err) == 0)
		return 0;
	if (err->code != SB_NOTFOUND)
		return -1;
	return daemon_call(c, "POST", path, body, ret, err);
}

static int start(struct ctl *c, const struct request *r, json_t **ret,
		 struct sb_err *err)
{
	autojson json_t *body = NULL;

	if (request_body(r, &body, err) || post(c, r->name, body, ret, err))
		return -1;
	if (strcmp(json_str_or(*ret, "network", "none"), "open") == 0)
		out_note("warning: with an open network the guest reaches the "
			 "outside, and the host's own loopback at 10.0.2.2");
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *sandbox = NULL, *ready = NULL;
	struct request r = *(const struct request *)a->values;
	time_t begin = time(NULL);
	int cancel_fd, sig, rc = 0;

	r.name = a->argc ? a->argv[0] : NULL;
	cancel_fd = interrupt_begin(err);
	if (cancel_fd < 0)
		return -1;
	rc = start(c, &r, &sandbox, err);
	if (rc == 0 && !r.no_wait)
		rc = wait_ready(c, sandbox, cancel_fd, &ready, err);
	sig = interrupt_end(cancel_fd);
	if (sig)
		return sandbox && undo(c, sandbox, begin, err) ? -1 : 128 + sig;
	if (rc)
		return -1;
	if (c->json)
		out_json(ready ? ready : sandbox);
	else if (r.no_wait)
		print_started(sandbox);
	return 0;
}

const struct cmd cmd_up = {
	.name = "up",
	.section = "Sandboxes",
	.args = "[NAME]",
	.summary = "start a sandbox and wait until it is ready",
	.detail =
		"Without a NAME sandboxd makes one up. What is not given comes "
		"from the template, then from the built-in defaults. A sandbox "
		"that was kept by --preserve is started again. Ctrl-C removes "
		"what was begun.",
	.examples = "sandboxctl up demo\n"
		    "sandboxctl up demo --cpus 2 --memory 2G --ttl 30m\n"
		    "sandboxctl up web -p 8080:80 --mount \"$PWD\":/src:ro",
	.opts = opts,
	.values = sizeof(struct request),
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run,
};
