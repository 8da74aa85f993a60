/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts, by signal and by message, and the deadline of a request. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/util.h"
#include "guest/kernel/interrupt.h"

/*
 * Raises in the main thread, as only that thread can make Python look, and
 * makes its system calls return with EINTR.  Unlike SIGINT, nobody ignores it:
 * system(3) does that.
 */
#define WAKE_SIGNAL (SIGRTMAX - 2)
/* A wake-up that comes just before a system call is lost: repeat it. */
#define AGAIN_MS 4
#define MAX_TRIES 100
/* A SIGINT for the whole group reaches the children without us. */
#define CHILDREN_MS 10
/* Of children of children, each of which holds two descriptors. */
#define MAX_DEPTH 64
/* From the deadline to the next measure. */
#define STEP_MS 1000

static struct interrupt *irq_of_handler;

static void on_sigint(int sig)
{
	struct interrupt *irq = irq_of_handler;
	uint64_t one = 1;
	int saved = errno;

	if (!pthread_equal(pthread_self(), irq->main)) {
		pthread_kill(irq->main, sig);
	} else if (atomic_load(&irq->taken)) {
		if (atomic_load(&irq->armed))
			irq->raise();
		else
			atomic_store(&irq->wanted, true);
		atomic_fetch_add(&irq->signals, 1);
		if (write(irq->wake_fd, &one, sizeof(one)) < 0)
			errno = saved; /* it is set already */
	}
	errno = saved;
}

static void on_wake(int sig)
{
	struct interrupt *irq = irq_of_handler;
	int saved = errno;

	if (atomic_load(&irq->armed) && atomic_exchange(&irq->wanted, false))
		irq->raise();
	errno = saved;
}

int interrupt_init(struct interrupt *irq, void (*raise)(void), int wake_fd,
		   struct sb_err *err)
{
	/* No SA_RESTART: what the main thread waits in must end. */
	struct sigaction sa = { .sa_handler = on_sigint,
				.sa_flags = SA_ONSTACK };

	memset(irq, 0, sizeof(*irq));
	pthread_mutex_init(&irq->lock, NULL);
	irq->main = pthread_self();
	irq->raise = raise;
	irq->wake_fd = wake_fd;
	irq_of_handler = irq;
	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGINT, &sa, NULL) < 0)
		return sb_fail(err, SB_SYSTEM, "sigaction: %m");
	sa.sa_handler = on_wake;
	if (sigaction(WAKE_SIGNAL, &sa, NULL) < 0)
		return sb_fail(err, SB_SYSTEM, "sigaction: %m");
	return 0;
}

void interrupt_take(struct interrupt *irq)
{
	pthread_mutex_lock(&irq->lock);
	irq->count = 0;
	irq->cause = INTERRUPT_NONE;
	irq->deadline = 0;
	irq->steps = 0;
	atomic_store(&irq->wanted, false);
	atomic_store(&irq->taken, true);
	pthread_mutex_unlock(&irq->lock);
}

bool interrupt_arm(struct interrupt *irq, bool *ret_before)
{
	*ret_before = atomic_exchange(&irq->armed, true);
	return atomic_exchange(&irq->wanted, false);
}

void interrupt_disarm(struct interrupt *irq, bool before)
{
	atomic_store(&irq->armed, before);
}

void interrupt_keep(struct interrupt *irq)
{
	atomic_store(&irq->wanted, true);
}

void interrupt_end(struct interrupt *irq)
{
	pthread_mutex_lock(&irq->lock);
	atomic_store(&irq->taken, false);
	atomic_store(&irq->armed, false);
	irq->deadline = 0;
	pthread_mutex_unlock(&irq->lock);
}

void interrupt_deadline(struct interrupt *irq, int64_t when)
{
	uint64_t one = 1;

	pthread_mutex_lock(&irq->lock);
	irq->deadline = when;
	irq->steps = 0;
	pthread_mutex_unlock(&irq->lock);
	if (write(irq->wake_fd, &one, sizeof(one)) < 0)
		return; /* it is set already */
}

enum interrupt_cause interrupt_why(struct interrupt *irq)
{
	enum interrupt_cause cause;

	pthread_mutex_lock(&irq->lock);
	cause = irq->cause;
	pthread_mutex_unlock(&irq->lock);
	return cause;
}

unsigned int interrupt_count(struct interrupt *irq)
{
	unsigned int n;

	pthread_mutex_lock(&irq->lock);
	n = irq->count;
	pthread_mutex_unlock(&irq->lock);
	return n;
}

