/* SPDX-License-Identifier: Apache-2.0 */
/* JupyterLab as a server that comes and goes. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/log.h"
#include "guest/lab.h"

#define VENV_PROGRAM "/opt/jupyterlab/bin/jupyter-lab"
#define CHECK_MS 100
#define START_MS 180000 /* Python is slow to start where nothing is cached */
#define RETRY_MS 3000	/* after a failure */
#define IDLE_S "3600"

struct lab {
	struct lab_config cfg;
	char *socket;
	uid_t uid;
	struct process *process; /* NULL: not started by us */
	struct process_watch watch;
	bool ready;
	int64_t began_ms, failed_ms;
	struct sb_err failed; /* when failed_ms is set */
	struct loop_timer *timer;
};

static void check(void *arg);

struct lab *lab_new(const struct lab_config *cfg)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));

	lab->cfg = *cfg;
	lab->socket = xasprintf("%s/lab/socket", cfg->run_dir);
	lab->timer = loop_timer_new(cfg->loop, check, lab);
	return lab;
}

static void forget(struct lab *lab)
{
	process_unwatch(&lab->watch);
	process_unref(steal(&lab->process));
	loop_timer_clear(lab->timer);
	lab->ready = false;
}

void lab_free(struct lab *lab)
{
	if (!lab)
		return;
	if (lab->process) {
		/* It has nothing to lose, and asked to end it may hang. */
		process_signal(lab->process, SIGKILL, NULL);
		unlink(lab->socket);
		forget(lab);
	}
	loop_timer_free(lab->timer);
	free(lab->socket);
	free(lab);
}

const char *lab_socket(const struct lab *lab)
{
	return lab->socket;
}

uid_t lab_uid(const struct lab *lab)
{
	return lab->uid;
}

/* Whether someone answers on the socket: the right one. */
static bool is_served(const struct lab *lab)
{
	autoclose int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (strlen(lab->socket) >= sizeof(sa.sun_path))
		return false;
	strcpy(sa.sun_path, lab->socket);
	return fd >= 0 &&
	       connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
	       cred.uid == lab->uid;
}

static void fail(struct lab *lab, enum sb_code code, const char *why)
{
	sb_fail(&lab->failed, code, "JupyterLab did not start: %s", why);
	sb_hint(&lab->failed, "GET /v1/processes/%s/output shows what it said",
		process_id(lab->process));
	log_warn("%s", lab->failed.msg);
	lab->failed_ms = clock_ms();
}

static void check(void *arg)
{
	struct lab *lab = arg;

	if (is_served(lab)) {
		lab->ready = true;
		log_info("JupyterLab is up after %lld ms",
			 (long long)(clock_ms() - lab->began_ms));
	} else if (clock_ms() - lab->began_ms > START_MS) {
		fail(lab, SB_TIMEOUT, "it took too long");
		process_signal(lab->process, SIGKILL, NULL);
		forget(lab);
	} else {
		loop_timer_set(lab->timer, CHECK_MS);
	}
}

static void on_process(void *arg)
{
	struct lab *lab = arg;
	struct process_status st;

	process_get_status(lab->process, &st);
	if (st.running)
		return;
	if (!lab->ready)
		fail(lab, SB_GUEST, "it ended at once");
	else
		log_info("JupyterLab has ended");
	forget(lab);
}

static int find_program(const struct lab *lab, const struct spawn_as *as,
			char **ret, struct sb_err *err)
{
	*ret = lab->cfg.program ? xstrdup(lab->cfg.program)
				: spawn_as_find(as, "jupyter-lab");
	if (!*ret && access(VENV_PROGRAM, X_OK) == 0)
		*ret = xstrdup(VENV_PROGRAM);
	if (*ret && access(*ret, X_OK) == 0)
		return 0;
	free(steal(ret));
	sb_fail(err, SB_NOTFOUND, "JupyterLab is not installed here");
	return sb_hint(err, "use an image that has it, such as 'full', or "
			    "install it: python3 -m venv /opt/jupyterlab && "
			    "/opt/jupyterlab/bin/pip install jupyterlab");
}

