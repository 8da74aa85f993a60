/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of kernels share:
 *   kernel.c          its life
 *   kernel-process.c  its process: folder, connection file, start, end
 *   kernel-message.c  what goes to it and comes from it
 *   kernel-ports.c    its sockets as TCP ports
 *   kernel-seat.c     the clients, and where each has read up to
 */

#include "guest/gateway-zmq.h"
#include "guest/kernel.h"
#include "guest/kernelspec.h"

#define KERNEL_KEY_LEN 64
/* Where that is kept which clients have not read: not below /run, which is
 * memory. */
#define KERNEL_KEPT_DIR "/var/tmp"

/* A message that waits to be sent, or a request that waits for its reply. */
struct kernel_item {
	TAILQ_ENTRY(kernel_item) next;
	struct buf data; /* the message */
	struct frame f;
	struct part msg_id;
	bool runs; /* it is a cell */
};
TAILQ_HEAD(kernel_items, kernel_item);

struct kernel_seat {
	TAILQ_ENTRY(kernel_seat) next;
	char *session;
	uint64_t from;
};

TAILQ_HEAD(kernel_seats, kernel_seat);

struct fdwatch;

struct kernel_process {
	pid_t pid;
	uint64_t birth; /* clock ticks after boot, to tell it from another */
	bool child;	/* of ours: it can be waited for */
	struct fdwatch *watch;	 /* for its end */
	unsigned long long ooms; /* before it was started */
};

struct kernel {
	TAILQ_ENTRY(kernel) next; /* the gateway's */
	struct gateway *gw;
	int refs; /* ours, one for the watched process */
	char id[KERNEL_ID_LEN + 1];
	char *name, *cwd;
	json_t *env;
	bool interrupt_by_message;
	bool warm;   /* nobody's yet */
	bool shared; /* by all who ask for no more than its name */
	char *dir, key[KERNEL_KEY_LEN + 1];

	enum kernel_state state;
	bool busy;
	char *reason, *message; /* why it is dead: for programs, for people */
	struct kernel_process process;
	struct zlink *link;
	struct kernel_ports *ports; /* NULL: none are open */
	struct loop_timer *timer;   /* what it is for, the state says */
	int64_t deadline_ms, connect_ms;
	bool adopted;	  /* it was up in an earlier guestd, and may be busy */
	bool ended;	  /* the process has; its last words are waited for */
	int64_t heard_ms; /* monotonic, when it said something */

	char probe[33];	      /* the session of our own questions */
	char identity[33];    /* on its sockets, kept for the next guestd */
	bool heard, answered; /* iopub, and one of them */
	char *session;	      /* the kernel's own */

	struct kernel_journal *journal;
	int64_t active_ms, active_wall_us;
	struct kernel_items queue, pending;
	size_t queued;
	int npending, ncells; /* of them, and of cells among them */
	TAILQ_HEAD(, kernel_listener) listeners;

	int connections;
	LIST_HEAD(, kernel_client) clients;
	struct kernel_seats seats; /* of those who left; used last first */
	int nseats;
	uint64_t orphaned; /* what the last client has not read; 0: nothing */
};

/* kernel.c */
/* How many bytes of what a kernel said are kept for those who are behind. */
uint64_t kernel_max_kept(const struct gateway *gw);
void kernel_changed(struct kernel *k);
/* A line about it in the log of kernels. */
void kernel_log_say(const struct kernel *k, const char *msg);
void kernel_set_ready(struct kernel *k);
void kernel_process_ended(struct kernel *k, char *reason /* takes */,
			  char *message /* takes */);
struct kernel *kernel_ref(struct kernel *k);
void kernel_unref(struct kernel *k);

/* kernel-process.c */
int kernel_process_start(struct kernel *k, struct sb_err *err);
/* Watch the process that the kernel's folder tells of. */
int kernel_process_adopt(struct kernel *k, struct sb_err *err);
/* Write down what the next guestd of this boot needs to know. */
int kernel_process_save(const struct kernel *k, struct sb_err *err);
/* The same, where nothing is lost but that. */
void kernel_process_note(const struct kernel *k);
/* Make it the shared one of its name, also for the next guestd. */
void kernel_share(struct kernel *k);
/* Where it is written down; the caller's. */
char *kernel_state_file(const struct kernel *k);
void kernel_process_kill(struct kernel *k);
/* No more news of it. */
void kernel_process_forget(struct kernel *k);

/* kernel-message.c */
extern const struct zlink_ops kernel_zlink_ops;
void kernel_probe(struct kernel *k);
void kernel_flush(struct kernel *k);
/* A message of the gateway's own to the clients; parent is a header. */
void kernel_say(struct kernel *k, enum frame_channel c, const char *type,
		struct part parent, json_t *content /* takes */);
void kernel_say_state(struct kernel *k, const char *state);
/* Answer all requests that will not be any more. */
void kernel_abort(struct kernel *k, const char *why);
/* A request of our own on control. */
void kernel_command(struct kernel *k, const char *type,
		    json_t *content /* takes */);
void kernel_forget_messages(struct kernel *k);
void kernel_touch(struct kernel *k);
/* "2026-01-31T12:34:56.789012Z" */
char *kernel_iso(int64_t wall_us);
