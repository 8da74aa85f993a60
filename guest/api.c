/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that guestd can be asked for. */
#include "config.h"

#include "guest/api.h"

const struct http_table guestd_routes[] = {
	{ "system", "The machine and guestd itself", system_routes },
	{ "auth", "Who may ask", auth_routes },
	{ "logs", "What guestd has logged", log_routes },
	{ "shell", "Commands of the shell", shell_routes },
	{ "code", "Programs in many languages", code_routes },
	{ "processes", "What runs or ran: output, input, signals",
	  process_routes },
	{ "terminals", "Interactive programs, over WebSockets",
	  terminal_routes },
	{ "files", "Files and folders", files_routes },
	{ "run", "Code in a kernel that keeps its state", run_routes },
	{ "jupyter", "The kernel gateway, as Jupyter's clients know it",
	  jupyter_routes },
	{ "docs", "This description", httpd_docs_routes },
	{ 0 },
};
