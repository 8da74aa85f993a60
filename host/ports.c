/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of the host. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util.h"
#include "host/ports.h"

#define TRIES 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t taken[65536 / 8];

static bool is_taken(int port)
{
	return taken[port / 8] & (1 << port % 8);
}

void ports_adopt(int port)
{
	pthread_mutex_lock(&lock);
	taken[port / 8] |= 1 << port % 8;
	pthread_mutex_unlock(&lock);
}

void ports_release(int port)
{
	pthread_mutex_lock(&lock);
	taken[port / 8] &= ~(1 << port % 8);
	pthread_mutex_unlock(&lock);
}

/*
 * Bind port on addr and let go of it again: the number, or -1 with errno.
 * SO_REUSEADDR, as QEMU sets it, so that connections in TIME_WAIT do not count.
 */
static int try_bind(const char *addr, int port)
{
	autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	socklen_t len = sizeof(sa);
	int one = 1;

	if (fd < 0)
		return -1;
	if (inet_pton(AF_INET, addr, &sa.sin_addr) != 1) {
		errno = EINVAL;
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return -1;
	return ntohs(sa.sin_port);
}

/* Under the lock: a free port that nobody has chosen, marked; or -1. */
static int pick(const char *addr, int port)
{
	for (int i = 0; i < (port ? 1 : TRIES); i++) {
		int got;

		if (port && is_taken(port)) {
			errno = EADDRINUSE;
			return -1;
		}
		got = try_bind(addr, port);
		if (got < 0)
			return -1;
		if (is_taken(got))
			continue;
		taken[got / 8] |= 1 << got % 8;
		return got;
	}
	errno = EADDRINUSE;
	return -1;
}

int ports_reserve(const char *addr, int port, bool fallback, int *ret_port,
		  struct sb_err *err)
{
	int got, why;

	pthread_mutex_lock(&lock);
	got = pick(addr, port);
	why = errno;
	if (got < 0 && port && fallback && why == EADDRINUSE) {
		got = pick(addr, 0);
		why = errno;
	}
	pthread_mutex_unlock(&lock);
	if (got >= 0) {
		*ret_port = got;
		return 0;
	}
	errno = why;
	if (why == EADDRINUSE && port) {
		sb_fail(err, SB_CONFLICT, "port %d on %s is in use", port,
			addr);
		return sb_hint(err, "choose another, 0 for any free one, or "
				    "--auto-ports to move on when it is busy");
	}
	return sb_fail(err, sb_code_of_errno(why),
		       "cannot listen on %s port %d: %m", addr, port);
}
