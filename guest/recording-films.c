/* SPDX-License-Identifier: Apache-2.0 */
/* The films that are there: files in a folder of the sandbox's user. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "guest/recording-private.h"

#define FOLDER "recordings"
#define SUFFIX ".mp4"
#define PART SUFFIX ".part" /* while the recorder joins it */
#define MAX_FILMS 10000
#define MAX_NOTE 4096
#define MAX_UNSAVED 64

static int find_folder(char **ret, struct sb_err *err)
{
	autospawnas struct spawn_as *as = NULL;
	const char *home;

	if (spawn_as_new(NULL, &as, err) < 0)
		return -1;
	home = spawn_as_getenv(as, "HOME");
	if (str_empty(home))
		return sb_fail(err, SB_SYSTEM,
			       "no home folder to keep recordings in");
	*ret = xasprintf("%s/" FOLDER, home);
	return 0;
}

int recordings_locate(struct recordings *all, struct sb_err *err)
{
	return all->dir ? 0 : find_folder(&all->dir, err);
}

/* In its folder, wherever a link of the sandbox's user leads. */
static int open_folder(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Unless a recorder is at it: one that outlives the guestd before us. */
static void sweep_part(int dir, const char *file)
{
	autoclose int fd = -1;
	struct stat st;

	if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return;
	fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, file, 0);
}

