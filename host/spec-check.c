/* SPDX-License-Identifier: Apache-2.0 */
/* What can only be judged of a specification as a whole. */
#include "config.h"

#include <string.h>

#include "common/util.h"
#include "host/spec.h"

/* Where nothing may be mounted, or the guest would lose what it runs on. */
static const struct {
	const char *path;
	bool below; /* nor anywhere below it */
} system_folders[] = {
	/* clang-format off */
	{ "/",            false },
	{ "/bin",         true },
	{ "/boot",        true },
	{ "/dev",         true },
	{ "/etc",         true },
	{ "/home",        false },
	{ "/lib",         true },
	{ "/lib64",       true },
	{ "/opt",         false },
	{ "/opt/sandbox", true },
	{ "/proc",        true },
	{ "/root",        false },
	{ "/run",         true },
	{ "/sbin",        true },
	{ "/sys",         true },
	{ "/tmp",         false },
	{ "/usr",         false },
	{ "/usr/bin",     true },
	{ "/usr/lib",     true },
	{ "/usr/sbin",    true },
	{ "/usr/share",   true },
	{ "/var",         false },
	{ "/var/lib",     true },
	/* clang-format on */
};

/* Whether path lies inside folder; both are absolute and clean. */
static bool inside(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && path[n] == '/';
}

static int check_target(const char *path, const char *key, struct sb_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_folders); i++) {
		const char *folder = system_folders[i].path;

		if (strcmp(path, folder) != 0 &&
		    !(system_folders[i].below && inside(path, folder)))
			continue;
		sb_fail(err, SB_INVALID,
			"%s: '%.80s' would hide a system folder of the guest",
			key, path);
		return sb_hint(err, "mount it elsewhere, such as /mnt/data");
	}
	return 0;
}

static int check_apart(const char *a, const char *b, struct sb_err *err)
{
	if (strcmp(a, b) != 0 && !inside(a, b) && !inside(b, a))
		return 0;
	return sb_fail(err, SB_INVALID,
		       "mounts: '%.80s' and '%.80s' lie inside each other", a,
		       b);
}

static int check_mounts(const struct spec *s, struct sb_err *err)
{
	if (check_target(s->shared_dir, "shared_dir", err) < 0)
		return -1;
	for (size_t i = 0; i < s->nmounts; i++) {
		const char *guest = s->mounts[i].guest;

		if (check_target(guest, "mounts", err) < 0 ||
		    check_apart(guest, s->shared_dir, err) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (check_apart(guest, s->mounts[k].guest, err) < 0)
				return -1;
	}
	return 0;
}

static int check_host_ports(const struct spec *s, struct sb_err *err)
{
	const struct spec_host_ports *own = &s->host_ports;
	int ports[SPEC_MAX_PORTS + 4] = { own->server, own->jupyter, own->ssh,
					  own->vnc };
	size_t n = 4;

	for (size_t i = 0; i < s->nports; i++)
		ports[n++] = s->ports[i].host;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (ports[i] && ports[i] == ports[k])
				return sb_fail(
					err, SB_INVALID,
					"ports: host port %d is used twice",
					ports[i]);
	return 0;
}

static int check_guest_ports(const struct spec *s, struct sb_err *err)
{
	const struct {
		const char *key;
		int port;
	} own[] = {
		{ "ssh", SPEC_SSH_PORT },
		{ "vnc", SPEC_VNC_PORT },
		{ "server_port", s->server_port },
		{ "jupyter_port", s->jupyter_port },
	};

	if (!s->jupyter_port && s->host_ports.jupyter)
		return sb_fail(err, SB_INVALID,
			       "host_ports.jupyter: with jupyter_port 0 there "
			       "is nothing to forward to");
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		for (size_t k = 0; k < i; k++)
			if (own[i].port == own[k].port)
				return sb_fail(
					err, SB_INVALID,
					"%s: port %d of the guest belongs to %s",
					own[i].key, own[i].port, own[k].key);
	return 0;
}

static int check_logs(const struct spec *s, struct sb_err *err)
{
	if (strcmp(s->server_log, SPEC_DESKTOP_LOG) == 0)
		return sb_fail(err, SB_INVALID,
			       "server_log: '%s' is the desktop's already",
			       s->server_log);
	if (strcmp(s->jupyter_log, SPEC_DESKTOP_LOG) == 0)
		return sb_fail(err, SB_INVALID,
			       "jupyter_log: '%s' is the desktop's already",
			       s->jupyter_log);
	if (strcmp(s->server_log, s->jupyter_log) == 0)
		return sb_fail(err, SB_INVALID,
			       "jupyter_log: '%s' is server_log already",
			       s->jupyter_log);
	return 0;
}

int spec_check(const struct spec *s, struct sb_err *err)
{
	if (check_mounts(s, err) < 0 || check_host_ports(s, err) < 0 ||
	    check_guest_ports(s, err) < 0 || check_logs(s, err) < 0)
		return -1;
	return 0;
}
