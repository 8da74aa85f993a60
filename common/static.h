/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The files of a page, from a folder of the guest's bundle, which the host has,
 * too.  Which files there are is looked up once, and a request can only name one
 * of these: what is not in the table does not exist, whatever the path looks
 * like.
 */

#include "common/httpd.h"

struct static_site;

/* What the pages may do, as a Content-Security-Policy: of terminals, and of a
 * desktop, whose canvas noVNC styles by itself. */
extern const char static_csp_terminal[], static_csp_vnc[];

/* dir is looked at when first asked for; it may be missing.  csp is for all
 * that is in it, and must last. */
struct static_site *static_site_new(const char *dir, const char *csp);
void static_site_free(struct static_site *s);

/*
 * Answer with the file of that name below dir ("" is index.html), with its
 * ETag; 404 if there is none.
 */
void static_reply(struct static_site *s, struct http_req *req /* takes */,
		  const char *name);

/* What a page and its files are answered with, for the tables of routes. */
extern const struct http_answer static_page_out[], static_file_out[];

/* Whether there is a file of that name. */
bool static_has(struct static_site *s, const char *name);

/*
 * What follows prefix, such as "/terminal", in the request's path.  NULL when
 * nothing does, not even the slash that relative links need: the request is
 * then answered by a redirection.
 */
const char *static_name(struct http_req *req /* takes */, const char *prefix);
