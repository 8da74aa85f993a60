/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox-recorder: films a screen of X into a file, until it is told to stop
 * (SIGTERM, SIGINT, the end of stdin) or a limit is reached.  A program of its own,
 * so that libav's hundred libraries and their faults stay out of guestd.  Tells how
 * it goes on stdout, in lines of JSON.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/util.h"
#include "guest/recorder/film.h"
#include "guest/recorder/grab.h"

#define QUIET_MS 1000	     /* without news: what there is, is written */
#define FRAGMENT_MS 1000     /* and while there are some, this often */
#define SPARE (32LL << 20)   /* bytes that are left free on the disk */
#define JOIN_MAX (1LL << 30) /* longer films stay in fragments */

struct options {
	const char *display;
	struct film_config film;
	bool cursor, join;
	long long max_ms, max_bytes;
};

struct recorder {
	struct options opts;
	struct grab *grab;
	struct film *film;
	int signals;
	int64_t started_ms, taken_ms, flushed_ms;
	int64_t due_ms;	  /* not before then is the next one taken */
	int64_t ended_ms; /* 0: not yet */
	bool changed;	  /* there is something to take */
	const char *reason;
};

static void tell(const char *event, const struct recorder *r,
		 const struct sb_err *err)
{
	json_t *j = json_pack("{s:s}", "event", event);
	int64_t now = r && r->ended_ms ? r->ended_ms : clock_ms();
	char *text;

	if (r && r->film) {
		json_object_set_new(j, "pictures",
				    json_integer(film_pictures(r->film)));
		json_object_set_new(j, "bytes",
				    json_integer(film_bytes(r->film)));
		json_object_set_new(j, "duration_ms",
				    json_integer(now - r->started_ms));
		json_object_set_new(j, "width",
				    json_integer(r->opts.film.width));
		json_object_set_new(j, "height",
				    json_integer(r->opts.film.height));
	}
	if (r && r->reason)
		json_object_set_new(j, "reason", json_string(r->reason));
	if (err)
		json_object_set_new(j, "error", json_string(err->msg));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	/* Who started us may be gone; the film is not for it alone. */
	if (text && printf("%s\n", text) >= 0)
		fflush(stdout);
	free(text);
}

/* Whether so many bytes can be written, and enough be left for others. */
static bool has_room(const char *path, long long bytes)
{
	struct statvfs fs;

	return statvfs(path, &fs) < 0 ||
	       (long long)fs.f_bavail * (long long)fs.f_frsize >= bytes + SPARE;
}

/* Whether it is time to end, and why. */
static bool is_over(struct recorder *r, int64_t now)
{
	const struct options *o = &r->opts;

	if (o->max_ms && now - r->started_ms >= o->max_ms)
		r->reason = "time";
	else if (o->max_bytes && film_bytes(r->film) >= o->max_bytes)
		r->reason = "size";
	return r->reason != NULL;
}

static int take_picture(struct recorder *r, int64_t now, struct sb_err *err)
{
	struct grab_picture p;
	int rc = grab_take(r->grab, &p, err);

	if (rc < 0) {
		r->reason = "display";
		return 0;
	}
	r->taken_ms = now;
	/* Nothing that shows: the server counts more than that. */
	if (rc > 0 || p.from >= p.to)
		return 0;
	return film_add(r->film, &p, now - r->started_ms, err);
}

static int flush(struct recorder *r, int64_t now, struct sb_err *err)
{
	r->flushed_ms = now;
	if (film_flush(r->film, err) < 0)
		return -1;
	if (!has_room(r->opts.film.path, 0))
		r->reason = "disk";
	tell("progress", r, NULL);
	return 0;
}

/* What is due now; returns when to come back, in ms, -1: with news only. */
static int step(struct recorder *r, int *ret_wait, struct sb_err *err)
{
	int64_t now = clock_ms(), interval = 1000 / r->opts.film.fps;

	*ret_wait = -1;
	if (r->changed && now >= r->due_ms) {
		r->changed = false;
		/* Who was late for one is not late for all that follow. */
		r->due_ms = MAX(r->due_ms, now - interval) + interval;
		if (take_picture(r, now, err) < 0)
			return -1;
		if (now - r->flushed_ms >= FRAGMENT_MS &&
		    flush(r, now, err) < 0)
			return -1;
	} else if (r->changed) {
		*ret_wait = (int)(r->due_ms - now);
		return 0;
	}
	if (!film_is_behind(r->film))
		return 0;
	if (now - r->taken_ms < QUIET_MS) {
		*ret_wait = (int)(r->taken_ms + QUIET_MS - now);
		return 0;
	}
	return film_still(r->film, now - r->started_ms, err) < 0
		       ? -1
		       : flush(r, now, err);
}

