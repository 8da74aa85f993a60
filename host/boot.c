/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing a sandbox up.  The steps run one after the other on a thread; what
 * they change in the sandbox they change on the loop's thread, by task_call().
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/hclient.h"
#include "common/json.h"
#include "common/log.h"
#include "host/boot.h"
#include "host/boot-files.h"
#include "host/control.h"
#include "host/events.h"
#include "host/logs.h"
#include "host/ports.h"
#include "ssh/install.h"

/* Under software emulation on a busy host a boot may take a minute. */
#define BOOT_MS (240 * 1000)
#define NUDGE_MS (20 * 1000)
#define HEALTH_MS (60 * 1000)
#define HEALTH_TRY_MS 2000
#define PORT_TRIES 3

struct boot {
	struct daemon *d;
	struct sandbox *sb;
	enum boot_from from;
	void (*done)(struct daemon *d, struct sandbox *sb,
		     const struct sb_err *err);
	struct vm_host *vm;
	struct control *control;
	int64_t deadline;
	int rc;
	struct sb_err err;
};

/* Changes of the sandbox, made on the loop's thread. */
struct change {
	struct boot *b;
	enum sandbox_state state;
	const char *detail;
	const struct image *image;
	const struct sandbox_port *ports;
	size_t nports;
	json_t *receipt;
	int rc;
	struct sb_err *err;
};

static void apply_change(void *arg)
{
	struct change *c = arg;
	struct sandbox *sb = c->b->sb;

	c->rc = 0;
	if (cancel_is_set(sb->cancel)) {
		json_decref(c->receipt);
		c->rc = sb_fail(c->err, SB_CANCELLED, "cancelled");
		return;
	}
	if (c->image) {
		sb->kvm = c->b->d->accel.kvm;
		c->rc = sandbox_write_image(sb, c->image, c->err);
	} else if (c->ports) {
		c->rc = sandbox_write_ports(sb, c->ports, c->nports, c->err);
	} else if (c->receipt) {
		c->rc = sandbox_write_receipt(sb, c->receipt, c->err);
	} else {
		if (c->state != sb->state)
			c->rc = sandbox_write_state(sb, c->state, NULL, c->err);
		snprintf(sb->detail, sizeof(sb->detail), "%s", c->detail);
		events_emit(c->b->d, sb);
		if (sb->state == SANDBOX_BOOTING)
			logs_guard(c->b->d, sb);
	}
}

static int change(struct boot *b, struct change *c, struct sb_err *err)
{
	c->b = b;
	c->err = err;
	task_call(b->d->loop, apply_change, c);
	return c->rc;
}

static int enter(struct boot *b, enum sandbox_state state, const char *detail,
		 struct sb_err *err)
{
	struct change c = { .state = state, .detail = detail };

	return change(b, &c, err);
}

static int create_files(struct boot *b, struct sb_err *err)
{
	struct image img = { 0 };
	struct change c = { .image = &img };
	int rc = -1;

	if (enter(b, SANDBOX_CREATING, "making keys and disk", err) < 0)
		return -1;
	if (image_find(&b->d->images, b->sb->spec.image, &img, err) == 0 &&
	    boot_make_files(b->sb, &img, b->vm, err) == 0)
		rc = change(b, &c, err);
	image_done(&img);
	return rc;
}

struct port_wish {
	const char *name;
	int host;
	int guest;
	bool fallback;
};

/* All forwards that the sandbox is to have. */
static size_t port_wishes(const struct spec *s, struct port_wish *w)
{
	const struct spec_host_ports *hp = &s->host_ports;
	size_t n = 0;

	w[n++] = (struct port_wish){ "ssh", hp->ssh, SPEC_SSH_PORT,
				     s->auto_ports };
	w[n++] = (struct port_wish){ "guestd", hp->server, s->server_port,
				     s->auto_ports };
	if (s->jupyter_port)
		w[n++] = (struct port_wish){ "jupyter", hp->jupyter,
					     s->jupyter_port, s->auto_ports };
	if (hp->vnc)
		w[n++] = (struct port_wish){ "vnc", hp->vnc, SPEC_VNC_PORT,
					     s->auto_ports };
	for (size_t i = 0; i < s->nports; i++)
		w[n++] = (struct port_wish){ "", s->ports[i].host,
					     s->ports[i].guest, s->auto_ports };
	return n;
}

