/* SPDX-License-Identifier: Apache-2.0 */
/* The client on any bytes that a server may send; first byte: what is asked. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/hclient.h"
#include "common/util.h"
#include "tests/fuzz/fuzz.h"

/* What a socket takes without a reader. */
#define MAX_REPLY (64 * 1024)

static int listen_fd = -1;
static struct sockaddr_un sa = { .sun_family = AF_UNIX };

static void remove_socket(void)
{
	unlink(sa.sun_path);
}

static void start_listening(void)
{
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/tmp/sandbox-fuzz-%d.sock",
		 (int)getpid());
	unlink(sa.sun_path);
	listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listen_fd < 0 ||
	    bind(listen_fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(listen_fd, 1) < 0)
		abort();
	atexit(remove_socket);
}

static int on_data(void *arg, const char *data, size_t len)
{
	return 0;
}

static int on_event(void *arg, const char *event, const char *data)
{
	return strlen(event) + strlen(data) == 3;
}

static void ask(struct hclient *c, uint8_t what)
{
	struct sb_err err;
	json_t *j = NULL;

	switch (what % 3) {
	case 0:
		hclient_json(c, "GET", "/", NULL, &j, &err);
		json_decref(j);
		break;
	case 1:
		hclient_stream(c, "/", on_data, NULL, &err);
		break;
	case 2:
		hclient_events(c, "/", on_event, NULL, &err);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hclient *c;
	struct sb_err err;
	int fd;

	if (listen_fd < 0)
		start_listening();
	if (len < 1 || len > MAX_REPLY)
		return 0;
	if (hclient_open_unix(sa.sun_path, 1000, &c, &err) < 0)
		abort();
	fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || fs_write_all(fd, data + 1, len - 1) < 0)
		abort();
	shutdown(fd, SHUT_WR);
	ask(c, data[0]);
	ask(c, data[0] + 1); /* what is left, if anything */
	close(fd);
	hclient_free(c);
	return 0;
}
