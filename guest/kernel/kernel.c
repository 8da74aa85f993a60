/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O thread: all sockets, all output, and never the GIL. */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "guest/kernel/kernel.h"
#include "guest/kernel/launcher.h"

/* iopub has no event for room: look again after so long. */
#define RETRY_MS 2
#define BURST 32 /* messages, before others are looked at */
/* After a subscriber has come back, until its other sockets have, too. */
#define BACK_MS 250
/* Lines of the log in so long. */
#define LOG_LINES 20
#define LOG_WINDOW_MS 10000
/* What is still to be sent when the process ends has so long. */
#define LINGER_MS 1000

/*
 * The reader of our stderr may be asleep, and a peer may give us a lot to say:
 * what cannot be said at once, or too often, is not said.
 */
void kernel_log(struct kernel *k, const char *fmt, ...)
{
	struct pollfd p = { .fd = k->cap.real[1], .events = POLLOUT };
	int64_t now = clock_ms();
	char line[1024];
	va_list ap;
	size_t n;

	if (now - k->log_since > LOG_WINDOW_MS) {
		k->log_since = now;
		k->logged = 0;
	}
	if (k->logged++ >= LOG_LINES || poll(&p, 1, 0) != 1)
		return;
	n = (size_t)snprintf(line, sizeof(line), "sandbox-kernel: ");
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	/* What a peer sent cannot make lines or drive a terminal. */
	for (n = 0; line[n]; n++)
		if ((unsigned char)line[n] < 0x20 || line[n] == 0x7f)
			line[n] = '?';
	line[n++] = '\n';
	fs_write_all(p.fd, line, n);
}

void kernel_status(struct kernel *k, const char *state, struct request *parent)
{
	struct outgoing *o = outgoing_new(CHANNEL_IOPUB, "status", parent);

	buf_addf(&o->content, "{\"execution_state\":\"%s\"}", state);
	outbox_lock(&k->out);
	outbox_add(&k->out, o);
	outbox_unlock(&k->out);
}

/* Text becomes the content of a stream message when it is sent. */
static void finish_text(struct outgoing *o)
{
	struct buf content = { 0 };

	buf_addf(&content, "{\"name\":\"%s\",\"text\":",
		 o->stream == STREAM_ERR ? "stderr" : "stdout");
	utf8_quote(o->content.p ? o->content.p : "", o->content.len, &content);
	buf_adds(&content, "}");
	buf_done(&o->content);
	o->content = content;
	o->stream = STREAM_NONE;
}

static struct slice slice_of(const char *s)
{
	return (struct slice){ s, strlen(s) };
}

/* Who gets it: the peer that asked, or all who subscribed to the topic. */
static size_t put_address(struct kernel *k, const struct outgoing *o,
			  char topic[128], struct slice *frames)
{
	if (o->topic) {
		frames[0] = slice_of(o->topic);
		return 1;
	}
	if (o->channel == CHANNEL_IOPUB) {
		snprintf(topic, 128, "kernel.%s.%s", k->session.id, o->type);
		frames[0] = slice_of(topic);
		return 1;
	}
	if (!o->parent)
		return 0;
	memcpy(frames, o->parent->ids, o->parent->nids * sizeof(*frames));
	return o->parent->nids;
}

static int send_message(struct kernel *k, struct outgoing *o)
{
	autobuf struct buf header = { 0 };
	autofree struct slice *frames =
		xcalloc(WIRE_MAX_IDS + 6 + o->nbuffers, sizeof(*frames));
	char topic[128], sig[WIRE_SIG_LEN + 1];
	struct wire_msg m = { 0 };
	size_t n;

	if (o->stream)
		finish_text(o);
	session_header(&k->session, o->type, &header);
	m.header = (struct slice){ header.p, header.len };
	m.parent = o->parent ? o->parent->header : slice_of("{}");
	m.metadata = slice_of(o->metadata ? o->metadata : "{}");
	m.content = (struct slice){ o->content.p, o->content.len };
	wire_sign(&k->conn.key, &m, sig);
	n = put_address(k, o, topic, frames);
	frames[n++] = slice_of(WIRE_DELIMITER);
	frames[n++] = slice_of(sig);
	frames[n++] = m.header;
	frames[n++] = m.parent;
	frames[n++] = m.metadata;
	frames[n++] = m.content;
	for (size_t i = 0; i < o->nbuffers; i++)
		frames[n++] =
			(struct slice){ o->buffers[i].p, o->buffers[i].len };
	return channels_send(&k->ch, o->channel, frames, n);
}

