/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program has dealt with what was typed. */
#include "config.h"

#include <X11/Xatom.h>
#include <X11/Xlibint.h>
#include <X11/Xutil.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/input-idle.h"

#define MAX_DEPTH 16 /* of windows within windows, and of processes */
#define MAX_THREADS 1000

Window input_focus(Display *dpy)
{
	Window w = None;
	int revert;

	XGetInputFocus(dpy, &w, &revert);
	return w == PointerRoot ? None : w;
}

/* The numbers of a client's windows begin with those of the client. */
static XID client_of(Display *dpy, XID id)
{
	return id & ~dpy->resource_mask;
}

bool input_is_client(Display *dpy, Window w)
{
	/* The server is client 0; bits above the clients' are its, too. */
	return client_of(dpy, w) != 0 && w < 1U << 29;
}

bool input_same_client(Display *dpy, Window a, Window b)
{
	return a == None || b == None || client_of(dpy, a) == client_of(dpy, b);
}

static int window_pid(Display *dpy, Window w)
{
	Atom atom = XInternAtom(dpy, "_NET_WM_PID", False), type = None;
	unsigned char *data = NULL;
	unsigned long n = 0, left;
	int format = 0, pid = 0;

	if (XGetWindowProperty(dpy, w, atom, 0, 1, False, XA_CARDINAL, &type,
			       &format, &n, &left, &data) != Success)
		return 0;
	if (n == 1 && format == 32)
		pid = (int)*(long *)(void *)data;
	if (data)
		XFree(data);
	return pid;
}

/* From the window that has the keyboard outwards, until fn finds something. */
static int walk(Display *dpy, int (*fn)(Display *dpy, Window w))
{
	Window w = input_focus(dpy), root, *children = NULL;
	unsigned int n;
	int found = 0;

	for (int i = 0; i < MAX_DEPTH && w != None; i++) {
		Window parent = None;

		found = fn(dpy, w);
		if (found > 0 ||
		    !XQueryTree(dpy, w, &root, &parent, &children, &n))
			break;
		if (children)
			XFree(children);
		w = parent;
	}
	return MAX(found, 0);
}

int input_focus_pid(Display *dpy)
{
	return walk(dpy, window_pid);
}

static int is_terminal(Display *dpy, Window w)
{
	static const char *const names[] = { "XTerm", "UXTerm", "URxvt" };
	XClassHint hint = { 0 };
	int found = 0;

	if (!XGetClassHint(dpy, w, &hint))
		return 0;
	for (size_t i = 0; hint.res_class && i < ARRAY_SIZE(names); i++)
		found = found || strcmp(hint.res_class, names[i]) == 0;
	if (hint.res_name)
		XFree(hint.res_name);
	if (hint.res_class)
		XFree(hint.res_class);
	return found;
}

bool input_focus_is_terminal(Display *dpy)
{
	return walk(dpy, is_terminal) > 0;
}

/* What is looked at, and what was seen of it. */
struct look {
	struct stat program;
	int left;     /* threads that are still looked at */
	bool awake;   /* one of them was */
	uint64_t sum; /* of all their changes between sleeping and waking */
};

static bool read_proc(const char *path, char *ret, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	ret[MAX(n, 0)] = 0;
	return n >= 0;
}

static long long number_after(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? atoll(p + strlen(name)) : 0;
}

static void look_at_thread(struct look *l, const char *folder, const char *tid)
{
	char path[128], text[4096];
	const char *state;

	snprintf(path, sizeof(path), "%s/%s/status", folder, tid);
	if (!read_proc(path, text, sizeof(text)))
		return; /* it has ended */
	state = strstr(text, "\nState:\t");
	l->awake = l->awake || !state || state[8] != 'S';
	l->sum =
		l->sum * 31 + (uint64_t)atoll(tid) +
		(uint64_t)number_after(text, "\nvoluntary_ctxt_switches:\t") +
		(uint64_t)number_after(text, "\nnonvoluntary_ctxt_switches:\t");
}

static bool is_same_program(const struct look *l, int pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) == 0 && st.st_dev == l->program.st_dev &&
	       st.st_ino == l->program.st_ino;
}

static void look_at_process(struct look *l, int pid, int depth);

/* Browsers are many processes; what runs in a terminal is none of its. */
static void look_at_children(struct look *l, const char *folder,
			     const char *tid, int depth)
{
	char path[128], text[4096], *end;

	snprintf(path, sizeof(path), "%s/%s/children", folder, tid);
	if (!read_proc(path, text, sizeof(text)))
		return;
	for (const char *p = text; !l->awake; p = end) {
		long pid = strtol(p, &end, 10);

		if (end == p)
			break;
		if (is_same_program(l, (int)pid))
			look_at_process(l, (int)pid, depth + 1);
	}
}

static void look_at_process(struct look *l, int pid, int depth)
{
	char folder[64];
	const struct dirent *d;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%d/task", pid);
	dir = depth < MAX_DEPTH ? opendir(folder) : NULL;
	while (dir && !l->awake && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		if (l->left-- <= 0)
			break;
		look_at_thread(l, folder, d->d_name);
		look_at_children(l, folder, d->d_name, depth);
	}
	if (dir)
		closedir(dir);
}

int input_sleeps(int pid, long long *switches)
{
	struct look l = { .left = MAX_THREADS };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (pid <= 0 || (stat(path, &l.program) < 0 && errno == ENOENT))
		return -1;
	look_at_process(&l, pid, 0);
	*switches = (long long)l.sum;
	return !l.awake;
}

bool input_server_works(Display *dpy)
{
	struct look l = { .left = 1 };
	struct ucred peer;
	socklen_t len = sizeof(peer);
	char folder[64], tid[16];

	if (getsockopt(ConnectionNumber(dpy), SOL_SOCKET, SO_PEERCRED, &peer,
		       &len) < 0 ||
	    peer.pid <= 0)
		return false;
	snprintf(folder, sizeof(folder), "/proc/%d/task", (int)peer.pid);
	snprintf(tid, sizeof(tid), "%d", (int)peer.pid);
	look_at_thread(&l, folder, tid);
	return l.awake;
}