static void wait_for_news(struct recorder *r, int wait_ms)
{
	struct pollfd fds[] = { { grab_fd(r->grab), POLLIN, 0 },
				{ r->signals, POLLIN, 0 },
				{ STDIN_FILENO, POLLIN, 0 } };
	int64_t left;
	char byte[64];

	if (r->opts.max_ms) {
		left = MAX(0, r->started_ms + r->opts.max_ms - clock_ms());
		if (wait_ms < 0 || left < wait_ms)
			wait_ms = (int)MIN(left, 3600 * 1000);
	}
	if (poll(fds, ARRAY_SIZE(fds), wait_ms) < 0 && errno != EINTR)
		r->reason = "error";
	if (fds[1].revents ||
	    (fds[2].revents && read(STDIN_FILENO, byte, sizeof(byte)) <= 0))
		r->reason = "stopped";
}

/* Ask the server's queue: what was read with an answer never shows on the
 * descriptor. */
static void look(struct recorder *r)
{
	int changed = grab_changed(r->grab);

	if (changed < 0)
		r->reason = "display";
	r->changed = r->changed || changed > 0;
}

static int record(struct recorder *r, struct sb_err *err)
{
	bool known;
	int wait_ms;

	look(r);
	while (!r->reason && !is_over(r, clock_ms())) {
		if (step(r, &wait_ms, err) < 0)
			return -1;
		known = r->changed;
		look(r);
		if (!r->reason && known == r->changed) {
			wait_for_news(r, wait_ms);
			look(r);
		}
	}
	return 0;
}

/* The folder of the film, if it is not there, with room for a film. */
static int make_folder(const char *path, struct sb_err *err)
{
	const char *slash = strrchr(path, '/');
	autofree char *dir = NULL;

	if (slash == path)
		dir = xstrdup("/");
	else
		dir = slash ? xstrndup(path, (size_t)(slash - path))
			    : xstrdup(".");
	if (fs_mkdirs(dir, 0755, err) < 0)
		return -1;
	if (!has_room(dir, 0))
		return sb_fail(err, SB_NOSPACE,
			       "less than %lld MiB are left on the disk",
			       SPARE >> 20);
	return 0;
}

/* The first picture says how large the film is. */
static int begin(struct recorder *r, struct sb_err *err)
{
	struct grab_picture p;

	if (make_folder(r->opts.film.path, err) < 0 ||
	    grab_open(r->opts.display, r->opts.cursor, &r->grab, err) < 0)
		return -1;
	if (grab_take(r->grab, &p, err) != 0)
		return sb_fail(err, SB_BUSY, "the screen cannot be read");
	r->opts.film.width = p.width;
	r->opts.film.height = p.height;
	if (film_open(&r->opts.film, &r->film, err) < 0)
		return -1;
	r->started_ms = r->taken_ms = r->flushed_ms = clock_ms();
	r->due_ms = r->started_ms + 1000 / r->opts.film.fps;
	if (film_add(r->film, &p, 0, err) < 0)
		return -1;
	tell("started", r, NULL);
	return 0;
}

static int end(struct recorder *r, int rc, struct sb_err *err)
{
	struct sb_err later;

	if (r->film) {
		int closed = film_close(r->film, r->ended_ms - r->started_ms,
					&later);

		r->film = NULL;
		if (rc == 0 && closed < 0) {
			*err = later;
			rc = -1;
		}
	}
	if (rc < 0)
		r->reason = err->code == SB_NOSPACE ? "disk"
			    : err->code == SB_BUSY  ? "display"
						    : "error";
	grab_close(r->grab);
	return rc;
}

