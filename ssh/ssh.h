/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * SSH to a guest, on libssh: for putting guestd into it, and for rescue.
 * Blocking; a session belongs to the thread that opened it.  The host key is
 * known beforehand (we made it), so nothing is trusted on first use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/copy.h"
#include "common/err.h"
#include "common/util.h"

/* A fresh Ed25519 key pair in OpenSSH's formats. */
struct ssh_keypair {
	char *private_pem; /* "-----BEGIN OPENSSH PRIVATE KEY-----…" */
	char *public_line; /* "ssh-ed25519 AAAA…" */
};
int ssh_keypair_new(struct ssh_keypair *ret, struct sb_err *err);
void ssh_keypair_done(struct ssh_keypair *k);

struct ssh_target {
	const char *host; /* a numeric address: "127.0.0.1" */
	int port;
	const char *user;
	const char *key_file; /* private key, OpenSSH format */
	const char *host_key; /* the one public line that is accepted */
	int timeout_ms;	      /* for connecting, all tries together */
	int cancel_fd;	      /* readable: give up; -1: none */
};

struct ssh;
/*
 * Connect and log in, trying again while the guest's sshd is not up yet.
 * Every later wait of the session ends, too, when cancel_fd becomes readable.
 * (Not ssh_connect: libssh owns that name.)
 */
int ssh_open(const struct ssh_target *t, struct ssh **ret, struct sb_err *err);
void ssh_close(struct ssh *s);
DEFINE_AUTO(struct ssh *, ssh_close, ssh_auto_close)
#define autossh __attribute__((cleanup(ssh_auto_close)))

/*
 * Run a command line (the guest's shell reads it; quote with ssh_quote).
 * stdin comes from in_fd (-1: empty), output goes to out_fd and err_fd (-1:
 * dropped).  Returns when the command has ended and its output has, which a
 * process that it left behind with its stdout can delay.
 * *ret_status is the exit status, or 128 + n for signal n as a shell tells it.
 *
 * With tty the command runs in a pty of the size of the terminal out_fd, which
 * is followed, and the terminal in_fd is in raw mode meanwhile.
 *
 * With forward_signals, SIGINT, SIGQUIT, SIGTERM and SIGHUP of this thread's
 * process reach the command's process group while it runs, and the group gets
 * SIGHUP when the connection goes away.  No other thread may accept these
 * signals then.  (A pty does both by itself: there, SIGINT types Ctrl-C and the
 * others hang up and return SB_CANCELLED.)
 */
struct ssh_exec {
	const char *command;
	int in_fd, out_fd, err_fd;
	bool tty;
	bool forward_signals;
	/*
	 * Gets the guest's bytes instead of out_fd and err_fd; stream is
	 * STDOUT_FILENO or STDERR_FILENO.  May be NULL.
	 */
	void (*filter)(void *arg, int stream, const char *data, size_t len);
	void *filter_arg;
	int timeout_ms; /* -1: none */
};
int ssh_exec(struct ssh *s, const struct ssh_exec *x, int *ret_status,
	     struct sb_err *err);

/* Quote one word for a POSIX shell; the caller's. */
char *ssh_quote(const char *word);

/* For copies (common/copy.h) over the session. */
struct copy_way ssh_copy_way(struct ssh *s);