/* Whom a signal is for, among those that we and ours have started. */
struct wanted {
	int sig;
	bool group_only;
	pid_t group, session;
};

static void signal_below(pid_t pid, const struct wanted *w, int depth);

/* Who has left our session is meant to outlive what runs. */
static void signal_one(pid_t pid, const struct wanted *w)
{
	if (getsid(pid) == w->session &&
	    (!w->group_only || getpgid(pid) == w->group))
		kill(pid, w->sig);
}

/* Theirs come first: they are nobody's once their parent has gone. */
static void signal_started_by(int tasks, const char *thread,
			      const struct wanted *w, int depth)
{
	char path[300];
	FILE *f;
	pid_t pid;
	int fd;

	snprintf(path, sizeof(path), "%s/children", thread);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && fscanf(f, "%d", &pid) == 1) {
		signal_below(pid, w, depth + 1);
		signal_one(pid, w);
	}
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
}

static void signal_below(pid_t pid, const struct wanted *w, int depth)
{
	struct dirent *e;
	char path[40];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = depth < MAX_DEPTH ? opendir(path) : NULL;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			signal_started_by(dirfd(d), e->d_name, w, depth);
	if (d)
		closedir(d);
}

void interrupt_children(int sig, bool group_only)
{
	const struct wanted w = { sig, group_only, getpgrp(), getsid(0) };
	siginfo_t si;

	/* Most cells have no children. */
	if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0)
		signal_below(getpid(), &w, 0);
}

static void tell_children(const struct interrupt *irq, bool second)
{
	if (!irq->spare_children)
		interrupt_children(second ? SIGKILL : SIGINT, !second);
}

void interrupt_now(struct interrupt *irq, enum interrupt_cause cause)
{
	bool taken, second;

	pthread_mutex_lock(&irq->lock);
	taken = atomic_load(&irq->taken);
	if (taken) {
		atomic_store(&irq->wanted, true);
		irq->cause = cause;
		irq->count++;
	}
	second = irq->count > 1;
	pthread_mutex_unlock(&irq->lock);
	if (!taken)
		return;
	/* Harmless where nothing is armed: then it is kept. */
	pthread_kill(irq->main, WAKE_SIGNAL);
	irq->tries = 0;
	irq->again = clock_ms() + AGAIN_MS;
	tell_children(irq, second);
}

/* SIGINTs were raised by the handler; the children have not heard of it. */
static void take_signals(struct interrupt *irq, int64_t now)
{
	int n = atomic_exchange(&irq->signals, 0);

	if (!n)
		return;
	pthread_mutex_lock(&irq->lock);
	irq->cause = INTERRUPT_REQUEST;
	irq->count += (unsigned int)n;
	pthread_mutex_unlock(&irq->lock);
	irq->children_at = now + CHILDREN_MS;
	irq->tries = 0;
	irq->again = now + AGAIN_MS;
}

/* Returns when the deadline is to be looked at again; 0: never. */
static int64_t check_deadline(struct interrupt *irq, int64_t now,
			      bool *ret_over)
{
	int64_t when;
	unsigned int steps;

	pthread_mutex_lock(&irq->lock);
	when = irq->deadline;
	if (when && when <= now) {
		irq->steps++;
		irq->deadline = now + STEP_MS;
	}
	steps = irq->steps;
	pthread_mutex_unlock(&irq->lock);
	if (!when || when > now)
		return when;
	if (steps <= 2)
		interrupt_now(irq, INTERRUPT_DEADLINE);
	else
		*ret_over = true;
	return now + STEP_MS;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

int interrupt_tick(struct interrupt *irq, int64_t now, bool *ret_over)
{
	int64_t next;

	take_signals(irq, now);
	if (!atomic_load(&irq->taken)) {
		irq->again = irq->children_at = 0;
		return -1;
	}
	if (irq->again && irq->again <= now) {
		pthread_kill(irq->main, WAKE_SIGNAL);
		irq->again = ++irq->tries < MAX_TRIES ? now + AGAIN_MS : 0;
	}
	if (irq->children_at && irq->children_at <= now) {
		tell_children(irq, irq->count > 1);
		irq->children_at = 0;
	}
	next = check_deadline(irq, now, ret_over);
	next = sooner(next, irq->again);
	next = sooner(next, irq->children_at);
	return next ? (int)MAX(next - now, 0) : -1;
}
