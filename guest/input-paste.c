/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typing through the clipboard.  X tells when a program has read what it
 * pastes: that is the only proof there is that it has dealt with the keys that
 * came before, and so the next ones can follow.
 */
#include "config.h"

#include <X11/Xatom.h>

#include "common/clock.h"
#include "guest/clipboard-loan.h"
#include "guest/input-hands.h"
#include "guest/input-idle.h"

#define NOBODY_MS 1000 /* one that sleeps and has not asked will not ask */
#define BUSY_MS 10000  /* and nor will one that works for so long */
#define READ_MS 10000  /* one that has asked reads for so long, at most */
#define AFTER_MS 5000  /* for what it does after it has the text */
#define FRAME_MS 25    /* browsers sleep until the next picture is due */
#define FIRST_MS 500   /* the first time, as nothing is known of it */
#define LOOK_MS 20
#define SETTLE_MS 5 /* between looks, before it is asked to paste at all */
#define MAX_SETTLE 200
#define MAX_LOST 5

/*
 * How much the program that has pasted last asks when it has the text.  Only
 * the thread of X is here.
 */
static struct {
	int pid; /* 0: there is none */
	unsigned long after;
} known;

/* Whether the program sleeps, and has not been awake since the last look. */
static bool rests(struct hands *h)
{
	struct screen_input *s = h->s;
	long long before = s->switches;
	int pid = input_focus_pid(h->dpy);
	int sleeps = pid ? input_sleeps(pid, &s->switches) : -1;

	return sleeps < 0 || (sleeps && s->switches == before);
}

/*
 * Whether it has dealt with the keys that came before, of which one may have
 * marked something.
 */
static bool is_settled(struct hands *h)
{
	struct screen_input *s = h->s;
	bool quiet = rests(h) && !input_server_works(h->dpy);

	if ((quiet && s->looks) || s->looks == MAX_SETTLE) {
		s->looks = 0;
		return true;
	}
	s->looks++;
	s->wait_ms = SETTLE_MS;
	return false;
}

/*
 * Programs unmark what was marked when they lose PRIMARY, and would not replace
 * it: so that of the program itself is left alone unless it pastes from there.
 */
static bool wants_primary(Display *dpy)
{
	Window owner = XGetSelectionOwner(dpy, XA_PRIMARY);

	return owner == None || input_focus_is_terminal(dpy) ||
	       !input_same_client(dpy, owner, input_focus(dpy));
}

static int press_paste(struct hands *h, struct sb_err *err)
{
	struct input_step t = { .text = (char *)"shift+Insert" };

	t.kind = INPUT_KEY_DOWN;
	if (hands_chord(h, &t, err) < 0)
		return -1;
	t.kind = INPUT_KEY_UP;
	return hands_chord(h, &t, err);
}

/* Have the clipboard, then the text in it, and press the key. */
static int begin(struct hands *h, const char *text, struct sb_err *err)
{
	struct screen_input *s = h->s;
	struct loan_news news;

	if (!s->loan && !is_settled(h))
		return 0;
	if (!s->loan &&
	    clipboard_loan_new(DisplayString(h->dpy), wants_primary(h->dpy),
			       &s->loan, err) < 0)
		return -1;
	clipboard_loan_look(s->loan, &news);
	s->wait_ms = news.state == LOAN_READY ? 0 : 1;
	if (news.state == LOAN_LOST) {
		screen_input_end(s);
		if (s->lost++ == MAX_LOST)
			return sb_fail(err, SB_BUSY,
				       "somebody else uses the clipboard");
	} else if (news.state == LOAN_READY && !s->offered) {
		clipboard_loan_offer(s->loan, text + s->off, s->until - s->off,
				     input_focus(h->dpy));
		s->offered = true;
	} else if (news.state == LOAN_READY) {
		s->offered = false;
		s->pasted_ms = clock_ms();
		return press_paste(h, err);
	}
	return 0;
}

