/* SPDX-License-Identifier: Apache-2.0 */
/* Connection files of kernels in sandboxes. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-connfile.h"
#include "host/ctl-daemon.h"
#include "host/ctl-guestd.h"
#include "host/ctl-out.h"

#define MAX_FILE 65536
#define MAX_WORD 128
#define ID_LEN 36
#define OURS "sandbox" /* the key of the file that Jupyter does not know */

static const char *const names[] = { "shell_port", "iopub_port", "stdin_port",
				     "control_port", "hb_port" };
#define NPORTS ARRAY_SIZE(names)

/* Names and keys: safe in a path, in a terminal, in JSON. */
static bool is_word(const char *s)
{
	size_t n = strlen(s);

	if (!n || n > MAX_WORD || s[0] == '.')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-_.", *s))
			return false;
	return true;
}

static bool is_id(const char *s)
{
	return strlen(s) == ID_LEN &&
	       strspn(s, "0123456789abcdef-") == ID_LEN && s[8] == '-';
}

int connfile_path(const struct connfile *f, char **ret, struct sb_err *err)
{
	autofree char *token =
		xstrdup(json_str_or(f->sandbox, "token_file", ""));

	if (f->kernel && !is_word(f->kernel))
		return sb_fail(err, SB_INVALID,
			       "'%s' is neither the ID of a kernel nor the "
			       "name of a kind of kernel",
			       f->kernel);
	*ret = f->file ? xstrdup(f->file)
		       : xasprintf("%s/kernels/%s.json", dirname(token),
				   f->kernel ? f->kernel : "default");
	return 0;
}

/* An earlier file; NULL if there is none that we could have written. */
static json_t *read_file(const char *path)
{
	autofree char *text = NULL;
	autojson json_t *j = NULL;
	size_t len;

	if (fs_read(path, MAX_FILE, &text, &len, NULL) < 0 ||
	    json_parse(text, len, &j, NULL) < 0 ||
	    !json_is_object(json_object_get(j, OURS)))
		return NULL;
	return steal(&j);
}

static char *ports_path(const struct connfile *f, const char *suffix)
{
	autofree char *end = xasprintf("/ports%s", suffix);

	return daemon_path(DAEMON_SANDBOXES, json_str_or(f->sandbox, "id", ""),
			   end);
}

static int list_forwards(struct ctl *c, const struct connfile *f, json_t **ret,
			 struct sb_err *err)
{
	autofree char *path = ports_path(f, "");
	autojson json_t *reply = NULL;

	if (daemon_call(c, "GET", path, NULL, &reply, err) < 0)
		return -1;
	*ret = json_incref(json_object_get(reply, "ports"));
	return 0;
}

static int remove_forward(struct ctl *c, const struct connfile *f,
			  long long host, struct sb_err *err)
{
	autofree char *suffix = xasprintf("/%lld", host);
	autofree char *path = ports_path(f, suffix);

	if (daemon_call(c, "DELETE", path, NULL, NULL, err) < 0 &&
	    err->code != SB_NOTFOUND)
		return -1;
	return 0;
}

/*
 * Take away the forwards that an earlier file tells of, but those to the ports
 * in keep (may be NULL).  Both ends must be the same: the host's port may be
 * another's by now.
 */
static int remove_forwards(struct ctl *c, const struct connfile *f,
			   const json_t *old, const json_t *keep,
			   struct sb_err *err)
{
	const json_t *guest =
		json_object_get(json_object_get(old, OURS), "guest_ports");
	autojson json_t *list = NULL;
	const json_t *p;
	size_t k;

	if (list_forwards(c, f, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < NPORTS; i++) {
		long long from = json_int_or(old, names[i], 0);
		long long to = json_int_or(guest, names[i], 0);

		if (keep && json_int_or(keep, names[i], 0) == to)
			continue;
		json_array_foreach(list, k, p)
			if (json_int_or(p, "host", 0) == from &&
			    json_int_or(p, "guest", 0) == to &&
			    remove_forward(c, f, from, err) < 0)
				return -1;
	}
	return 0;
}

/* The forward to a port of the guest, made if there is none. */
static int forward(struct ctl *c, const struct connfile *f, const json_t *list,
		   long long guest, json_t **ret, bool *ret_made,
		   struct sb_err *err)
{
	autofree char *path = ports_path(f, "");
	autojson json_t *body = NULL;
	json_t *p;
	size_t i;

