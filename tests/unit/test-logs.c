/* SPDX-License-Identifier: Apache-2.0 */
/* The logs of a sandbox, in which its guest writes, read by sandboxd. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/hclient.h"
#include "host/logs.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct daemon d;
static struct sandbox *sb;
static char *log_file, *older_file, *sock;

static void put(const char *path, const char *text)
{
	if (fs_write_atomic(path, text, strlen(text), 0600, NULL) < 0)
		abort();
}

static enum sb_code open_code(const char *source)
{
	struct sb_err err = { 0 };
	struct logs *l = NULL;

	if (logs_open(&d, sb, source, &l, &err) == 0)
		logs_close(l);
	return err.code;
}

static char *tail(long long lines)
{
	static struct buf b;
	struct logs *l = NULL;
	const char *data;
	size_t n;

	b.len = 0;
	buf_adds(&b, "");
	if (logs_open(&d, sb, "guestd", &l, NULL) < 0)
		return NULL;
	log_reader_tail(logs_reader(l), lines, 0);
	while ((n = log_reader_bytes(logs_reader(l), &data)) > 0)
		buf_add(&b, data, n);
	logs_close(l);
	return b.p;
}

static void test_open(void)
{
	autofree char *secret = xasprintf("%s/secret", scratch_dir);

	is_int(open_code("other"), SB_INVALID, "an unknown source");
	is_int(open_code("serial"), SB_NOTFOUND, "no log yet");
	put(log_file, "a\nb\n");
	is_str(tail(1), "b\n", "the last line");
	put(older_file, "0\n");
	is_str(tail(9), "0\na\nb\n", "with what was renamed");
	put(secret, "secret\n");
	unlink(log_file);
	unlink(older_file);
	if (symlink(secret, log_file) < 0 || symlink(secret, older_file) < 0)
		abort();
	ok(open_code("guestd") != SB_OK, "a guest cannot lead us elsewhere");
	unlink(log_file);
	put(log_file, "a\n");
	is_str(tail(9), "a\n", "nor by the older file");
	unlink(older_file);
}

static void get_log(struct http_req *req)
{
	struct sb_err err;
	struct logs *l;

	if (logs_open(&d, sb, "guestd", &l, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	log_reader_tail(logs_reader(l), 1, 0);
	logs_follow(&d, sb, req, l);
}

static void end_posted(void *arg)
{
	logs_end(&d, sb->id);
}

static void stop_posted(void *arg)
{
	loop_stop(d.loop);
}

/* What a follower gets step by step makes the guest go on. */
static int on_data(void *arg, const char *data, size_t len)
{
	struct buf *b = arg;

	buf_add(b, data, len);
	if (strcmp(b->p, "a\n") == 0) {
		if (rename(log_file, older_file) < 0)
			abort();
		put(log_file, "b\nlogin: ");
	} else if (str_ends(b->p, "login: ")) {
		loop_post(d.loop, end_posted, NULL);
	}
	return 0;
}

static void *serve(void *arg)
{
	loop_run(d.loop);
	return NULL;
}

static void test_follow(void)
{
	static const struct http_route routes[] = {
		{ .method = "GET", .path = "/log", .run = get_log },
		{ 0 },
	};
	static const struct http_table tables[] = { { .rows = routes }, { 0 } };
	const struct httpd_config cfg = { .routes = tables, .server = "test" };
	struct hclient *c = NULL;
	autobuf struct buf b = { 0 };
	struct sb_err err = { 0 };
	struct httpd *h;
	pthread_t thread;

	d.loop = loop_new();
	h = httpd_new(d.loop, &cfg, &err);
	if (!h || httpd_listen_unix(h, sock, &err) < 0)
		abort();
	pthread_create(&thread, NULL, serve, NULL);
	ok(hclient_open_unix(sock, 20000, &c, &err) == 0 &&
		   hclient_stream(c, "/log", on_data, &b, &err) == 0,
	   "a log is followed to its end");
	is_str(b.p, "a\nb\nlogin: ", "also when the guest renames it");
	hclient_free(c);
	loop_post(d.loop, stop_posted, NULL);
	pthread_join(thread, NULL);
	httpd_free(h);
	loop_free(d.loop);
}

int main(void)
{
	autofree char *dir = NULL;
	struct spec spec;

	scratch_init();
	spec_init(&spec);
	spec.name = xstrdup("demo");
	sb = sandbox_new(scratch_dir, &spec);
	spec_done(&spec);
	dir = sandbox_path(sb, "share/logs");
	log_file = sandbox_path(sb, "share/logs/guestd.log");
	older_file = sandbox_path(sb, "share/logs/guestd.log.1");
	sock = xasprintf("%s/sock", scratch_dir);
	if (fs_mkdirs(dir, 0700, NULL) < 0)
		abort();
	test_open();
	test_follow();
	sandbox_free(sb);
	free(log_file);
	free(older_file);
	free(sock);
	return tap_done();
}