/* A film in one piece is better, but one in fragments is good as well. */
static void join(const struct recorder *r, long long bytes)
{
	struct sb_err err;

	if (!r->opts.join || bytes > JOIN_MAX ||
	    !has_room(r->opts.film.path, bytes))
		return;
	if (film_join(r->opts.film.path, &err) < 0)
		fprintf(stderr, "sandbox-recorder: %s\n", err.msg);
}

static int run(struct recorder *r)
{
	struct sb_err err = { 0 };
	long long bytes = 0;
	sigset_t set;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC);
	rc = begin(r, &err);
	if (rc == 0)
		rc = record(r, &err);
	if (r->film) {
		bytes = film_bytes(r->film);
		if (!r->reason)
			r->reason = "error";
		r->ended_ms = clock_ms(); /* as long as is said */
		tell("ending", r, rc < 0 ? &err : NULL);
	}
	rc = end(r, rc, &err);
	if (rc == 0)
		join(r, bytes);
	tell("ended", r, rc < 0 ? &err : NULL);
	if (rc < 0)
		fprintf(stderr, "sandbox-recorder: %s\n", err.msg);
	return rc < 0 ? 1 : 0;
}

static const char usage_text[] =
	"usage: sandbox-recorder [OPTION]... FILE.mp4\n"
	"Film a screen of X until SIGTERM or the end of stdin.\n\n"
	"  --display=NAME    which screen ($DISPLAY)\n"
	"  --fps=N           pictures a second, at most (30)\n"
	"  --quality=N       0 (best) to 51 (21)\n"
	"  --preset=NAME     of x264 (ultrafast)\n"
	"  --no-cursor       without the pointer\n"
	"  --no-join         leave the film in fragments\n"
	"  --max-seconds=N   end by itself then\n"
	"  --max-bytes=N     and at this size\n";

enum {
	DISPLAY = 1,
	FPS,
	QUALITY,
	PRESET,
	NO_CURSOR,
	NO_JOIN,
	SECONDS,
	BYTES,
	HELP
};

static int number(const char *text, long long min, long long max,
		  long long *ret)
{
	if (parse_num(text, min, max, ret) == 0)
		return 0;
	fprintf(stderr,
		"sandbox-recorder: '%s' is not a number from %lld to %lld\n",
		text, min, max);
	return -1;
}

static int take_option(struct options *o, int opt)
{
	long long n = 0;
	int rc = 0;

	switch (opt) {
	case DISPLAY:
		o->display = optarg;
		break;
	case FPS:
		rc = number(optarg, 1, 60, &n);
		o->film.fps = (int)n;
		break;
	case QUALITY:
		rc = number(optarg, 0, 51, &n);
		o->film.quality = (int)n;
		break;
	case PRESET:
		o->film.preset = optarg;
		break;
	case NO_CURSOR:
		o->cursor = false;
		break;
	case NO_JOIN:
		o->join = false;
		break;
	case SECONDS:
		rc = number(optarg, 1, 7 * 86400, &n);
		o->max_ms = n * 1000;
		break;
	case BYTES:
		rc = number(optarg, 1, 1LL << 40, &o->max_bytes);
		break;
	default:
		rc = -1;
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "display", required_argument, NULL, DISPLAY },
		{ "fps", required_argument, NULL, FPS },
		{ "quality", required_argument, NULL, QUALITY },
		{ "preset", required_argument, NULL, PRESET },
		{ "no-cursor", no_argument, NULL, NO_CURSOR },
		{ "no-join", no_argument, NULL, NO_JOIN },
		{ "max-seconds", required_argument, NULL, SECONDS },
		{ "max-bytes", required_argument, NULL, BYTES },
		{ "help", no_argument, NULL, HELP },
		{ 0 },
	};
	struct recorder r = { .opts = { .cursor = true,
					.join = true,
					.film = { .fps = 30,
						  .quality = 21,
						  .preset = "ultrafast" } } };
	int opt;

	umask(077); /* what is on a screen is for who sees it */
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (opt == HELP) {
			fputs(usage_text, stdout);
			return 0;
		}
		if (take_option(&r.opts, opt) < 0) {
			fputs(usage_text, stderr);
			return 2;
		}
	}
	if (optind != argc - 1) {
		fputs(usage_text, stderr);
		return 2;
	}
	r.opts.film.path = argv[optind];
	return run(&r);
}