	json_array_foreach(list, i, p)
		if (json_int_or(p, "guest", 0) == guest) {
			*ret = json_incref(p);
			return 0;
		}
	body = json_pack("{s:I}", "guest", (json_int_t)guest);
	if (daemon_call(c, "POST", path, body, ret, err) < 0)
		return -1;
	*ret_made = true;
	return 0;
}

/* Put the host's address and ports into file; all forwards, or none. */
static int forward_all(struct ctl *c, const struct connfile *f,
		       const json_t *info, json_t *file, struct sb_err *err)
{
	autojson json_t *list = NULL;
	long long made[NPORTS];
	size_t n = 0;

	if (list_forwards(c, f, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < NPORTS; i++) {
		autojson json_t *p = NULL;
		const char *ip;
		bool fresh = false;

		if (forward(c, f, list, json_int_or(info, names[i], 0), &p,
			    &fresh, err) < 0) {
			struct sb_err dropped;

			while (n)
				remove_forward(c, f, made[--n], &dropped);
			return sb_wrap(err,
				       "cannot forward the kernel's ports");
		}
		if (fresh)
			made[n++] = json_int_or(p, "host", 0);
		ip = json_str_or(p, "host_addr", "127.0.0.1");
		json_put(file, names[i],
			 json_integer(json_int_or(p, "host", 0)));
		json_put(file, "ip",
			 json_str(strcmp(ip, "0.0.0.0") ? ip : "127.0.0.1"));
	}
	return 0;
}

/* What the guest says is not believed before it is looked at. */
static int check_info(const json_t *info, struct sb_err *err)
{
	static const char *const words[] = { "key", "signature_scheme",
					     "kernel_name", "kernel_id" };
	long long port;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!is_word(json_str_or(info, words[i], "")))
			return sb_fail(err, SB_GUEST, "the guest sent no %s",
				       words[i]);
	for (size_t i = 0; i < NPORTS; i++) {
		port = json_int_or(info, names[i], 0);
		if (port < 1 || port > 65535)
			return sb_fail(err, SB_GUEST, "the guest sent no %s",
				       names[i]);
	}
	return 0;
}

/* A name is that of a kernelspec, whose kernel all share. */
static int ask_guest(const struct connfile *f, json_t **ret, struct sb_err *err)
{
	bool by_id = f->kernel && is_id(f->kernel);
	autofree char *path = daemon_path(
		"/v1/kernels/", by_id ? f->kernel : "default", "/ports");
	autoguestd struct guestd_at at = { 0 };
	autohclient struct hclient *h = NULL;
	autojson json_t *body = json_object();

	if (guestd_find(f->sandbox, &at, err) < 0 ||
	    guestd_reach(&at, -1, &h, err) < 0)
		return -1;
	hclient_set_timeout(h, DAEMON_CALL_MS);
	if (f->kernel && !by_id)
		json_put(body, "kernel", json_str(f->kernel));
	if (hclient_json(h, "POST", path, body, ret, err) < 0)
		return -1;
	return check_info(*ret, err);
}

static json_t *begin_file(const struct connfile *f, const json_t *info)
{
	static const char *const copied[] = { "key", "signature_scheme",
					      "kernel_name", "kernel_id" };
	json_t *j = json_pack("{s:s}", "transport", "tcp");
	json_t *ours = json_object(), *ports = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
		json_put(j, copied[i],
			 json_incref(json_object_get(info, copied[i])));
	for (size_t i = 0; i < NPORTS; i++)
		json_put(ports, names[i],
			 json_incref(json_object_get(info, names[i])));
	json_put(ours, "id", json_str(json_str_or(f->sandbox, "id", "")));
	json_put(ours, "name", json_str(json_str_or(f->sandbox, "name", "")));
	json_put(ours, "guest_ports", ports);
	json_put(j, OURS, ours);
	return j;
}

static int write_file(const struct connfile *f, const char *path,
		      const json_t *file, struct sb_err *err)
{
	autofree char *text = json_dumps(file, JSON_INDENT(1));
	autofree char *copy = xstrdup(path);

	if (!f->file && fs_mkdirs(dirname(copy), 0700, err) < 0)
		return -1;
	return fs_write_atomic(path, text, strlen(text), 0600, err);
}

int connfile_make(struct ctl *c, const struct connfile *f, const char *path,
		  json_t **ret, struct sb_err *err)
{
	autojson json_t *old = read_file(path), *info = NULL, *file = NULL;

	if (ask_guest(f, &info, err) < 0)
		return -1;
	file = begin_file(f, info);
	if ((old && remove_forwards(c, f, old, info, err) < 0) ||
	    forward_all(c, f, info, file, err) < 0 ||
	    write_file(f, path, file, err) < 0)
		return -1;
	*ret = steal(&file);
	return 0;
}

static void close_in_guest(const struct connfile *f, const json_t *file)
{
	autofree char *path = daemon_path(
		"/v1/kernels/", json_str_or(file, "kernel_id", ""), "/ports");
	autoguestd struct guestd_at at = { 0 };
	autohclient struct hclient *h = NULL;
	struct sb_err err;

	if (guestd_find(f->sandbox, &at, &err) < 0 ||
	    guestd_reach(&at, -1, &h, &err) < 0 ||
	    hclient_json(h, "DELETE", path, NULL, NULL, &err) < 0)
		/* A kernel that ended has none. */
		if (err.code != SB_NOTFOUND)
			out_note("the guest's ports stay open: %s", err.msg);
}

int connfile_remove(struct ctl *c, const struct connfile *f, const char *path,
		    struct sb_err *err)
{
	autojson json_t *old = read_file(path);
	const json_t *ours = json_object_get(old, OURS);

	if (!old) {
		sb_fail(err, SB_NOTFOUND, "there is no connection file '%s'",
			path);
		return sb_hint(err, "sandboxctl kernel %s makes one",
			       json_str_or(f->sandbox, "name", "NAME"));
	}
	/* Another machine has nothing of it. */
	if (strcmp(json_str_or(ours, "id", ""),
		   json_str_or(f->sandbox, "id", "")) == 0 &&
	    strcmp(json_str_or(f->sandbox, "state", ""), "ready") == 0) {
		if (remove_forwards(c, f, old, NULL, err) < 0)
			return -1;
		close_in_guest(f, old);
	}
	if (unlink(path) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot remove '%s': %m", path);
	return 0;
}