/* Whether the program will not ask any more: it has slept for a while, or has
 * had its time. */
static bool is_deaf(struct hands *h, int64_t waited)
{
	bool resting = rests(h);

	if (waited < NOBODY_MS)
		return false;
	return waited >= BUSY_MS || resting;
}

/*
 * Whether it has done all that it does when it pastes: Chromium asks more when
 * it has the text, and pastes nothing if it then finds another.  It has if it
 * sleeps, has not been awake since the last look, and nobody has asked for
 * anything that would not have been answered.
 */
static bool is_calm(struct hands *h, const struct loan_news *news)
{
	struct screen_input *s = h->s;
	unsigned long answered = s->requests;
	bool resting = rests(h);

	/* What it has asked the server must have come here, too. */
	if (input_server_works(h->dpy))
		s->looks = 0;
	s->requests = news->requests;
	return s->looks++ > 0 && resting && s->requests == answered;
}

/* Whether it has been calm for long enough. */
static bool stays_calm(struct hands *h, const struct loan_news *news, int pid,
		       int64_t waited)
{
	const struct screen_input *s = h->s;

	if (!s->calm_ms)
		return false;
	if (pid != known.pid && waited < FIRST_MS &&
	    !input_focus_is_terminal(h->dpy))
		return false;
	return !news->after || clock_ms() - s->calm_ms >= FRAME_MS;
}

static int end(struct hands *h, const struct loan_news *news, int64_t waited)
{
	struct screen_input *s = h->s;
	int pid = input_focus_pid(h->dpy);
	unsigned long after = pid == known.pid ? known.after : 0;
	bool calm;

	/* Looking costs the program time if it is short. */
	s->wait_ms = MIN(1 + s->looks / 4, LOOK_MS);
	if (news->state == LOAN_BUSY)
		return 0;
	if (!is_calm(h, news))
		s->calm_ms = 0;
	else if (!s->calm_ms)
		s->calm_ms = clock_ms();
	calm = stays_calm(h, news, pid, waited);
	if (news->state == LOAN_READY && waited < AFTER_MS &&
	    (!calm || news->after < after)) {
		clipboard_loan_answer(s->loan);
		return 0;
	}
	known.pid = pid;
	known.after = calm ? MAX(after, news->after) : news->after;
	s->pasted_ms = s->calm_ms = 0;
	s->wait_ms = s->looks = 0;
	return 1;
}

int hands_paste(struct hands *h, const char *text, struct sb_err *err)
{
	struct screen_input *s = h->s;
	struct loan_news news;
	int64_t waited;

	if (!s->pasted_ms)
		return begin(h, text, err);
	waited = clock_ms() - s->pasted_ms;
	clipboard_loan_look(s->loan, &news);
	if (news.taken || (news.asked && waited >= READ_MS) ||
	    (news.others && waited >= NOBODY_MS))
		return end(h, &news, waited);
	s->wait_ms = (int)MIN(1 + waited / 8, LOOK_MS);
	if (news.asked || !is_deaf(h, waited))
		return 0;
	s->pasted_ms = 0;
	s->wait_ms = s->looks = 0;
	/* Who comes too late gets nothing. */
	clipboard_loan_offer(s->loan, "", 0, None);
	sb_fail(err, SB_TIMEOUT,
		"the program that has the keyboard does not "
		"paste what is typed");
	return sb_hint(err, "type with \"method\": \"keys\", or click where "
			    "text can be entered first");
}

bool hands_end_paste(struct hands *h)
{
	struct screen_input *s = h->s;
	struct loan_news news;

	if (!s->loan)
		return true;
	if (!s->offered)
		clipboard_loan_return(s->loan);
	s->offered = true;
	clipboard_loan_look(s->loan, &news);
	s->wait_ms = 1;
	if (news.state == LOAN_BUSY)
		return false;
	s->wait_ms = 0;
	screen_input_end(s);
	return true;
}
