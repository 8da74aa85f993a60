/* SPDX-License-Identifier: Apache-2.0 */
/* How a sandbox looks from outside: the API's objects. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/sandbox.h"

#define TAIL_BYTES 16384
#define TAIL_LINES 20

static json_t *time_json(int64_t wall_ms)
{
	char iso[CLOCK_ISO_LEN];

	if (!wall_ms)
		return json_null();
	clock_iso(wall_ms, iso);
	return json_string(iso);
}

static json_t *vars_json(const struct spec_vars *vars)
{
	json_t *o = json_object();

	for (size_t i = 0; i < vars->n; i++)
		json_put(o, vars->v[i].name, json_str(vars->v[i].value));
	return o;
}

/* What guestd checks JWTs with is not for those who look at a sandbox. */
static json_t *env_json(const struct spec_vars *env)
{
	json_t *o = vars_json(env);

	if (json_object_get(o, "JWT_SECRET"))
		json_put(o, "JWT_SECRET", json_string("***"));
	return o;
}

json_t *sandbox_port_json(const struct sandbox *sb,
			  const struct sandbox_port *p)
{
	json_t *o = json_object();

	json_put(o, "host_addr", json_str(sb->spec.listen));
	json_put(o, "host", json_integer(p->host));
	json_put(o, "guest", json_integer(p->guest));
	if (p->name[0])
		json_put(o, "name", json_str(p->name));
	return o;
}

static json_t *mounts_json(const struct spec *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->nmounts; i++) {
		json_t *m = json_object();

		json_put(m, "host", json_str(s->mounts[i].host));
		json_put(m, "guest", json_str(s->mounts[i].guest));
		json_put(m, "readonly", json_boolean(s->mounts[i].readonly));
		json_array_append_new(list, m);
	}
	return list;
}

const char *sandbox_address(const struct sandbox *sb)
{
	return strcmp(sb->spec.listen, "0.0.0.0") == 0 ? "127.0.0.1"
						       : sb->spec.listen;
}

static json_t *ssh_json(const struct sandbox *sb)
{
	autofree char *key = sandbox_path(sb, "ssh/id_ed25519");
	autofree char *known = sandbox_path(sb, "ssh/known_hosts");
	autofree char *pub = sandbox_path(sb, "ssh/host_key.pub");
	autofree char *line = NULL;
	json_t *o = json_object();

	json_put(o, "host", json_str(sandbox_address(sb)));
	json_put(o, "port", json_integer(sandbox_port_of(sb, "ssh")));
	json_put(o, "user", json_str(sb->spec.user));
	json_put(o, "key_file", json_str(key));
	json_put(o, "known_hosts_file", json_str(known));
	if (fs_read_line(pub, &line, NULL) == 0)
		json_put(o, "host_key", json_str(line));
	return o;
}

json_t *sandbox_serial_tail(const struct sandbox *sb, int n)
{
	autofree char *path = sandbox_path(sb, "vm/serial.log");
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[TAIL_BYTES];
	json_t *list = json_array();
	struct stat st;
	ssize_t len = 0;
	char *p;

	if (fd >= 0 && fstat(fd, &st) == 0)
		len = pread(fd, text, sizeof(text),
			    MAX(0, st.st_size - (off_t)sizeof(text)));
	for (p = text + MAX(len, 0); p > text && n > 0; p--)
		if (p[-1] == '\n' && p != text + len && --n == 0)
			break;
	while (p < text + len) {
		char *nl = memchr(p, '\n', text + len - p);
		size_t end = nl ? (size_t)(nl - p) : (size_t)(text + len - p);
		size_t cut = end && p[end - 1] == '\r' ? end - 1 : end;

		json_array_append_new(list, json_text(p, cut));
		p += end + 1;
	}
	return list;
}

static void put_cause(json_t *o, const struct sandbox *sb)
{
	if (!sb->cause.code)
		return;
	json_put(o, "cause", json_str(sb->cause.msg));
	json_put(o, "cause_code", json_string(sb_code_name(sb->cause.code)));
	if (sb->cause.hint[0])
		json_put(o, "remediation", json_str(sb->cause.hint));
}

static void put_machine(json_t *o, const struct sandbox *sb)
{
	const struct spec *s = &sb->spec;

	json_put(o, "image", json_str(s->image));
	json_put(o, "template", json_str(s->template));
	json_put(o, "cpus", json_integer(s->cpus));
	json_put(o, "memory", json_integer((json_int_t)s->memory));
	json_put(o, "disk", json_integer((json_int_t)s->disk));
	json_put(o, "network", json_string(spec_network_name(s->network)));
	json_put(o, "accel", json_string(sb->kvm ? "kvm" : "tcg"));
	json_put(o, "isolation",
		 json_string(sb->kvm ? "kvm" : "none (software emulation)"));
	json_put(o, "labels", vars_json(&s->labels));
	json_put(o, "env", env_json(&s->env));
	json_put(o, "preserve", json_boolean(s->preserve));
	json_put(o, "restart", json_string(spec_restart_name(s->restart)));
	json_put(o, "ttl", s->ttl ? json_integer(s->ttl) : json_null());
	json_put(o, "mounts", mounts_json(s));
	json_put(o, "user", json_str(s->user));
	json_put(o, "workspace", json_str(s->workspace));
}

json_t *sandbox_json(const struct sandbox *sb)
{
	autofree char *share = sandbox_path(sb, "share");
	autofree char *token = sandbox_path(sb, "token");
	json_t *o = sandbox_event_json(sb), *ports = json_array();

	put_machine(o, sb);
	json_put(o, "created_at", time_json(sb->created_ms));
	json_put(o, "ready_at", time_json(sb->ready_ms));
	json_put(o, "expires_at", time_json(sb->expires_ms));
	json_put(o, "share", json_str(share));
	for (size_t i = 0; i < sb->nports; i++)
		json_array_append_new(ports,
				      sandbox_port_json(sb, &sb->ports[i]));
	json_put(o, "ports", ports);
	json_put(o, "ssh", ssh_json(sb));
	if (sandbox_port_of(sb, "guestd")) {
		autofree char *url = xasprintf("http://%s:%d",
					       sandbox_address(sb),
					       sandbox_port_of(sb, "guestd"));

		json_put(o, "url", json_str(url));
	}
	json_put(o, "token_file", json_str(token));
	if (sb->receipt)
		json_put(o, "receipt", json_incref(sb->receipt));
	return o;
}

json_t *sandbox_event_json(const struct sandbox *sb)
{
	json_t *o = json_object();

	json_put(o, "id", json_string(sb->id));
	json_put(o, "name", json_str(sandbox_name(sb)));
	json_put(o, "state", json_string(sandbox_state_name(sb->state)));
	if (sb->detail[0])
		json_put(o, "detail", json_str(sb->detail));
	put_cause(o, sb);
	if (sb->state == SANDBOX_FAILED)
		json_put(o, "serial_tail", sandbox_serial_tail(sb, TAIL_LINES));
	return o;
}
