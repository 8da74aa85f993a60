/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a sandbox is made of.  A template (YAML), the body of POST
 * /v1/sandboxes and the journal all say it with the same keys, and all come
 * in through spec_from_json(); docs/sandbox-template.pod explains each key.
 *
 * A specification is layered: spec_init() gives the defaults, template_load()
 * puts a template over them, spec_from_json() the caller's wishes over that,
 * and spec_check() looks at the result as a whole.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define SPEC_MAX_MOUNTS 4
#define SPEC_MAX_PORTS 24
#define SPEC_MAX_ORIGINS 16
#define SPEC_MAX_VARS 256 /* environment variables, labels */
#define SPEC_NAME_LEN 63  /* a sandbox's name is its host name as well */
#define SPEC_MIN_MEMORY (256ULL << 20)
#define SPEC_MIN_DISK (1ULL << 30)
#define SPEC_VNC_PORT 5900 /* inside the guest */
#define SPEC_SSH_PORT 22

enum spec_network { SPEC_NET_NONE, SPEC_NET_OPEN };
enum spec_restart {
	SPEC_RESTART_NO,
	SPEC_RESTART_ON_FAILURE,
	SPEC_RESTART_ALWAYS
};

struct spec_mount {
	char *host;  /* absolute path of a folder */
	char *guest; /* absolute path */
	bool readonly;
};

struct spec_port {
	int host; /* 0: pick a free one */
	int guest;
};

struct spec_var {
	char *name;
	char *value;
};

struct spec_vars {
	struct spec_var *v;
	size_t n;
};

/* Ports of the host that lead to the guest's own services; 0: pick. */
struct spec_host_ports {
	int server;
	int jupyter;
	int ssh;
	int vnc;
};

/* Strings are owned and never NULL, except where it is said. */
struct spec {
	char *name;	  /* NULL: sandboxd makes one up */
	bool unique_name; /* append a suffix when the name is taken */
	char *template;	  /* NULL: none was used */
	char *image;
	int cpus;
	unsigned long long memory; /* bytes */
	unsigned long long disk;   /* bytes */
	struct spec_mount mounts[SPEC_MAX_MOUNTS];
	size_t nmounts;
	struct spec_port ports[SPEC_MAX_PORTS];
	size_t nports;
	bool auto_ports; /* a busy host port becomes a free one */
	char *listen;	 /* host address of all forwards */
	struct spec_host_ports host_ports;
	struct spec_vars env;
	struct spec_vars labels;
	long long ttl; /* seconds, 0: no limit */
	enum spec_network network;
	bool preserve; /* down keeps the disk and the share */
	enum spec_restart restart;
	bool debug;

	/* Inside the guest. */
	char *user;	  /* who runs commands */
	char *workspace;  /* where they start */
	char *display;	  /* "1280x800" */
	char *shared_dir; /* where the 9p share is mounted */
	int server_port;
	char *origins[SPEC_MAX_ORIGINS]; /* whose pages may ask guestd */
	size_t norigins;
	int jupyter_port;
	int max_kernels;
	long long kernel_idle; /* seconds until one is ended, 0: never */
	bool warm_kernel;      /* one is started before it is asked for */
	char *server_log;      /* file names below SHARED_DIR/logs */
	char *jupyter_log;
};

/* Beside these, as guestd names it. */
#define SPEC_DESKTOP_LOG "desktop.log"

/* Fill with the defaults; spec_done() frees what it holds. */
void spec_init(struct spec *s);
void spec_done(struct spec *s);
#define autospec __attribute__((cleanup(spec_done)))

/* Make dst (uninitialised) a deep copy of src. */
void spec_copy(struct spec *dst, const struct spec *src);

/*
 * Put the fields of a JSON object over those of io.  Scalars replace; maps
 * and lists add to what is there, and an entry with the same variable name,
 * guest path, guest port or origin replaces the old one.  Strict: an unknown
 * field, a wrong type or a value out of range is SB_INVALID and names the
 * field; io is then unchanged.
 */
int spec_from_json(const json_t *obj, struct spec *io, struct sb_err *err);

/*
 * The same, and on failure the path of the field at fault ("ports[1].guest",
 * "" for the object itself) is left in ret_field, for a caller who knows in
 * which line it stands.
 */
#define SPEC_FIELD_LEN 128
int spec_from_json_at(const json_t *obj, struct spec *io,
		      char ret_field[SPEC_FIELD_LEN], struct sb_err *err);

/*
 * All fields, with sizes in bytes and times in seconds.  Given back to
 * spec_from_json() over the defaults, it makes an equal specification.
 */
json_t *spec_to_json(const struct spec *s);

/*
 * What can only be judged of the whole: ports used twice, mounts inside each
 * other or over the guest's system folders.
 */
int spec_check(const struct spec *s, struct sb_err *err);

/* A name of a sandbox, template or image: [a-z0-9][a-z0-9-]{0,62}. */
bool spec_name_ok(const char *name);

/* The value of a variable, NULL if it is not set. */
const char *spec_vars_get(const struct spec_vars *vars, const char *name);

const char *spec_network_name(enum spec_network network);
const char *spec_restart_name(enum spec_restart restart);