void recordings_sweep(void)
{
	autofree char *path = NULL;
	struct dirent *e;
	int fd, n = 0;
	DIR *dir;

	/* Not yet ours for good: the account may still be made. */
	if (find_folder(&path, NULL) < 0)
		return;
	fd = open_folder(path);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (e = readdir(dir)) && n++ < MAX_FILMS)
		if (str_ends(e->d_name, PART))
			sweep_part(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void recording_drop_part(const struct recordings *all, const char *name)
{
	autofree char *part = xasprintf("%s" PART, name);
	autoclose int dir = open_folder(all->dir);

	if (dir >= 0)
		unlinkat(dir, part, 0);
}

int recording_check_name(const char *name, struct sb_err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t len = strlen(name);

	if (len == 0 || len > RECORDING_NAME_MAX || name[0] == '.' ||
	    name[0] == '-' || strspn(name, allowed) != len)
		return sb_fail(err, SB_INVALID,
			       "the name of a recording has 1 to %d letters, "
			       "digits, '.', '_' and '-', and begins with a "
			       "letter or digit",
			       RECORDING_NAME_MAX);
	return 0;
}

char *recording_new_name(struct recordings *all)
{
	char date[CLOCK_ISO_LEN];
	unsigned int n = 1;

	clock_iso(clock_wall_ms(), date);
	/* 2026-01-31T12:34:56.789Z: no colons in names of files. */
	date[19] = '\0';
	date[13] = date[16] = '-';
	for (;; n++) {
		autofree char *name = n == 1 ? xstrdup(date)
					     : xasprintf("%s-%u", date, n);
		autoclose int fd = -1;
		struct recording *r;

		if (recording_find(all, name, &r, NULL) < 0 &&
		    recordings_open(all, name, &fd, NULL) < 0)
			return steal(&name);
	}
}

void recording_put_figures(json_t *to, const json_t *from)
{
	static const char *const keys[] = {
		"duration_ms", "pictures", "width", "height", "reason", "error"
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(from, keys[i]);

		if (value)
			json_put(to, keys[i], json_incref(value));
	}
}

static json_t *model(const char *name, const char *state, int64_t started_ms)
{
	json_t *j = json_object();
	char date[CLOCK_ISO_LEN];

	json_put(j, "id", json_str(name));
	json_put(j, "name", json_str(name));
	json_put(j, "state", json_str(state));
	clock_iso(started_ms, date);
	json_put(j, "started_at", json_str(date));
	return j;
}

json_t *recording_json(const struct recording *r)
{
	const char *state = r->ended	  ? "complete"
			    : r->stopping ? "ending"
			    : r->begun	  ? "recording"
					  : "starting";
	json_t *j = model(r->name, state, r->started_ms);
	autofree char *path = xasprintf("%s/%s" SUFFIX, r->all->dir, r->name);
	struct stat st;

	recording_put_figures(j, r->told);
	/* Once it has a reason to end, it is as long as it was then. */
	if (r->begun && !r->ended && !json_object_get(r->told, "reason"))
		json_put(j, "duration_ms",
			 json_integer(clock_ms() - r->begun_ms));
	json_put(j, "path", json_str(path));
	json_put(j, "bytes",
		 json_integer(lstat(path, &st) == 0 ? st.st_size : 0));
	return j;
}

/* In the folder that it was opened as, whatever becomes of its name. */
static int write_note(const struct recording *r, const char *text)
{
	autoclose int dir = open_folder(r->all->dir);
	autofree char *path =
		xasprintf("/proc/self/fd/%d/.%s.json", dir, r->name);

	if (dir < 0)
		return -1;
	return fs_write_atomic(path, text, strlen(text), 0600, NULL);
}

void recording_note(const struct recording *r, const char *error)
{
	autojson json_t *j = json_object();
	autofree char *text = NULL,
		      *film = xasprintf("%s/%s" SUFFIX, r->all->dir, r->name);

	json_object_del(r->all->unsaved, r->name);
	if (access(film, F_OK) < 0)
		return;
	recording_put_figures(j, r->told);
	json_put(j, "started_ms", json_integer(r->started_ms));
	if (error)
		json_put(j, "error", json_str(error));
	text = json_print(j);
	/* Without it the film is there all the same. */
	if (write_note(r, text) < 0 &&
	    json_object_size(r->all->unsaved) < MAX_UNSAVED)
		json_put(r->all->unsaved, r->name, steal(&j));
}

static json_t *read_note(const struct recordings *all, const char *name)
{
	autofree char *file = xasprintf(".%s.json", name);
	autoclose int fd = -1;
	char text[MAX_NOTE];
	json_t *j = json_object_get(all->unsaved, name);
	ssize_t n;

	if (j)
		return json_incref(j);
	if (fs_open_beneath(all->dir, file, &fd, NULL) < 0)
		return json_object();
	n = read(fd, text, sizeof(text));
	if (n <= 0 || json_parse(text, (size_t)n, &j, NULL) < 0 ||
	    !json_is_object(j)) {
		json_decref(j);
		return json_object();
	}
	return j;
}

/* A film without a note: we were killed, and the recorder ended it. */
static json_t *film_json(const struct recordings *all, const char *name,
			 const struct stat *st)
{
	autojson json_t *note = read_note(all, name);
	int64_t ms =
		json_int_or(note, "started_ms", (int64_t)st->st_mtime * 1000);
	json_t *j = model(name, "complete", ms);
	autofree char *path = xasprintf("%s/%s" SUFFIX, all->dir, name);

	recording_put_figures(j, note);
	json_put(j, "path", json_str(path));
	json_put(j, "bytes", json_integer(st->st_size));
	return j;
}

int recordings_get(struct recordings *all, const char *name, json_t **ret,
		   struct sb_err *err)
{
	autoclose int fd = -1;
	struct recording *r;
	struct stat st;

	if (recordings_locate(all, err) < 0)
		return -1;
	if (recording_find(all, name, &r, NULL) == 0) {
		*ret = recording_json(r);
		return 0;
	}
	if (recordings_open(all, name, &fd, err) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return sb_fail(err, SB_SYSTEM, "%s: %m", name);
	*ret = film_json(all, name, &st);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	json_t *const *x = a, *const *y = b;

	return strcmp(json_str_or(*x, "started_at", ""),
		      json_str_or(*y, "started_at", ""));
}

static json_t *sorted(json_t *list /* takes */)
{
	size_t n = json_array_size(list);
	autofree json_t **items = xcalloc(n + 1, sizeof(*items));
	json_t *out = json_array();

	for (size_t i = 0; i < n; i++)
		items[i] = json_array_get(list, i);
	qsort(items, n, sizeof(*items), by_start);
	for (size_t i = 0; i < n; i++)
		json_array_append(out, items[i]);
	json_decref(list);
	return out;
}

int recordings_list(struct recordings *all, json_t **ret, struct sb_err *err)
{
	json_t *list = json_array(), *j;
	struct dirent *e;
	DIR *dir;

	if (recordings_locate(all, err) < 0) {
		json_decref(list);
		return -1;
	}
	dir = opendir(all->dir);
	while (dir && (e = readdir(dir)) && json_array_size(list) < MAX_FILMS) {
		autofree char *name = NULL;

		if (!str_ends(e->d_name, SUFFIX))
			continue;
		name = xstrndup(e->d_name, strlen(e->d_name) - strlen(SUFFIX));
		if (recording_check_name(name, NULL) == 0 &&
		    recordings_get(all, name, &j, NULL) == 0)
			json_array_append_new(list, j);
	}
	if (dir)
		closedir(dir);
	*ret = sorted(list);
	return 0;
}

char *recordings_latest(struct recordings *all)
{
	autojson json_t *list = NULL;
	size_t n;

	if (recordings_list(all, &list, NULL) < 0)
		return NULL;
	n = json_array_size(list);
	if (n == 0)
		return NULL;
	return xstrdup(json_str_or(json_array_get(list, n - 1), "name", ""));
}

int recordings_open(struct recordings *all, const char *name, int *ret_fd,
		    struct sb_err *err)
{
	autofree char *file = xasprintf("%s" SUFFIX, name);

	if (recordings_locate(all, err) < 0 ||
	    recording_check_name(name, err) < 0)
		return -1;
	if (fs_open_beneath(all->dir, file, ret_fd, NULL) < 0)
		return sb_fail(err, SB_NOTFOUND, "there is no recording '%s'",
			       name);
	return 0;
}

int recordings_delete(struct recordings *all, const char *name,
		      struct sb_err *err)
{
	autofree char *file = xasprintf("%s" SUFFIX, name);
	autofree char *note = xasprintf(".%s.json", name);
	autoclose int dir = -1, film = -1;
	struct recording *r;

	if (recording_find(all, name, &r, NULL) == 0) {
		sb_fail(err, SB_CONFLICT, "'%s' is being recorded", name);
		return sb_hint(err, "stop it first");
	}
	if (recordings_open(all, name, &film, err) < 0)
		return -1;
	dir = open_folder(all->dir);
	if (dir < 0 || unlinkat(dir, file, 0) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot delete '%s': %m", name);
	unlinkat(dir, note, 0);
	/* A recorder that still joins it would bring the film back. */
	recording_drop_part(all, name);
	json_object_del(all->unsaved, name);
	return 0;
}
