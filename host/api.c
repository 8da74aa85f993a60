/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of sandboxd. */
#include "config.h"

#include "host/api.h"

/* clang-format off */
const struct http_route api_routes[] = {
	{ "GET", "/health", api_health, HTTP_PUBLIC,
	  "Whether the daemon is well", { "/livez", "/readyz" } },
	{ "GET", "/metrics", api_metrics, 0,
	  "Counters for Prometheus" },
	{ "GET", "/v1/openapi.json", api_openapi, 0,
	  "This API as OpenAPI 3.1" },
	{ "GET", "/v1/events", api_events, 0,
	  "State changes as Server-Sent Events" },
	{ "GET", "/v1/doctor", api_doctor, 0,
	  "What the daemon finds wrong with this host" },
	{ "GET", "/v1/templates", api_templates, 0,
	  "The templates that can be named" },

	{ "POST", "/v1/sandboxes", api_sandbox_create, 0,
	  "Make a sandbox, or boot a stopped one again" },
	{ "GET", "/v1/sandboxes", api_sandbox_list, 0,
	  "All sandboxes, or those with a label or state" },
	{ "GET", "/v1/sandboxes/{id}", api_sandbox_get, 0,
	  "One sandbox, by id or name" },
	{ "DELETE", "/v1/sandboxes/{id}", api_sandbox_delete, 0,
	  "Let a sandbox vanish, from any state" },
	{ "POST", "/v1/sandboxes/{id}/pause", api_sandbox_pause, 0,
	  "Stop the clock of a sandbox" },
	{ "POST", "/v1/sandboxes/{id}/resume", api_sandbox_resume, 0,
	  "Let a paused sandbox go on" },
	{ "POST", "/v1/sandboxes/{id}/ttl", api_sandbox_ttl, 0,
	  "Set how long a sandbox still lives" },
	{ "GET", "/v1/sandboxes/{id}/ports", api_ports_list, 0,
	  "The port forwards of a sandbox" },
	{ "POST", "/v1/sandboxes/{id}/ports", api_ports_add, 0,
	  "Forward another port" },
	{ "DELETE", "/v1/sandboxes/{id}/ports/{host}", api_ports_remove, 0,
	  "Take a port forward away" },
	{ "GET", "/v1/sandboxes/{id}/logs", api_logs, 0,
	  "The serial console's, guestd's or QEMU's log" },

	{ "GET", "/v1/images", api_image_list, 0,
	  "All images, built or not" },
	{ "POST", "/v1/images", api_image_make, 0,
	  "Build or import an image; progress as Server-Sent Events" },
	{ "GET", "/v1/images/{name}", api_image_get, 0,
	  "One image" },
	{ "DELETE", "/v1/images/{name}", api_image_delete, 0,
	  "Remove an image" },
	{ 0 },
};
/* clang-format on */
