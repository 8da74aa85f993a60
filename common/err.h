/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The one way in which a function reports failure: it returns -1 and fills
 * the struct sb_err that its caller keeps on the stack.  The code maps, in one
 * table, to an HTTP status and to the exit status of sandboxctl.
 */

enum sb_code {
	SB_OK,
	SB_INVALID, /* the caller's input is wrong */
	SB_AUTH,    /* no or wrong credentials */
	SB_DENIED,  /* credentials are fine, the act is not allowed */
	SB_NOTFOUND,
	SB_METHOD,   /* the route exists, the method does not */
	SB_CONFLICT, /* exists already, or is in the wrong state */
	SB_LIMIT,    /* larger than we accept */
	SB_BUSY,     /* try again later */
	SB_TIMEOUT,
	SB_CANCELLED,
	SB_MISSING, /* something that must be installed or built first */
	SB_NOSPACE,
	SB_GUEST,   /* the guest failed or broke the protocol */
	SB_SYSTEM,  /* the host failed: errno, libvirt, QEMU */
	SB_UPGRADE, /* the route wants another protocol: WebSocket */
	SB_FORMAT,  /* a body of a kind that we do not read */
	SB_NCODES
};

struct sb_err { /* on the caller's stack: nobody frees it */
	enum sb_code code;
	char msg[512];
	char hint[256]; /* what to do about it, may be empty */
};

/* Fill err (which may be NULL) and return -1. */
int sb_fail(struct sb_err *err, enum sb_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " before the message that err holds and return -1. */
int sb_wrap(struct sb_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Add the remedy to an error that is already filled and return -1. */
int sb_hint(struct sb_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* SB_NOSPACE for ENOSPC and EDQUOT, SB_NOTFOUND for ENOENT, SB_DENIED for
 * EACCES and EPERM, else SB_SYSTEM. */
enum sb_code sb_code_of_errno(int errnum);

/* The stable word for a code ("not-found"), its HTTP status and the exit
 * status that sandboxctl ends with. */
const char *sb_code_name(enum sb_code code);
int sb_code_http(enum sb_code code);
int sb_code_exit(enum sb_code code);

/* The code whose word is name; SB_SYSTEM if there is none. */
enum sb_code sb_code_of_name(const char *name);
