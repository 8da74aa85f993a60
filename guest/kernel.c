/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a kernel. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/token.h"
#include "guest/child-log.h"
#include "guest/kernel-ports.h"
#include "guest/kernel-private.h"

#define START_MS 60000	 /* to answer */
#define ASK_MS 1000	 /* again, if it did not */
#define CONNECT_MS 10000 /* again, if it did not and was up before */
#define STOP_MS 3000	 /* to end when asked, then it is killed */
/* For what it said before it ended: so long after the last of it, and in all,
 * as what it left behind may go on talking. */
#define LAST_WORDS_MS 200
#define MAX_LAST_WORDS_MS 60000
#define JOURNAL_MEMORY (4 * 1024 * 1024)
#define JOURNAL_MAX (256 * 1024 * 1024)

void kernel_new_id(char out[KERNEL_ID_LEN + 1])
{
	char hex[33];

	random_hex(hex, 16);
	hex[12] = '4'; /* as RFC 4122 marks random ones */
	hex[16] = "89ab"[hex[16] & 3];
	sprintf(out, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
		hex + 16, hex + 20);
}

uint64_t kernel_max_kept(const struct gateway *gw)
{
	uint64_t max = gateway_config(gw)->max_journal;

	return max ? max : JOURNAL_MAX;
}

struct kernel *kernel_ref(struct kernel *k)
{
	k->refs++;
	return k;
}

void kernel_unref(struct kernel *k)
{
	if (--k->refs)
		return;
	kernel_journal_free(k->journal);
	json_decref(k->env);
	explicit_bzero(k->key, sizeof(k->key));
	free(k->session);
	free(k->reason);
	free(k->message);
	free(k->name);
	free(k->cwd);
	free(k->dir);
	free(k);
}

void kernel_free(struct kernel *k)
{
	gateway_remove(k->gw, k);
	k->state = KERNEL_GONE;
	kernel_changed(k);
	kernel_ports_close(k);
	zlink_close(steal(&k->link));
	loop_timer_free(steal(&k->timer));
	kernel_process_forget(k);
	kernel_forget_messages(k);
	while (!TAILQ_EMPTY(&k->seats)) {
		struct kernel_seat *s = TAILQ_FIRST(&k->seats);

		TAILQ_REMOVE(&k->seats, s, next);
		free(s->session);
		free(s);
	}
	kernel_unref(k);
}

const char *kernel_id(const struct kernel *k)
{
	return k->id;
}

const char *kernel_name(const struct kernel *k)
{
	return k->name;
}

enum kernel_state kernel_state(const struct kernel *k)
{
	return k->state;
}

const char *kernel_message(const struct kernel *k)
{
	return k->message;
}

/* Also of a cell that runs while another thread of the kernel says "idle". */
bool kernel_is_busy(const struct kernel *k)
{
	return k->busy || k->ncells || !TAILQ_EMPTY(&k->queue);
}

/* What others than our clients do there is not known. */
bool kernel_is_free(const struct kernel *k)
{
	return k->state == KERNEL_READY && !k->ended && !k->ncells &&
	       TAILQ_EMPTY(&k->queue);
}

bool kernel_is_shared(const struct kernel *k)
{
	return k->shared;
}

int64_t kernel_active_ms(const struct kernel *k)
{
	return k->active_ms;
}

struct kernel_journal *kernel_journal(struct kernel *k)
{
	return k->journal;
}

struct gateway *kernel_gateway(struct kernel *k)
{
	return k->gw;
}

static const char *state_name(const struct kernel *k)
{
	switch (k->state) {
	case KERNEL_STARTING:
		return "starting";
	case KERNEL_READY:
		return kernel_is_busy(k) ? "busy" : "idle";
	case KERNEL_RESTARTING:
		return "restarting";
	case KERNEL_DEAD:
		return "dead";
	default:
		return "terminating";
	}
}

json_t *kernel_json(const struct kernel *k)
{
	autofree char *active = kernel_iso(k->active_wall_us);
	json_t *j = json_object();

	json_put(j, "id", json_str(k->id));
	json_put(j, "name", json_str(k->name));
	json_put(j, "last_activity", json_str(active));
	json_put(j, "execution_state", json_str(state_name(k)));
	json_put(j, "connections", json_integer(k->connections));
	if (k->state == KERNEL_DEAD) {
		json_put(j, "reason", json_str(k->reason));
		json_put(j, "message", json_str(k->message));
	}
	if (k->process.pid)
		json_put(j, "pid", json_integer(k->process.pid));
	return j;
}