/* A folder of its user's, with nothing in it that is not his. */
static int make_folder(const struct lab *lab, const struct spawn_as *as,
		       struct sb_err *err)
{
	autofree char *dir = xasprintf("%s/lab", lab->cfg.run_dir);
	struct sockaddr_un sa;

	if (strlen(lab->socket) >= sizeof(sa.sun_path))
		return sb_fail(err, SB_INVALID,
			       "the folder '%s' has too long a name for a "
			       "socket in it",
			       dir);
	if (fs_mkdirs(dir, 0700, err) < 0)
		return -1;
	unlink(lab->socket);
	return spawn_as_own(as, dir, err);
}

/* Our settings come before the system's, and after the user's. */
static void add_config(const struct lab *lab, struct spawn_as *as)
{
	const char *old = spawn_as_getenv(as, "JUPYTER_CONFIG_PATH");
	autofree char *path = NULL;

	if (!lab->cfg.share)
		return;
	path = xasprintf("%s%s%s/config", old ? old : "", old ? ":" : "",
			 lab->cfg.share);
	spawn_as_setenv(as, "JUPYTER_CONFIG_PATH", path);
}

static int start(struct lab *lab, const struct spawn_as *as,
		 const char *program, struct sb_err *err)
{
	const char *workspace = lab->cfg.workspace(lab->cfg.arg);
	autofree char *socket = xasprintf("--ServerApp.sock=%s", lab->socket);
	autofree char *root = xasprintf("--ServerApp.root_dir=%s",
					access(workspace, X_OK) == 0
						? workspace
						: spawn_as_getenv(as, "HOME"));
	autofree char *more =
		xasprintf("--LabApp.extra_labextensions_path=%s/labextensions",
			  lab->cfg.share);
	const char *argv[] = {
		program,
		"--no-browser",
		"--ServerApp.base_url=" LAB_PATH "/",
		socket,
		"--ServerApp.sock_mode=0600",
		root,
		/* Who reaches the socket is its user, or comes through us.
		 * Tokens would end up in its pages. */
		"--IdentityProvider.token=",
		"--ServerApp.allow_root=True",
		/* We have checked the Host. */
		"--ServerApp.allow_remote_access=True",
		"--ServerApp.quit_button=False",
		"--ServerApp.shutdown_no_activity_timeout=" IDLE_S,
		"--LabApp.news_url=",
		"--LabApp.check_for_updates_class="
		"jupyterlab.NeverCheckForUpdate",
		lab->cfg.share ? more : NULL,
		NULL,
	};
	struct process_config cfg = { .as = as,
				      .argv = argv,
				      .command = "JupyterLab",
				      .workspace = workspace };

	if (make_folder(lab, as, err) < 0 ||
	    process_start(lab->cfg.processes, &cfg, &lab->process, err) < 0)
		return -1;
	lab->watch = (struct process_watch){ .fn = on_process, .arg = lab };
	process_watch(lab->process, &lab->watch);
	lab->began_ms = clock_ms();
	lab->failed_ms = 0;
	loop_timer_set(lab->timer, CHECK_MS);
	return 0;
}

int lab_want(struct lab *lab, bool *ret_ready, struct sb_err *err)
{
	autospawnas struct spawn_as *as = NULL;
	autofree char *program = NULL;

	*ret_ready = lab->ready;
	if (lab->process)
		return 0;
	if (lab->failed_ms && clock_ms() - lab->failed_ms < RETRY_MS) {
		*err = lab->failed;
		return -1;
	}
	if (lab->cfg.make_as(lab->cfg.arg, NULL, &as, err) < 0)
		return -1;
	lab->uid = spawn_as_uid(as);
	/* One that an earlier guestd has left. */
	*ret_ready = is_served(lab);
	if (*ret_ready)
		return 0;
	if (find_program(lab, as, &program, err) < 0)
		return -1;
	add_config(lab, as);
	return start(lab, as, program, err);
}
