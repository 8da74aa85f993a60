/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The files of a page, from a folder of the bundle.  Which files there are is
 * looked up once, and a request can only name one of these: what is not in the
 * table does not exist, whatever the path looks like.
 */

#include "common/httpd.h"

struct static_site;

/* dir is looked at when first asked for; it may be missing. */
struct static_site *static_site_new(const char *dir);
void static_site_free(struct static_site *s);

/*
 * Answer with the file of that name below dir ("" is index.html), with its
 * ETag; 404 if there is none.  csp is the Content-Security-Policy of pages.
 */
void static_reply(struct static_site *s, struct http_req *req /* takes */,
		  const char *name, const char *csp);

/*
 * What follows prefix, such as "/terminal", in the request's path.  NULL when
 * nothing does, not even the slash that relative links need: the request is
 * then answered by a redirection.
 */
const char *static_name(struct http_req *req /* takes */, const char *prefix);