void kernel_listen(struct kernel *k, struct kernel_listener *l)
{
	TAILQ_INSERT_TAIL(&k->listeners, l, next);
}

void kernel_unlisten(struct kernel *k, struct kernel_listener *l)
{
	TAILQ_REMOVE(&k->listeners, l, next);
}

void kernel_changed(struct kernel *k)
{
	struct kernel_listener *l, *next;

	kernel_ref(k);
	for (l = TAILQ_FIRST(&k->listeners); l; l = next) {
		next = TAILQ_NEXT(l, next);
		if (l->on_change)
			l->on_change(l->arg);
	}
	kernel_unref(k);
}

static void set_reason(struct kernel *k, char *reason /* takes */,
		       char *message /* takes */)
{
	free(k->reason);
	free(k->message);
	k->reason = reason;
	k->message = message;
}

void kernel_log_say(const struct kernel *k, const char *msg)
{
	child_log_say(
		gateway_config(k->gw)->log, msg,
		json_pack("{s:s, s:s}", "kernel", k->id, "name", k->name));
}

static void die(struct kernel *k)
{
	log_warn("kernel '%s' (%s): %s", k->id, k->name, k->message);
	kernel_log_say(k, k->message);
	k->state = KERNEL_DEAD;
	k->busy = false;
	loop_timer_clear(k->timer);
	zlink_close(steal(&k->link));
	kernel_touch(k);
	kernel_abort(k, k->message);
	kernel_say_state(k, "dead");
	kernel_changed(k);
}

static void begin(struct kernel *k)
{
	k->state = KERNEL_STARTING;
	k->busy = false;
	k->ended = false;
	set_reason(k, NULL, NULL);
	kernel_touch(k);
	k->connect_ms = CONNECT_MS;
	k->deadline_ms = clock_ms() + (k->adopted ? CONNECT_MS : START_MS);
	kernel_probe(k);
	loop_timer_set(k->timer, ASK_MS);
}

static void start_again(struct kernel *k)
{
	struct sb_err err;

	free(steal(&k->session));
	k->adopted = false;
	if (kernel_process_start(k, &err) < 0) {
		set_reason(k, xstrdup("did not start"), xstrdup(err.msg));
		die(k);
	} else {
		begin(k);
	}
	kernel_changed(k);
}

static void remove_folder(struct kernel *k)
{
	autofree char *state = kernel_state_file(k);
	struct sb_err err;

	unlink(state);
	if (fs_remove_tree(k->dir, &err) < 0)
		log_warn("%s", err.msg);
}

/* The process is gone, and all that it said is here. */
static void finish(struct kernel *k)
{
	switch (k->state) {
	case KERNEL_STOPPING:
		remove_folder(k);
		kernel_free(k);
		break;
	case KERNEL_RESTARTING:
		start_again(k);
		break;
	default:
		die(k);
	}
}

void kernel_process_ended(struct kernel *k, char *reason /* takes */,
			  char *message /* takes */)
{
	set_reason(k, reason, message);
	k->ended = true;
	k->deadline_ms = clock_ms() + MAX_LAST_WORDS_MS;
	if (k->state == KERNEL_STOPPING || k->state == KERNEL_RESTARTING)
		finish(k);
	else
		loop_timer_set(k->timer, LAST_WORDS_MS);
}

static bool may_say_more(const struct kernel *k)
{
	return k->state <= KERNEL_READY && clock_left(k->deadline_ms) &&
	       clock_ms() - k->heard_ms < LAST_WORDS_MS;
}

/* Ever more seldom: to one that is busy all of them are left to deal with. */
static void connect_again(struct kernel *k)
{
	k->connect_ms *= 2;
	k->deadline_ms = clock_ms() + k->connect_ms;
	zlink_connect_again(k->link);
}

static void on_timer(void *arg)
{
	struct kernel *k = arg;

	if (k->ended && may_say_more(k)) {
		loop_timer_set(k->timer, LAST_WORDS_MS);
	} else if (k->ended) {
		finish(k);
	} else if (k->state == KERNEL_STARTING) {
		if (!k->adopted && clock_left(k->deadline_ms) == 0) {
			kernel_process_kill(k);
			return;
		}
		if (k->adopted && clock_left(k->deadline_ms) == 0)
			connect_again(k);
		kernel_probe(k);
		loop_timer_set(k->timer, ASK_MS);
	} else if (k->state == KERNEL_STOPPING ||
		   k->state == KERNEL_RESTARTING) {
		kernel_process_kill(k);
	}
}

