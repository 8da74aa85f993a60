/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a channel and starting its command. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ssh/command.h"

static int open_session(struct ssh *s, ssh_channel channel, int64_t deadline,
			struct sb_err *err)
{
	int rc;

	while ((rc = ssh_channel_open_session(channel)) == SSH_AGAIN)
		if (session_wait(s, deadline, err) < 0)
			return -1;
	if (rc != SSH_OK)
		return session_fail(s, "the guest opens no SSH channel", err);
	return 0;
}

static int request_pty(struct ssh *s, ssh_channel channel,
		       const struct tty *tty, int64_t deadline,
		       struct sb_err *err)
{
	const char *term = getenv("TERM");
	int cols, rows, rc;

	if (str_empty(term))
		term = "xterm";
	tty_size(tty, &cols, &rows);
	while ((rc = ssh_channel_request_pty_size(channel, term, cols, rows)) ==
	       SSH_AGAIN)
		if (session_wait(s, deadline, err) < 0)
			return -1;
	if (rc != SSH_OK)
		return session_fail(s, "the guest gives no terminal", err);
	return 0;
}

static int request_exec(struct ssh *s, ssh_channel channel, const char *command,
			int64_t deadline, struct sb_err *err)
{
	int rc;

	while ((rc = ssh_channel_request_exec(channel, command)) == SSH_AGAIN)
		if (session_wait(s, deadline, err) < 0)
			return -1;
	if (rc != SSH_OK)
		return session_fail(s, "the guest does not run the command",
				    err);
	return 0;
}

int command_start(struct ssh *s, const char *command, const struct tty *tty,
		  struct ssh_channel_callbacks_struct *callbacks,
		  int64_t deadline, ssh_channel *ret, struct sb_err *err)
{
	ssh_channel channel = ssh_channel_new(s->session);

	if (!channel)
		return session_fail(s, "cannot make an SSH channel", err);
	ssh_set_channel_callbacks(channel, callbacks);
	if (open_session(s, channel, deadline, err) < 0 ||
	    (tty && request_pty(s, channel, tty, deadline, err) < 0) ||
	    request_exec(s, channel, command, deadline, err) < 0) {
		command_end(channel, callbacks);
		return -1;
	}
	*ret = channel;
	return 0;
}

void command_end(ssh_channel channel,
		 struct ssh_channel_callbacks_struct *callbacks)
{
	ssh_remove_channel_callbacks(channel, callbacks);
	ssh_channel_close(channel);
	ssh_channel_free(channel);
}

int command_signal_status(const char *name)
{
	for (int sig = 1; name && sig < NSIG; sig++) {
		const char *known = sigabbrev_np(sig);

		if (known && strcmp(known, name) == 0)
			return 128 + sig;
	}
	return 128; /* sshd has no name for the rarer ones */
}
