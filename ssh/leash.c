/* SPDX-License-Identifier: Apache-2.0 */
/* The second channel that signals a command's process group. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/token.h"
#include "ssh/leash.h"
#include "ssh/ssh.h"

#define MARK_BYTES 8
#define MARK_LEN (2 * MARK_BYTES)
#define PGID_DIGITS 10

/* Each state follows from the one before; any but READY may go to FAILED. */
enum leash_state {
	LEASH_BLIND,	/* the group is not known yet */
	LEASH_OPENING,	/* the channel is asked for */
	LEASH_STARTING, /* its command is asked for */
	LEASH_READY,
	LEASH_FAILED,
};

struct leash {
	ssh_session session;
	ssh_channel channel;
	enum leash_state state;
	char mark[MARK_LEN + 1];
	char pgid[PGID_DIGITS + 1];
	char *command;
	struct buf todo; /* lines to be sent */
};

struct leash *leash_new(ssh_session session)
{
	struct leash *l = xcalloc(1, sizeof(*l));

	l->session = session;
	random_hex(l->mark, MARK_BYTES);
	return l;
}

void leash_free(struct leash *l, bool ended)
{
	if (!l)
		return;
	/* Where the guest has not opened it, there is nobody to tell. */
	if (l->state == LEASH_STARTING || l->state == LEASH_READY) {
		if (ended)
			ssh_channel_write(l->channel, "end\n", 4);
		ssh_channel_close(l->channel);
	}
	if (l->channel)
		ssh_channel_free(l->channel);
	buf_done(&l->todo);
	free(l->command);
	free(l);
}

char *leash_wrap(const struct leash *l, const char *command)
{
	/*
	 * sshd has made the user's shell, of whatever kind, the leader of a
	 * group.  To its child the group's number is $PPID.
	 */
	return xasprintf("/bin/sh -c 'printf \"%s:%%s\\n\" $PPID >&2'\n%s",
			 l->mark, command);
}

bool leash_find(struct leash *l, struct buf *head)
{
	char *mark = memmem(head->p, head->len, l->mark, MARK_LEN);
	char *number, *end, *stop = head->p + head->len;
	size_t n;

	if (!mark)
		return head->len > LEASH_HEAD_MAX;
	number = mark + MARK_LEN + 1;
	end = memchr(mark, '\n', stop - mark);
	if (!end)
		return stop - mark > MARK_LEN + 1 + PGID_DIGITS;
	n = end > number ? end - number : 0;
	if (n && n <= PGID_DIGITS && strspn(number, "0123456789") == n &&
	    number[0] != '0') {
		memcpy(l->pgid, number, n);
		l->state = LEASH_OPENING;
	}
	end++;
	memmove(mark, end, stop - end);
	head->len -= end - mark;
	return true;
}

static void fail(struct leash *l)
{
	log_debug("no second SSH channel: %s", ssh_get_error(l->session));
	l->state = LEASH_FAILED;
}

static void step_open(struct leash *l)
{
	if (!l->channel)
		l->channel = ssh_channel_new(l->session);
	if (!l->channel) {
		fail(l);
		return;
	}
	switch (ssh_channel_open_session(l->channel)) {
	case SSH_OK:
		break;
	case SSH_AGAIN:
		return;
	default:
		fail(l);
		return;
	}
	l->command = xasprintf("exec /bin/sh -c 'while read -r s; do "
			       "[ \"$s\" = end ] && exit; "
			       "kill -s \"$s\" -- -%s; done; "
			       "kill -s HUP -- -%s' 2>/dev/null",
			       l->pgid, l->pgid);
	l->state = LEASH_STARTING;
}

static void step_start(struct leash *l)
{
	switch (ssh_channel_request_exec(l->channel, l->command)) {
	case SSH_OK:
		l->state = LEASH_READY;
		break;
	case SSH_AGAIN:
		break;
	default:
		fail(l);
	}
}

void leash_step(struct leash *l)
{
	if (l->state == LEASH_OPENING)
		step_open(l);
	if (l->state == LEASH_STARTING)
		step_start(l);
	if (l->state == LEASH_READY && l->todo.len) {
		int n = ssh_channel_write(l->channel, l->todo.p, l->todo.len);

		if (n > 0)
			buf_drop(&l->todo, n);
	}
}

bool leash_signal(struct leash *l, int sig)
{
	if (l->state == LEASH_FAILED)
		return false;
	buf_addf(&l->todo, "%s\n", sigabbrev_np(sig));
	leash_step(l);
	return true;
}
