/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of sandboxd. */
#include "config.h"

#include "host/api.h"

const struct http_table api_routes[] = {
	{ "sandboxes", "Making, seeing and ending sandboxes", sandbox_routes },
	{ "ports", "Forwards from the host into a sandbox", port_routes },
	{ "logs", "What a sandbox and its machine wrote", log_routes },
	{ "console", "Eyes that need nothing of the guest", console_routes },
	{ "pages", "Desktops and terminals in a browser", page_routes },
	/* After all that is below the path of a sandbox. */
	{ "guest", "What the sandbox itself answers", proxy_routes },
	{ "images", "What sandboxes are made of", image_routes },
	{ "system", "The daemon and its host", system_routes },
	{ "docs", "This description", httpd_docs_routes },
	{ 0 },
};
