/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What sandboxd is made of.  Owned by the loop's thread but for vm_*. */

#include <pthread.h>
#include <sys/queue.h>

#include "common/httpd.h"
#include "common/loop.h"
#include "host/accel.h"
#include "host/settings.h"
#include "host/image.h"
#include "host/sandbox.h"

struct door;
struct static_site;
struct subscriber;
LIST_HEAD(subscriber_list, subscriber);
struct follower;
LIST_HEAD(follower_list, follower);

/* The last event of a sandbox that has failed. */
struct failure {
	char id[SANDBOX_ID_LEN + 1];
	char *event; /* JSON */
};
#define DAEMON_FAILURES 16
#define DAEMON_PAGES 2

struct daemon {
	struct loop *loop;
	struct httpd *httpd;
	struct door *door; /* NULL: there is but the UNIX socket */
	struct settings cfg;
	char *state_dir;
	char *images_dir, *recipes_dir, *bundle_dir;
	char **template_dirs;
	struct image_store images;
	struct accel accel;
	int64_t started_ms;
	bool after_crash; /* the last daemon was killed */

	struct sandbox_list sandboxes;
	struct subscriber_list subscribers;	  /* events.c */
	struct follower_list followers;		  /* logs.c */
	struct failure failures[DAEMON_FAILURES]; /* events.c; a ring */
	size_t nfailures;
	struct static_site
		*pages[DAEMON_PAGES]; /* api-pages.c; NULL at first */

	pthread_mutex_t vm_lock; /* guards the opening of vm */
	struct vm_host *vm;	 /* NULL until first used */
};

/*
 * The connection to libvirt, opened on first use: until a sandbox is wanted,
 * the daemon does without libvirt's memory.  Blocking, any thread.
 */
int daemon_vm(struct daemon *d, struct vm_host **ret, struct sb_err *err);

/* To be called once, before there is a second thread: vm_host_prepare(). */
int daemon_vm_prepare(struct daemon *d, struct sb_err *err);

/* Whether an earlier daemon may have left machines. */
bool daemon_vm_remains(const struct daemon *d);

/* The sandbox with that id or name; SB_NOTFOUND. */
int daemon_find(struct daemon *d, const char *id, struct sandbox **ret,
		struct sb_err *err);