void kernel_send_now(struct kernel *k, struct outgoing *o)
{
	send_message(k, o);
	outgoing_free(o);
}

/*
 * iopub had no room: wait, as whoever prints then waits too.  But not for
 * ever: a subscriber that takes nothing at all loses what it does not take.
 */
static bool is_stuck(struct kernel *k, int64_t now)
{
	if (!k->stalled)
		k->stalled = now;
	if (now - k->stalled < k->stall_ms)
		return false;
	if (!k->told)
		kernel_log(
			k,
			"a subscriber of iopub has read nothing for %d s; it loses messages until it reads again",
			(int)(k->stall_ms / 1000));
	k->told = true;
	return true;
}

static bool send_pending(struct kernel *k, int64_t now)
{
	if (send_message(k, k->pending) == 0) {
		if (k->pending->channel == CHANNEL_IOPUB) {
			k->stalled = 0;
			k->told = false;
		}
		return true;
	}
	/* The peer of another channel is gone, and with it the need. */
	if (k->pending->channel != CHANNEL_IOPUB)
		return true;
	if (!is_stuck(k, now))
		return false;
	channels_set_lossy(&k->ch, true);
	send_message(k, k->pending);
	channels_set_lossy(&k->ch, false);
	return true;
}

/*
 * Send what may be sent, but not for as long as a cell prints: an interrupt and
 * whatever else has come are to be heard meanwhile.  Returns the milliseconds
 * until more may.
 */
static int send_some(struct kernel *k)
{
	int wait = -1;

	for (int i = 0; i < BURST; i++) {
		int64_t now = clock_ms();

		if (now < k->held_until)
			return (int)(k->held_until - now);
		if (!k->pending)
			k->pending = outbox_take(&k->out, now, &wait);
		if (!k->pending)
			return wait;
		if (!send_pending(k, now))
			return RETRY_MS;
		outbox_sent(&k->out, steal(&k->pending));
	}
	return 0;
}

/* All that is left, before the process ends. */
static void send_rest(struct kernel *k)
{
	for (int64_t end = clock_ms() + LINGER_MS; clock_left(end);) {
		int wait = send_some(k);

		if (wait < 0)
			break;
		usleep((useconds_t)wait * 1000);
	}
}

/*
 * "\1": somebody subscribed to all; "\0": nobody does any more.  If he who left
 * is to come back, what there is to say waits for him.
 */
static void hold(struct kernel *k, struct slice f)
{
	int64_t now = clock_ms();

	if (!k->hold_ms || f.len != 1)
		return;
	if (f.p[0] == 0)
		k->held_until = now + k->hold_ms;
	else if (now < k->held_until)
		k->held_until = MIN(k->held_until, now + BACK_MS);
}

/* "\1topic": somebody subscribed.  Tell him that he did (JEP 65). */
static void on_subscription(struct kernel *k)
{
	const struct slice *f;
	struct outgoing *o;
	size_t n;

	while (channels_recv(&k->ch, CHANNEL_IOPUB, &f, &n) != 0) {
		autojson json_t *content = NULL;
		autofree char *text = NULL;

		if (n >= 1)
			hold(k, f[0]);
		if (n < 1 || f[0].len < 1 || f[0].p[0] != 1)
			continue;
		content = json_object();
		json_put(content, "subscription",
			 json_text(f[0].p + 1, f[0].len - 1));
		text = json_print(content);
		o = outgoing_new(CHANNEL_IOPUB, "iopub_welcome", NULL);
		o->topic = xstrndup(f[0].p + 1, f[0].len - 1);
		buf_adds(&o->content, text);
		outbox_lock(&k->out);
		outbox_add(&k->out, o);
		outbox_unlock(&k->out);
	}
}

