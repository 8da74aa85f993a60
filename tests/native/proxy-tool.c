/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API of sandboxd with sandboxes that need no machine, on a UNIX socket and
 * on a TCP port: proxy-tool [-d] DIR TOKEN NAME=STATE[:PORT]...
 * PORT is where guestd is, or what is said to be one.  With -d the sockets are
 * those that sandboxd would have, and TCP asks for its token.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/static.h"
#include "common/util.h"
#include "host/api.h"
#include "host/daemon.h"
#include "host/door.h"
#include "host/paths.h"

static void add(struct daemon *d, const char *token, char *arg)
{
	const char *name = strsep(&arg, "="), *state = strsep(&arg, ":");
	struct sandbox *sb;
	struct spec spec;

	spec_init(&spec);
	spec.name = xstrdup(name);
	sb = sandbox_new(d->state_dir, &spec);
	spec_done(&spec);
	snprintf(sb->token, sizeof(sb->token), "%s", token);
	sb->state = sandbox_state_of(state ? state : "");
	if (sb->state == SANDBOX_FAILED) {
		sb_fail(&sb->cause, SB_GUEST, "it fell over");
		sb_hint(&sb->cause, "put it up");
	}
	if (arg)
		sb->ports[sb->nports++] =
			(struct sandbox_port){ atoi(arg), 8765, "guestd" };
	TAILQ_INSERT_TAIL(&d->sandboxes, sb, entry);
}

static int listen_tcp(struct daemon *d, bool door, struct sb_err *err)
{
	int port;

	if (door) {
		if (door_open(d, 0, err) < 0)
			return -1;
		port = atoi(strrchr(door_url(d->door), ':') + 1);
	} else if (httpd_listen_tcp(d->httpd, "127.0.0.1", 0, &port, err) < 0) {
		return -1;
	}
	printf("listening on port %d\n", port);
	fflush(stdout);
	return 0;
}

static void serve(struct daemon *d, bool door)
{
	autofree char *path = door ? paths_socket()
				   : xasprintf("%s/sock", d->state_dir);
	const struct httpd_config cfg = { .routes = api_routes,
					  .ctx = d,
					  .server = "sandboxd/test",
					  .max_body = 1 << 20,
					  .authorize = door ? door_authorize
							    : NULL };
	struct sb_err err;

	d->loop = loop_new();
	d->httpd = httpd_new(d->loop, &cfg, &err);
	if (!d->httpd || httpd_listen_unix(d->httpd, path, &err) < 0 ||
	    listen_tcp(d, door, &err) < 0) {
		fprintf(stderr, "proxy-tool: %s\n", err.msg);
		exit(1);
	}
	loop_run(d->loop);
	httpd_free(d->httpd);
	door_free(d->door);
	for (size_t i = 0; i < DAEMON_PAGES; i++)
		static_site_free(d->pages[i]);
	loop_free(d->loop);
}

int main(int argc, char **argv)
{
	struct daemon d = { 0 };
	struct sandbox *sb;
	bool door = argc > 1 && strcmp(argv[1], "-d") == 0;

	argc -= door;
	argv += door;
	if (argc < 4)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	TAILQ_INIT(&d.sandboxes);
	LIST_INIT(&d.subscribers);
	LIST_INIT(&d.followers);
	d.state_dir = argv[1];
	for (int i = 3; i < argc; i++)
		add(&d, argv[2], argv[i]);
	d.bundle_dir = paths_bundle();
	serve(&d, door);
	free(d.bundle_dir);
	while ((sb = TAILQ_FIRST(&d.sandboxes))) {
		TAILQ_REMOVE(&d.sandboxes, sb, entry);
		sandbox_free(sb);
	}
	return 0;
}