static void release(const struct sandbox_port *ports, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ports_release(ports[i].host);
}

static int choose_ports(struct boot *b, struct sb_err *err)
{
	const struct spec *s = &b->sb->spec;
	struct sandbox_port ports[VM_MAX_FORWARDS] = { 0 };
	struct port_wish w[VM_MAX_FORWARDS];
	struct change c = { .ports = ports };
	size_t n = port_wishes(s, w);

	for (size_t i = 0; i < n; i++) {
		ports[i].guest = w[i].guest;
		snprintf(ports[i].name, sizeof(ports[i].name), "%s", w[i].name);
		if (ports_reserve(s->listen, w[i].host, w[i].fallback,
				  &ports[i].host, err) < 0) {
			release(ports, i);
			return -1;
		}
	}
	c.nports = n;
	if (change(b, &c, err) < 0) {
		release(ports, n);
		return -1;
	}
	return boot_write_known_hosts(b->sb, err);
}

static int start_machine(struct boot *b, struct sb_err *err)
{
	for (int i = 1;; i++) {
		int rc;

		if (choose_ports(b, err) < 0 ||
		    enter(b, SANDBOX_BOOTING, "starting the machine", err) < 0)
			return -1;
		rc = boot_start_machine(b->sb, b->vm, err);
		if (rc == 0)
			return 0;
		/* Somebody took a port in the meantime: other ones will do. */
		release(b->sb->ports, b->sb->nports);
		if (err->code != SB_CONFLICT || i == PORT_TRIES)
			return -1;
	}
}

/*
 * Stop an emulated machine for a moment: QEMU then looks at its processors and
 * timers, of which it loses one in hundreds of boots on a busy host.
 */
static void nudge(struct boot *b)
{
	autofree char *domain = sandbox_domain(b->sb);
	struct sb_err err;

	log_info("%s (%s): it has not answered yet", b->sb->id, b->sb->name);
	if (vm_suspend(b->vm, domain, &err) < 0 ||
	    vm_resume(b->vm, domain, &err) < 0)
		log_warn("%s: %s", b->sb->id, err.msg);
}

static int identify(struct boot *b, json_t **ret, struct sb_err *err)
{
	autojson json_t *msg = json_pack("{s:s}", "type", "identify");

	for (;;) {
		int64_t until = clock_ms() + NUDGE_MS;

		if (b->sb->kvm || until > b->deadline)
			until = b->deadline;
		if (control_ask(b->control, msg, "hello", until, ret, err) == 0)
			return 0;
		if (err->code != SB_TIMEOUT || until == b->deadline)
			return -1;
		nudge(b);
	}
}

/* Put our bundle into the guest over SSH. */
static int install(struct boot *b, struct sb_err *err)
{
	struct sandbox *sb = b->sb;
	autofree char *key = sandbox_path(sb, "ssh/id_ed25519");
	autofree char *pub = sandbox_path(sb, "ssh/host_key.pub");
	autofree char *host_key = NULL;
	/* A foreign image also needs the libraries. */
	autofree char *bundle = xasprintf("%s%s", b->d->bundle_dir,
					  sb->image.foreign ? "-full" : "");
	struct ssh_target t = { .host = sandbox_address(sb),
				.port = sandbox_port_of(sb, "ssh"),
				.user = "root",
				.key_file = key,
				.timeout_ms = clock_left(b->deadline),
				.cancel_fd = cancel_fd(sb->cancel) };
	struct ssh *s = NULL;
	bool done;
	int rc;

	if (enter(b, SANDBOX_INSTALLING, "installing guestd over SSH", err) <
		    0 ||
	    fs_read_line(pub, &host_key, err) < 0)
		return -1;
	t.host_key = host_key;
	if (ssh_open(&t, &s, err) < 0)
		return sb_wrap(err, "cannot install guestd");
	rc = ssh_install(s, bundle, &done, err);
	ssh_close(s);
	return rc < 0 ? sb_wrap(err, "cannot install guestd") : 0;
}