static void on_heartbeat(struct kernel *k)
{
	const struct slice *f;
	size_t n;
	int rc;

	while ((rc = channels_recv(&k->ch, CHANNEL_HB, &f, &n)) != 0)
		if (rc > 0)
			channels_send(&k->ch, CHANNEL_HB, f, n);
}

/* One message of shell, control or stdin; false when there is none. */
static bool on_message(struct kernel *k, enum channel which)
{
	const struct slice *f;
	struct wire_msg m;
	struct request *r;
	struct sb_err err;
	size_t n;
	int rc = channels_recv(&k->ch, which, &f, &n);

	if (rc == 0)
		return false;
	if (rc < 0) {
		kernel_log(k, "%s: a message was too large",
			   channel_name(which));
		return true;
	}
	if (wire_split(f, n, &m, &err) < 0 ||
	    wire_verify(&k->conn.key, k->seen, &m, &err) < 0 ||
	    request_new(which, &m, &r, &err) < 0) {
		kernel_log(k, "%s: a message was refused: %s",
			   channel_name(which), err.msg);
		return true;
	}
	kernel_dispatch(k, r);
	return true;
}

static void on_messages(struct kernel *k, enum channel which)
{
	while (!(which == CHANNEL_SHELL && inbox_full(&k->in)) &&
	       on_message(k, which))
		;
}

/* Who prints after idle, or runs by itself, is heard too. */
static void on_output(struct kernel *k)
{
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, false);
	outbox_unlock(&k->out);
}

/* The time is up: say so to whoever waits, and end. */
static void give_up(struct kernel *k, const char *why)
{
	kernel_log(k, "%s", why);
	interrupt_children(SIGKILL, false);
	channels_close(&k->ch, LINGER_MS);
	_exit(EXIT_FAILURE);
}

static void over_deadline(struct kernel *k)
{
	static const char why[] =
		"the deadline has passed and the code could not be interrupted; the kernel ends";
	struct request *r;
	struct outgoing *o;

	outbox_lock(&k->out);
	r = k->out.current;
	outbox_text(&k->out, STREAM_ERR, why, sizeof(why) - 1);
	if (r && strcmp(r->type, "execute_request") == 0) {
		o = outgoing_new(r->channel, "execute_reply", r);
		buf_addf(
			&o->content,
			"{\"status\":\"error\",\"ename\":\"DeadlineExceeded\",\"evalue\":\"%s\",\"traceback\":[],\"execution_count\":0}",
			why);
		outbox_add(&k->out, o);
	}
	outbox_unlock(&k->out);
	kernel_status(k, "idle", r);
	send_rest(k);
	give_up(k, why);
}

/* What happens by time.  Returns the milliseconds until the next. */
static int on_time(struct kernel *k, int wait)
{
	int64_t now = clock_ms();
	bool over = false;
	int next = interrupt_tick(&k->irq, now, &over);

	if (over)
		over_deadline(k);
	if (k->stop_at && now >= k->stop_at)
		give_up(k, "the running code did not end; the kernel does");
	if (k->stop_at)
		next = next < 0 ? (int)(k->stop_at - now)
				: MIN(next, (int)(k->stop_at - now));
	return wait < 0 ? next : next < 0 ? wait : MIN(wait, next);
}

static void on_events(struct kernel *k, unsigned int got)
{
	if (got & 1U << CHANNEL_CONTROL)
		on_messages(k, CHANNEL_CONTROL);
	if (got & 1U << CHANNEL_HB)
		on_heartbeat(k);
	if (got & 1U << CHANNEL_IOPUB)
		on_subscription(k);
	if (got & 1U << CHANNEL_STDIN)
		on_messages(k, CHANNEL_STDIN);
	if (got & 1U << CHANNEL_SHELL)
		on_messages(k, CHANNEL_SHELL);
	if (atomic_load(&k->sweep)) {
		on_messages(k, CHANNEL_SHELL);
		inbox_abort(&k->in);
		atomic_store(&k->sweep, false);
		inbox_wake(&k->in);
	}
}

