/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that guestd can be asked for. */
#include "config.h"

#include <stddef.h>

#include "guest/api.h"

const struct http_route guestd_routes[] = {
	/* clang-format off */
	{ "GET", "/health", get_health, HTTP_PUBLIC,
	  "Whether guestd is alive", { "/livez" } },
	{ "GET", "/readyz", get_ready, HTTP_PUBLIC,
	  "Whether everything that was asked for is up", { NULL } },
	{ "GET", "/v1/sandbox", get_sandbox, 0,
	  "Facts about this machine", { NULL } },
	{ "GET", "/v1/openapi.json", get_openapi, 0,
	  "This description", { NULL } },
	{ "GET", "/metrics", get_metrics, 0,
	  "Figures for Prometheus", { NULL } },

	{ "GET", "/v1/logs", get_logs, 0,
	  "What guestd has logged, and goes on logging", { NULL } },
	{ "POST", "/v1/tickets", post_ticket, 0,
	  "Make a one-time ticket for a URL", { "/tickets" } },

	{ "POST", "/v1/shell/exec", post_shell_exec, 0,
	  "Run a command and answer when it has ended",
	  { "/shell/exec", "/v1/bash/exec" } },
	{ "POST", "/v1/shell/stream", post_shell_stream, 0,
	  "Run a command and send its output as events",
	  { "/shell/stream", "/v1/bash/exec/stream" } },

	{ "POST", "/v1/code/execute", post_code, 0,
	  "Run code of a language and answer when it has ended",
	  { "/code/execute" } },

	{ "GET", "/v1/processes", get_processes, 0,
	  "Running and recently ended commands", { NULL } },
	{ "GET", "/v1/processes/{id}", get_process, 0,
	  "One command", { NULL } },
	{ "DELETE", "/v1/processes/{id}", delete_process, 0,
	  "Kill a command and all of its group", { NULL } },
	{ "GET", "/v1/processes/{id}/output", get_process_output, 0,
	  "Output of a command from any byte on", { NULL } },
	{ "POST", "/v1/processes/{id}/stdin", post_process_stdin, 0,
	  "Give a command something to read", { NULL } },
	{ "POST", "/v1/processes/{id}/signal", post_process_signal, 0,
	  "Send a signal to a command and all of its group", { NULL } },

	{ "GET", "/v1/terminals", get_terminals, 0,
	  "Open and recently ended terminals", { NULL } },
	{ "POST", "/v1/terminals", post_terminal, 0,
	  "Open a terminal", { NULL } },
	{ "GET", "/v1/terminals/{id}", get_terminal, 0,
	  "One terminal", { NULL } },
	{ "DELETE", "/v1/terminals/{id}", delete_terminal, 0,
	  "Hang up on a terminal and kill all that runs in it", { NULL } },
	{ "GET", "/v1/terminal/ws", get_terminal_ws, 0,
	  "WebSocket of a terminal, a new one if no id is given", { NULL } },
	{ "GET", "/terminal", get_terminal_page, HTTP_PUBLIC,
	  "The page of a terminal, for browsers", { "/terminal/{file}" } },
	{ NULL, NULL, NULL, 0, NULL, { NULL } },
	/* clang-format on */
};
