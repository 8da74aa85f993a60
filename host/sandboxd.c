/* SPDX-License-Identifier: Apache-2.0 */
/* sandboxd: the daemon that owns every sandbox of one user. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/log.h"
#include "common/static.h"
#include "common/util.h"
#include "host/api.h"
#include "host/daemon.h"
#include "host/door.h"
#include "host/events.h"
#include "host/paths.h"
#include "host/reconcile.h"

#define MAX_BODY (1 << 20)

static const char usage[] =
	"usage: sandboxd [--foreground] [--debug]\n"
	"       sandboxd --help | --version\n"
	"\n"
	"The daemon behind sandboxctl, which starts it when it is needed.\n"
	"\n"
	"  -f, --foreground  log to stderr\n"
	"  -d, --debug       log more\n"
	"  -h, --help        this text\n"
	"  -V, --version     the version\n";

struct options {
	bool foreground;
	bool debug;
};

/*
 * Be the only one: the lock is held for life.  Returns 1 if another daemon has
 * it, which is no error: whoever started us finds that one.
 */
static int take_lock(int *ret_fd, struct sb_err *err)
{
	autofree char *run = paths_run(), *path = paths_lock();
	autoclose int fd = -1;

	if (fs_mkdirs(run, 0700, err) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s': %m", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? 1
			       : sb_fail(err, SB_SYSTEM, "cannot lock '%s': %m",
					 path);
	*ret_fd = steal_fd(&fd);
	return 0;
}

/* Folders through which QEMU's user must be able to pass. */
static int make_folders(struct daemon *d, struct sb_err *err)
{
	autofree char *sandboxes = xasprintf("%s/sandboxes", d->state_dir);

	if (fs_mkdirs(sandboxes, 0711, err) < 0 ||
	    fs_mkdirs(d->images_dir, 0755, err) < 0)
		return -1;
	if (chmod(d->state_dir, 0711) < 0 || chmod(sandboxes, 0711) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot open up '%s': %m",
			       d->state_dir);
	return 0;
}

static int open_log(const struct options *o, struct daemon *d,
		    struct sb_err *err)
{
	autofree char *path = paths_log();

	log_set_level(o->debug ? LOG_LEVEL_DEBUG : d->cfg.log_level);
	return o->foreground ? 0 : log_open(path, false, err);
}

static char **template_dirs(const struct settings *cfg)
{
	char **only;

	if (!cfg->templates_dir)
		return paths_templates();
	only = xcalloc(2, sizeof(*only));
	only[0] = xstrdup(cfg->templates_dir);
	return only;
}

static int daemon_init(struct daemon *d, const struct options *o,
		       struct sb_err *err)
{
	TAILQ_INIT(&d->sandboxes);
	LIST_INIT(&d->subscribers);
	LIST_INIT(&d->followers);
	pthread_mutex_init(&d->vm_lock, NULL);
	d->started_ms = clock_ms();
	d->state_dir = paths_state();
	if (fs_mkdirs(d->state_dir, 0711, err) < 0 ||
	    settings_load(&d->cfg, err) < 0 || open_log(o, d, err) < 0)
		return -1;
	d->images_dir = d->cfg.images_dir ? xstrdup(d->cfg.images_dir)
					  : paths_images();
	d->recipes_dir = paths_recipes();
	d->bundle_dir = paths_bundle();
	d->template_dirs = template_dirs(&d->cfg);
	d->images = (struct image_store){ d->images_dir, d->recipes_dir,
					  d->bundle_dir };
	return make_folders(d, err);
}

static void daemon_done(struct daemon *d)
{
	struct sandbox *sb;

	httpd_free(d->httpd);
	door_free(d->door);
	events_done(d);
	while ((sb = TAILQ_FIRST(&d->sandboxes))) {
		TAILQ_REMOVE(&d->sandboxes, sb, entry);
		sandbox_free(sb);
	}
	vm_host_close(d->vm);
	loop_free(d->loop);
	settings_done(&d->cfg);
	free(d->state_dir);
	free(d->images_dir);
	free(d->recipes_dir);
	free(d->bundle_dir);
	paths_list_free(d->template_dirs);
	for (size_t i = 0; i < DAEMON_PAGES; i++)
		static_site_free(d->pages[i]);
}

static int serve(struct daemon *d, struct sb_err *err)
{
	autofree char *path = paths_socket();
	const struct httpd_config cfg = {
		.routes = api_routes,
		.ctx = d,
		.server = "sandboxd/" PACKAGE_VERSION,
		.title = "sandboxd",
		.about = "The daemon that owns every sandbox of one user. It "
			 "serves a UNIX socket, to that user alone, and a TCP "
			 "port of loopback if its configuration says so.",
		.version = PACKAGE_VERSION,
		.max_body = MAX_BODY,
		.authorize = door_authorize,
	};

	/* Who ends in peace takes the socket along. */
	d->after_crash = access(path, F_OK) == 0;
	accel_probe(&d->accel);
	if (daemon_vm_prepare(d, err) < 0)
		log_warn("%s", err->msg);
	d->loop = loop_new();
	d->httpd = httpd_new(d->loop, &cfg, err);
	if (!d->httpd || reconcile(d, err) < 0 ||
	    (d->cfg.tcp_port >= 0 && door_open(d, d->cfg.tcp_port, err) < 0) ||
	    httpd_listen_unix(d->httpd, path, err) < 0)
		return -1;
	log_info("sandboxd " PACKAGE_VERSION " serves %s (%s)", path,
		 d->accel.kvm ? "KVM" : "software emulation");
	loop_run(d->loop);
	unlink(path);
	return 0;
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "foreground", no_argument, NULL, 'f' },
		{ "debug", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "fdhV", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			o->foreground = true;
			break;
		case 'd':
			o->debug = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts("sandboxd " PACKAGE_VERSION);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "sandboxd: unexpected argument '%s'\n",
			argv[optind]);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct daemon d = { 0 };
	struct sb_err err = { 0 };
	autoclose int lock = -1;
	int rc;

	parse(argc, argv, &o);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	rc = take_lock(&lock, &err);
	if (rc > 0) {
		if (o.foreground)
			fputs("sandboxd: another one runs already\n", stderr);
		return 0;
	}
	if (rc == 0)
		rc = daemon_init(&d, &o, &err);
	if (rc == 0)
		rc = serve(&d, &err);
	if (rc < 0) {
		log_err("%s%s%s", err.msg, err.hint[0] ? "; " : "", err.hint);
		fprintf(stderr, "sandboxd: %s\n", err.msg);
	}
	daemon_done(&d);
	return rc < 0 ? sb_code_exit(err.code) : 0;
}