static void wait_and_act(struct kernel *k, int wait)
{
	enum { WAKE, OUT, ERR, PARENT, NFDS };
	bool full, ready[NFDS];
	unsigned int mask = (1U << CHANNELS) - 1, got;
	uint64_t n;

	if (inbox_full(&k->in)) {
		mask &= ~(1U << CHANNEL_SHELL);
		wait = wait < 0 ? RETRY_MS : MIN(wait, RETRY_MS);
	}
	outbox_lock(&k->out);
	full = outbox_full(&k->out);
	outbox_unlock(&k->out);
	got = channels_wait(&k->ch, mask,
			    (int[NFDS]){ [WAKE] = k->out.wake_fd,
					 [OUT] = full ? -1 : k->cap.in[0],
					 [ERR] = full ? -1 : k->cap.in[1],
					 [PARENT] = k->parent_fd },
			    ready, NFDS, wait);
	if (ready[WAKE] && read(k->out.wake_fd, &n, sizeof(n)) < 0)
		ready[WAKE] = false;
	if (ready[OUT] || ready[ERR])
		on_output(k);
	if (ready[PARENT])
		give_up(k, "the process that started the kernel has ended");
	on_events(k, got);
}

static void *io_thread(void *arg)
{
	struct kernel *k = arg;

	prctl(PR_SET_NAME, "kernel-io");
	while (!atomic_load(&k->leave))
		wait_and_act(k, on_time(k, send_some(k)));
	on_output(k);
	send_rest(k);
	channels_close(&k->ch, LINGER_MS);
	return NULL;
}

/* Of a variable for whoever knows his subscribers, which has seconds. */
static int64_t time_of(const char *variable, int dflt_s)
{
	const char *text = getenv(variable);
	long long s = dflt_s;

	if (text && parse_num(text, 1, 86400, &s) < 0)
		s = dflt_s;
	return s * 1000;
}

static int start_thread(struct kernel *k, struct sb_err *err)
{
	sigset_t all, old;
	int rc;

	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&k->thread, NULL, io_thread, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return sb_fail(err, SB_SYSTEM, "cannot start a thread: %s",
			       strerror(rc));
	return 0;
}

int kernel_start(struct kernel *k, const char *file, const char *info,
		 struct sb_err *err)
{
	bool picked = false;

	if (wire_init(err) < 0 || connection_read(file, &k->conn, err) < 0 ||
	    launcher_watch(&k->parent_fd, err) < 0)
		return -1;
	for (int i = 0; i < CHANNELS; i++)
		picked |= !k->conn.ports[i];
	session_init(&k->session);
	k->file = xstrdup(file);
	k->info = xstrdup(info);
	k->comms = json_object();
	k->seen = wire_seen_new();
	k->stall_ms = time_of("SANDBOX_KERNEL_STALL", KERNEL_STALL_S);
	k->hold_ms = time_of("SANDBOX_KERNEL_HOLD", 0);
	if (outbox_init(&k->out, err) < 0 || inbox_init(&k->in, err) < 0 ||
	    channels_open(&k->ch, &k->conn, err) < 0 ||
	    (picked && connection_write(file, &k->conn, err) < 0) ||
	    capture_start(&k->cap, err) < 0)
		return -1;
	kernel_status(k, "starting", NULL);
	return start_thread(k, err);
}

void kernel_stop(struct kernel *k)
{
	uint64_t one = 1;

	atomic_store(&k->leave, true);
	if (write(k->out.wake_fd, &one, sizeof(one)) < 0)
		return;
	pthread_join(k->thread, NULL);
	capture_stop(&k->cap);
}
