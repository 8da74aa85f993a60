/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All below /v1/sandboxes/{id} that is not ours is the guest's: it is passed on
 * to its guestd, which gets the token of the sandbox and nothing that the
 * caller has to show to us.  What comes back is hostile.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/httpd-proxy.h"
#include "common/util.h"
#include "host/api.h"
#include "host/api-util.h"

/* As long as the longest command may take; who does not wait that long
 * leaves, and that ends it. */
#define REPLY_MS (7 * 24 * 3600 * 1000)

static int not_ready(const struct sandbox *sb, struct sb_err *err)
{
	const char *state = sandbox_state_name(sb->state);

	switch (sb->state) {
	case SANDBOX_CREATING:
	case SANDBOX_BOOTING:
	case SANDBOX_INSTALLING:
		sb_fail(err, SB_BUSY, "sandbox '%s' is %s, not ready", sb->name,
			state);
		return sb_hint(err, "try again in a second, or wait for its "
				    "'ready' in GET /v1/events");
	case SANDBOX_PAUSED:
		sb_fail(err, SB_CONFLICT, "sandbox '%s' is paused", sb->name);
		return sb_hint(err, "sandboxctl resume %s", sb->name);
	case SANDBOX_FAILED:
	case SANDBOX_STOPPED:
		sb_fail(err, SB_CONFLICT, "sandbox '%s' is %s%s%s", sb->name,
			state, sb->cause.msg[0] ? ": " : "", sb->cause.msg);
		if (sb->cause.hint[0])
			return sb_hint(err, "%s", sb->cause.hint);
		return sb_hint(err, "sandboxctl up %s", sb->name);
	default:
		return sb_fail(err, SB_CONFLICT, "sandbox '%s' is %s", sb->name,
			       state);
	}
}

static int find_port(const struct sandbox *sb, int *ret, struct sb_err *err)
{
	if (sb->state != SANDBOX_READY)
		return not_ready(sb, err);
	*ret = sandbox_port_of(sb, "guestd");
	if (!*ret)
		return sb_fail(err, SB_MISSING,
			       "no port of sandbox '%s' leads to its guestd",
			       sb->name);
	return 0;
}

/* How long "/v1/sandboxes/{id}" is, as the caller has written it. */
static size_t prefix_len(const char *target)
{
	const char *p = target;

	for (int i = 0; i < 3; i++)
		p += 1 + strcspn(p + 1, "/");
	return p - target;
}

static void any_guest(struct http_req *req)
{
	autofree char *target = NULL, *below = NULL, *name = NULL, *hint = NULL;
	char bearer[sizeof("Bearer ") + TOKEN_LEN];
	struct http_proxy proxy = { .host = "localhost", .reply_ms = REPLY_MS };
	struct sandbox *sb;
	struct sb_err err;

	if (api_find(req, &sb) < 0)
		return;
	if (find_port(sb, &proxy.port, &err) < 0) {
		if (err.code == SB_BUSY)
			http_set_header(req, "Retry-After", "1");
		http_fail(req, &err);
		return;
	}
	target = http_proxy_target(req);
	below = xstrndup(target, prefix_len(target));
	name = xasprintf("the guestd of sandbox '%s'", sb->name);
	hint = xasprintf("sandboxctl logs %s --source guestd shows its log",
			 sb->name);
	snprintf(bearer, sizeof(bearer), "Bearer %s", sb->token);
	proxy.name = name;
	proxy.hint = hint;
	proxy.addr = sandbox_address(sb);
	proxy.target = target + strlen(below);
	proxy.authorization = bearer;
	proxy.below = below;
	http_proxy(req, &proxy);
}

static const struct http_field guest_in[] = {
	API_SANDBOX_ID,
	{ "rest", HTTP_STR, "A path of guestd's, such as v1/shell/exec",
	  HTTP_PATH },
	{ 0 },
};

static const struct http_answer guest_out[] = {
	{ 200, "What guestd answers, with any status", .type = "*/*" },
	{ 0 },
};

/* clang-format off */
const struct http_route proxy_routes[] = {
	{ HTTP_ANY, "/v1/sandboxes/{id}/{rest...}", any_guest,
	  HTTP_STREAM_BODY | HTTP_LENIENT,
	  "Ask the guestd of a ready sandbox", { NULL }, guest_in, guest_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_MISSING, SB_GUEST, SB_BUSY,
	    SB_TIMEOUT },
	  .text = "Requests and WebSockets are passed on as they are, with the "
		  "sandbox's token in place of the caller's credentials. GET "
		  "/v1/sandboxes/{id}/v1/openapi.json describes what there "
		  "is." },
	{ 0 },
};
/* clang-format on */