void kernel_set_ready(struct kernel *k)
{
	loop_timer_clear(k->timer);
	k->state = KERNEL_READY;
	kernel_flush(k);
	kernel_changed(k);
}

static struct kernel *kernel_new(struct gateway *gw, const char *id)
{
	const struct gateway_config *cfg = gateway_config(gw);
	struct kernel *k = xcalloc(1, sizeof(*k));

	k->gw = gw;
	k->refs = 1;
	if (id)
		snprintf(k->id, sizeof(k->id), "%s", id);
	else
		kernel_new_id(k->id);
	k->dir = gateway_folder(gw, k->id);
	random_hex(k->probe, sizeof(k->probe) / 2);
	random_hex(k->identity, sizeof(k->identity) / 2);
	k->journal = kernel_journal_new(gateway_journals(gw), JOURNAL_MEMORY,
					kernel_max_kept(gw));
	k->timer = loop_timer_new(cfg->loop, on_timer, k);
	TAILQ_INIT(&k->queue);
	TAILQ_INIT(&k->pending);
	LIST_INIT(&k->clients);
	TAILQ_INIT(&k->seats);
	TAILQ_INIT(&k->listeners);
	kernel_touch(k);
	gateway_add(gw, k);
	return k;
}

int kernel_start(struct gateway *gw, const struct kernel_config *cfg,
		 struct kernel **ret, struct sb_err *err)
{
	struct kernel *k = kernel_new(gw, cfg->id);

	k->name = xstrdup0(cfg->name);
	k->cwd = xstrdup0(cfg->cwd);
	k->env = cfg->env ? json_deep_copy(cfg->env) : json_object();
	k->warm = cfg->warm;
	random_hex(k->key, KERNEL_KEY_LEN / 2);
	if (kernel_process_start(k, err) < 0) {
		remove_folder(k);
		kernel_free(k);
		return -1;
	}
	begin(k);
	*ret = k;
	return 0;
}

int kernel_adopt(struct gateway *gw, const char *id, struct kernel **ret,
		 struct sb_err *err)
{
	struct kernel *k = kernel_new(gw, id);

	if (kernel_process_adopt(k, err) < 0) {
		remove_folder(k);
		kernel_free(k);
		return -1;
	}
	k->orphaned = kernel_journal_next(k->journal);
	k->adopted = true;
	begin(k);
	*ret = k;
	return 0;
}

static int interrupt(struct kernel *k)
{
	if (!k->interrupt_by_message)
		return kill(-k->process.pid, SIGINT);
	kernel_command(k, "interrupt_request", json_object());
	return 0;
}

/* It runs what it had to before there was this guestd, and hears nothing. */
static bool is_deaf(const struct kernel *k)
{
	return k->state == KERNEL_STARTING && k->adopted;
}

int kernel_interrupt(struct kernel *k, struct sb_err *err)
{
	if ((k->state != KERNEL_READY && !is_deaf(k)) || k->ended)
		return sb_fail(err, SB_CONFLICT, "kernel '%s' does not run",
			       k->id);
	if (interrupt(k) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot interrupt: %m");
	return 0;
}

/* A kernel hears that it should end only when its cell is over. */
static void ask_to_end(struct kernel *k, bool restart)
{
	if (kernel_is_busy(k))
		interrupt(k);
	kernel_command(k, "shutdown_request",
		       json_pack("{s:b}", "restart", restart));
	loop_timer_set(k->timer, STOP_MS);
}

/*
 * No status "restarting": by that a server says that it restarts a kernel by
 * itself, and JupyterLab then tells its user that the kernel has died.
 */
void kernel_restart(struct kernel *k)
{
	if (k->state == KERNEL_STOPPING || k->state == KERNEL_RESTARTING)
		return;
	if (k->state == KERNEL_DEAD) {
		start_again(k);
		return;
	}
	k->state = KERNEL_RESTARTING;
	if (k->ended)
		loop_timer_set(k->timer, 0);
	else
		ask_to_end(k, true);
	kernel_abort(k, "the kernel was restarted");
	kernel_changed(k);
}

void kernel_stop(struct kernel *k)
{
	bool over = k->state == KERNEL_DEAD || k->ended;

	if (k->state == KERNEL_STOPPING)
		return;
	k->state = KERNEL_STOPPING;
	k->ended = over;
	if (over)
		loop_timer_set(k->timer, 0);
	else
		ask_to_end(k, false);
	kernel_abort(k, "the kernel was shut down");
	kernel_say_state(k, "dead");
}
