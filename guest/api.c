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
	{ "vnc", "The desktop, live", vnc_routes },
	{ "recordings", "Films of the screen", record_routes },
	{ "files", "Files and folders", files_routes },
	{ "screen", "The desktop: pictures of it, its size, its windows",
	  screen_routes },
	{ "input", "Mouse, keyboard", input_routes },
	{ "clipboard", "What was copied", clipboard_routes },
	{ "actions", "What models that use computers ask for", action_routes },
	{ "run", "Code in a kernel that keeps its state", run_routes },
	{ "jupyter", "The kernel gateway, as Jupyter's clients know it",
	  jupyter_routes },
	{ "lab", "JupyterLab, on these kernels", lab_routes },
	{ "ports", "Kernels' sockets, for clients that speak ZeroMQ",
	  port_routes },
	{ "docs", "This description", httpd_docs_routes },
	{ 0 },
};
