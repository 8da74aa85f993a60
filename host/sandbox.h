/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * One sandbox as sandboxd knows it: what it is made of, where it stands, and
 * how that is written down and shown.  Owned by the loop's thread; while a
 * task works on it (busy) that thread may read what never changes: id, uuid,
 * name, dir, spec, token.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/err.h"
#include "common/loop.h"
#include "common/token.h"
#include "host/image.h"
#include "host/spec.h"
#include "host/task.h"
#include "host/vm.h"

/*
 * creating → booting → installing → ready ⇄ paused → stopping → gone
 *                 └──────────────────┘   ready → booting when the guest reboots
 * stopping → stopped instead of gone if the sandbox is preserved; stopped →
 * booting by another up.  From anywhere but gone: failed, and stopping.
 */
enum sandbox_state {
	SANDBOX_CREATING,
	SANDBOX_BOOTING,
	SANDBOX_INSTALLING,
	SANDBOX_READY,
	SANDBOX_PAUSED,
	SANDBOX_STOPPING,
	SANDBOX_STOPPED,
	SANDBOX_FAILED,
	SANDBOX_GONE,
	SANDBOX_NSTATES
};

const char *sandbox_state_name(enum sandbox_state s);
/* SANDBOX_NSTATES if there is no such state. */
enum sandbox_state sandbox_state_of(const char *name);

#define SANDBOX_ID_LEN 11 /* "sb-" and eight hex digits */
#define SANDBOX_UUID_LEN 36

struct sandbox_port {
	int host;
	int guest;
	char name[16]; /* "ssh", "guestd", "jupyter", "vnc", or "" */
};

struct daemon;
struct sandbox;
struct ttl {
	struct daemon *d;
	struct sandbox *sb;
};

struct http_req;
struct sandbox_waiter {
	LIST_ENTRY(sandbox_waiter) entry;
	struct http_req *req;
};

struct sandbox {
	TAILQ_ENTRY(sandbox) entry;
	char id[SANDBOX_ID_LEN + 1];
	char uuid[SANDBOX_UUID_LEN + 1]; /* of its machine, for life */
	char *name;   /* as it was made; see sandbox_name() */
	bool retired; /* it has left its name to another */
	char *dir;
	struct spec spec;
	char *idempotency_key; /* NULL: none */

	enum sandbox_state state;
	struct sb_err cause; /* of failed and stopped */
	char detail[128];    /* the step that a boot is at */
	int64_t created_ms, ready_ms, expires_ms; /* wall clock, 0: never */

	char token[TOKEN_LEN + 1];
	struct image image;
	struct sandbox_port ports[VM_MAX_FORWARDS];
	size_t nports;
	bool kvm;
	json_t *receipt; /* what the guest applied, or NULL */

	bool busy;	       /* a task works on it */
	struct cancel *cancel; /* of that task */
	struct sb_err died;    /* the machine ended meanwhile */
	bool want_down;	       /* bury it when the task has ended */
	bool purge;	       /* down even if preserved */
	int restarts;	       /* by the restart policy, in a row */
	struct uv_fs_event_s *serial_guard; /* NULL: not watched */
	struct loop_timer *ttl;
	struct ttl ttl_arg;
	LIST_HEAD(, sandbox_waiter) waiters; /* requests that wait for ready */
};
TAILQ_HEAD(sandbox_list, sandbox);

/* A new one with a fresh id and token; takes the contents of spec. */
struct sandbox *sandbox_new(const char *state_dir, struct spec *spec);
void sandbox_free(struct sandbox *sb);

/* Read a sandbox back from its folder. */
int sandbox_load(const char *dir, struct sandbox **ret, struct sb_err *err);

/* Journal entries.  Each is written, then taken over into sb. */
int sandbox_write_create(struct sandbox *sb, struct sb_err *err);
int sandbox_write_image(struct sandbox *sb, const struct image *img,
			struct sb_err *err);
int sandbox_write_ports(struct sandbox *sb, const struct sandbox_port *ports,
			size_t n, struct sb_err *err);
int sandbox_write_receipt(struct sandbox *sb, json_t *receipt /* takes */,
			  struct sb_err *err);
int sandbox_write_expiry(struct sandbox *sb, int64_t wall_ms,
			 struct sb_err *err);
int sandbox_write_state(struct sandbox *sb, enum sandbox_state s,
			const struct sb_err *cause, struct sb_err *err);

/* What it is called: its name, or its id once another has its name. */
const char *sandbox_name(const struct sandbox *sb);

/* Files of a sandbox; the caller's. */
char *sandbox_path(const struct sandbox *sb, const char *file);
/* The libvirt domain's name; the caller's. */
char *sandbox_domain(const struct sandbox *sb);

/* The address under which this host itself reaches the forwards. */
const char *sandbox_address(const struct sandbox *sb);

/* The host port that leads to the named one, 0 if there is none. */
int sandbox_port_of(const struct sandbox *sb, const char *name);

/* The API's object. */
json_t *sandbox_json(const struct sandbox *sb);
/* The ports' part of it. */
json_t *sandbox_port_json(const struct sandbox *sb,
			  const struct sandbox_port *p);
/* What an event says of it. */
json_t *sandbox_event_json(const struct sandbox *sb);

/* The last n lines of the serial log, as a JSON array of strings. */
json_t *sandbox_serial_tail(const struct sandbox *sb, int n);
