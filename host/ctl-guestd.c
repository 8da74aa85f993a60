/* SPDX-License-Identifier: Apache-2.0 */
/* The line from sandboxctl to a sandbox's guestd. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-guestd.h"

#define MAX_PORT 65535

/* "http://127.0.0.1:40001" */
static int parse_url(const char *url, struct guestd_at *ret)
{
	static const char scheme[] = "http://";
	const char *host = url + strlen(scheme), *colon;
	long long port;

	if (!str_starts(url, scheme))
		return -1;
	colon = strrchr(host, ':');
	if (!colon || parse_num(colon + 1, 1, MAX_PORT, &port) < 0)
		return -1;
	ret->host = xstrndup(host, colon - host);
	ret->port = (int)port;
	return 0;
}

int guestd_find(const json_t *sandbox, struct guestd_at *ret,
		struct sb_err *err)
{
	const char *file = json_str_or(sandbox, "token_file", "");

	*ret = (struct guestd_at){ 0 };
	if (parse_url(json_str_or(sandbox, "url", ""), ret) < 0)
		return sb_fail(err, SB_MISSING,
			       "sandboxd forwards no port to guestd");
	if (fs_read_line(file, &ret->token, err) == 0)
		return 0;
	guestd_at_done(ret);
	return -1;
}

void guestd_at_done(struct guestd_at *at)
{
	util_free(&at->host);
	util_free(&at->token);
}

int guestd_open(const struct guestd_at *at, int timeout_ms, int cancel_fd,
		struct hclient **ret, struct sb_err *err)
{
	if (hclient_open_tcp(at->host, at->port, timeout_ms, ret, err) < 0)
		return -1;
	hclient_set_token(*ret, at->token);
	hclient_set_cancel(*ret, cancel_fd);
	return 0;
}

int guestd_reach(const struct guestd_at *at, int cancel_fd,
		 struct hclient **ret, struct sb_err *err)
{
	autohclient struct hclient *c = NULL;

	if (guestd_open(at, GUESTD_ANSWER_MS, cancel_fd, &c, err) < 0 ||
	    hclient_json(c, "GET", "/livez", NULL, NULL, err) < 0)
		return -1;
	*ret = steal(&c);
	return 0;
}
