/* SPDX-License-Identifier: Apache-2.0 */
/* The commands for a sandbox's desktop: their line to its guestd. */
#include "config.h"

#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "host/ctl-daemon.h"
#include "host/ctl-desk.h"
#include "host/ctl-exec.h"
#include "host/ctl-guest.h"

#define START_MS 60000
#define LOOK_MS 100

int desk_open(struct ctl *c, const char *name, int cancel_fd, struct desk *ret,
	      struct sb_err *err)
{
	*ret = (struct desk){ 0 };
	if (guest_find(c, name, &ret->sandbox, err) < 0 ||
	    guestd_find(ret->sandbox, &ret->at, err) < 0)
		return -1;
	if (guestd_reach(&ret->at, cancel_fd, &ret->guestd, err) < 0) {
		if (!exec_unreachable(err))
			return -1;
		sb_wrap(err, "guestd of '%s' does not answer", name);
		return sb_hint(err,
			       "sandboxctl screenshot %s --console shows the "
			       "machine's console without it",
			       name);
	}
	/* A guest that is emulated takes its time for a picture. */
	hclient_set_timeout(ret->guestd, DAEMON_CALL_MS);
	return 0;
}

/* Whether it will be up in a moment. */
static bool is_starting(const struct desk *d)
{
	autojson json_t *info = NULL;

	return hclient_json(d->guestd, "GET", "/v1/screen/info", NULL, &info,
			    NULL) == 0 &&
	       strcmp(json_str_or(info, "state", ""), "starting") == 0;
}

void desk_await(const struct desk *d, int cancel_fd)
{
	int64_t until = clock_ms() + START_MS;
	struct pollfd p = { .fd = cancel_fd, .events = POLLIN };

	while (is_starting(d) && clock_left(until) > 0)
		if (poll(&p, 1, LOOK_MS) > 0)
			return;
}

int desk_open_up(struct ctl *c, const char *name, struct desk *ret,
		 struct sb_err *err)
{
	if (desk_open(c, name, -1, ret, err) < 0)
		return -1;
	desk_await(ret, -1);
	return 0;
}

void desk_done(struct desk *d)
{
	hclient_free(d->guestd);
	guestd_at_done(&d->at);
	json_decref(d->sandbox);
}
