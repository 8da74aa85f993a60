/* SPDX-License-Identifier: Apache-2.0 */
/* A command in a guest, through guestd: its start, output and end. */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-run.h"

#define START_MS 60000
/* After so long without output we look whether the guest is still there. */
#define QUIET_MS 60000
/* How long a lost connection is tried again, and how often. */
#define LOST_MS 10000
#define RETRY_MS 100

struct run {
	const struct guestd_at *at;
	const struct guest_run *r;
	struct hclient *client;
	char *id; /* NULL: not known to have started */
	uint64_t offset;
	int status;  /* -1: it runs */
	bool failed; /* push did; err has it */
	int lost_fd;
	struct feeder *feeder;
	struct sb_err *err;
};

static bool is_id(const char *id)
{
	return *id && strspn(id, "0123456789abcdef") == strlen(id);
}

static int on_start(struct run *u, const json_t *j)
{
	const char *id = json_str_or(j, "id", "");

	if (u->id)
		return 0;
	if (!is_id(id)) {
		u->failed = true;
		sb_fail(u->err, SB_GUEST, "guestd names no process");
		return 1;
	}
	u->id = xstrdup(id);
	hclient_set_timeout(u->client, QUIET_MS);
	hclient_set_cancel(u->client, u->lost_fd);
	u->feeder = feeder_start(u->at, u->r, u->id, u->lost_fd);
	return 0;
}

static int on_exit_frame(struct run *u, const json_t *j)
{
	u->status = (int)(json_int_or(j, "exit_code", 255) & 0xff);
	if (json_bool_or(j, "truncated", false)) {
		u->failed = true;
		sb_fail(u->err, SB_NOSPACE,
			"the guest had no room for all of the output");
	}
	return 1;
}

static int on_frame(void *arg, char letter, const char *data, size_t len)
{
	struct run *u = arg;
	autojson json_t *j = NULL;

	switch (letter) {
	case FRAME_STDOUT:
	case FRAME_STDERR:
		u->offset += len;
		u->failed = u->r->push(u->r->arg, letter - '0', data, len,
				       u->err) < 0;
		return u->failed;
	case FRAME_START:
	case FRAME_EXIT:
		if (json_parse(data, len, &j, NULL) < 0)
			j = json_object();
		return letter == FRAME_START ? on_start(u, j)
					     : on_exit_frame(u, j);
	default:
		return 0;
	}
}

static int on_data(void *arg, const char *data, size_t len)
{
	struct frame_reader *r = arg;
	struct run *u = r->arg;
	int rc = frame_feed(r, data, len, u->err);

	u->failed = u->failed || rc < 0;
	return rc;
}

/* One connection's worth of output; 0 once it is known how it ended. */
static int follow(struct run *u, const char *method, const char *path,
		  const json_t *body, struct sb_err *err)
{
	struct frame_reader r = { .on_frame = on_frame, .arg = u };
	int rc = hclient_send_stream(u->client, method, path, body, on_data, &r,
				     err);

	frame_done(&r);
	if (u->status >= 0 || u->failed)
		return 0;
	return rc < 0 ? -1 : sb_fail(err, SB_SYSTEM, "guestd ended the stream");
}

static bool is_lost(const struct sb_err *err)
{
	return err->code == SB_SYSTEM || err->code == SB_TIMEOUT;
}

static int try_again(struct run *u, struct sb_err *err)
{
	autofree char *path = xasprintf(
		"/v1/processes/%s/output?follow=true&format=frames&offset=%llu",
		u->id, (unsigned long long)u->offset);

	hclient_free(steal(&u->client));
	if (guestd_reach(u->at, u->lost_fd, &u->client, err) < 0)
		return -1;
	hclient_set_timeout(u->client, QUIET_MS);
	return follow(u, "GET", path, NULL, err);
}

/* Go on after the connection was lost, as often as that brings news. */
static int go_on(struct run *u, struct sb_err *err)
{
	int64_t deadline = clock_ms() + LOST_MS;

	while (u->id && is_lost(err)) {
		uint64_t before = u->offset;
		int64_t begin = clock_ms();

		if (try_again(u, err) == 0)
			return 0;
		if (u->offset > before || clock_ms() - begin >= QUIET_MS)
			deadline = clock_ms() + LOST_MS;
		if (clock_left(deadline) <= 0)
			break;
		poll(NULL, 0, RETRY_MS);
	}
	if (u->id && is_lost(err))
		return sb_wrap(err, "lost the guest while the command ran");
	return -1;
}

/* The client was told to stop: the command ends as if ssh had been. */
static void hang_up(struct run *u)
{
	struct sb_err ignored;

	if (u->id && u->status < 0)
		guest_signal(u->at, u->id, SIGHUP, -1, &ignored);
}

static int end_run(struct run *u, int rc, struct sb_err *err)
{
	struct sb_err why;

	if (u->failed)
		rc = -1;
	if (rc < 0)
		hang_up(u);
	/* What the other thread met is the reason for our being cancelled. */
	if (feeder_end(u->feeder, &why) < 0 && rc < 0 && !u->failed)
		*err = why;
	hclient_free(u->client);
	free(u->id);
	return rc;
}

int guest_run(const struct guestd_at *at, const struct guest_run *r,
	      bool *ret_started, int *ret_status, struct sb_err *err)
{
	autoclose int lost = eventfd(0, EFD_CLOEXEC);
	struct run u = { .at = at, .r = r, .status = -1, .err = err };
	int rc;

	*ret_started = false;
	if (lost < 0)
		return sb_fail(err, SB_SYSTEM, "eventfd: %m");
	u.lost_fd = lost;
	if (guestd_reach(at, r->signal_fd, &u.client, err) < 0)
		return -1;
	hclient_set_timeout(u.client, START_MS);
	*ret_started = true;
	rc = follow(&u, "POST", "/v1/shell/stream?format=frames", r->body, err);
	if (rc < 0 && !u.id && !is_lost(err) && err->code != SB_CANCELLED)
		*ret_started = false; /* it was refused */
	if (rc < 0)
		rc = go_on(&u, err);
	rc = end_run(&u, rc, err);
	*ret_status = u.status;
	return rc;
}