/* Wait for the guest's hello; install our guestd if it is another. */
static int meet(struct boot *b, struct sb_err *err)
{
	autojson json_t *hello = NULL;
	char ours[SHA256_HEX_LEN + 1];

	if (enter(b, SANDBOX_BOOTING, "waiting for the guest to boot", err) < 0)
		return -1;
	if (b->sb->image.baked) {
		if (identify(b, &hello, err) < 0)
			return -1;
		if (bundle_hash(b->d->bundle_dir, ours, err) < 0)
			return -1;
		if (strcmp(json_str_or(hello, "bundle", ""), ours) == 0)
			return 0;
		log_info("%s: guestd in the guest is another, installing ours",
			 b->sb->id);
		json_decref(steal(&hello));
	}
	if (install(b, err) < 0)
		return -1;
	return identify(b, &hello, err);
}

static int personalise(struct boot *b, struct sb_err *err)
{
	autojson json_t *msg = boot_personal_json(b->sb);
	autojson json_t *reply = NULL;
	struct change c = { 0 };

	if (enter(b, b->sb->state, "personalising the guest", err) < 0 ||
	    control_ask(b->control, msg, "personalised", b->deadline, &reply,
			err) < 0)
		return -1;
	c.receipt = json_incref(json_object_get(reply, "receipt"));
	if (!json_is_object(c.receipt)) {
		json_decref(c.receipt);
		return sb_fail(err, SB_GUEST, "the guest gave no receipt");
	}
	return change(b, &c, err);
}

/* Ask guestd, through the forwarded port, whether it is well. */
static int health(struct boot *b, struct sb_err *err)
{
	int64_t deadline = clock_ms() + HEALTH_MS;
	struct sandbox *sb = b->sb;

	for (;;) {
		struct hclient *hc = NULL;
		struct hclient_reply r = { 0 };
		int rc = hclient_open_tcp(sandbox_address(sb),
					  sandbox_port_of(sb, "guestd"),
					  HEALTH_TRY_MS, &hc, err);

		if (rc == 0) {
			hclient_set_cancel(hc, cancel_fd(sb->cancel));
			rc = hclient_request(hc, "GET", "/health", NULL, 65536,
					     &r, err);
		}
		if (rc == 0 && r.status != 200)
			rc = sb_fail(err, SB_GUEST, "guestd answers %d",
				     r.status);
		hclient_reply_done(&r);
		hclient_free(hc);
		if (rc == 0)
			return 0;
		if (!clock_left(deadline))
			return sb_wrap(err, "guestd does not answer");
		if (cancel_wait(sb->cancel, 20, err) < 0)
			return -1;
	}
}

static int boot_run(struct boot *b, struct sb_err *err)
{
	autofree char *path = sandbox_path(b->sb, "vm/control.sock");

	if (daemon_vm(b->d, &b->vm, err) < 0)
		return -1;
	if (b->from == BOOT_CREATE && create_files(b, err) < 0)
		return -1;
	if (b->from != BOOT_ATTACH && start_machine(b, err) < 0)
		return -1;
	b->deadline = clock_ms() + BOOT_MS;
	if (control_open(path, b->sb->cancel, &b->control, err) < 0 ||
	    meet(b, err) < 0 || personalise(b, err) < 0)
		return -1;
	return health(b, err);
}

static void boot_work(void *arg)
{
	struct boot *b = arg;
	autofree char *domain = sandbox_domain(b->sb);

	b->rc = boot_run(b, &b->err);
	control_close(b->control);
	if (b->rc < 0 && b->vm) {
		struct sb_err err;

		if (vm_destroy(b->vm, domain, &err) < 0)
			log_err("%s: %s", b->sb->id, err.msg);
	}
}

static void boot_done(void *arg)
{
	struct boot *b = arg;

	b->sb->busy = false;
	if (b->rc < 0) {
		release(b->sb->ports, b->sb->nports);
		b->sb->nports = 0;
	}
	b->done(b->d, b->sb, b->rc < 0 ? &b->err : NULL);
	free(b);
}

void boot_start(struct daemon *d, struct sandbox *sb, enum boot_from from,
		void (*done)(struct daemon *d, struct sandbox *sb,
			     const struct sb_err *err))
{
	struct boot *b = xcalloc(1, sizeof(*b));

	b->d = d;
	b->sb = sb;
	b->from = from;
	b->done = done;
	sb->busy = true;
	sb->died = (struct sb_err){ 0 };
	if (cancel_is_set(sb->cancel)) {
		cancel_free(sb->cancel);
		sb->cancel = cancel_new();
	}
	task_start(d->loop, boot_work, boot_done, b);
}
