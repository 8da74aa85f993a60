/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are on the host. */
#include "config.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "host/paths.h"

static bool is_root(void)
{
	return geteuid() == 0;
}

/* A variable that is set but empty counts as not set. */
static const char *env(const char *name)
{
	const char *v = getenv(name);

	return str_empty(v) ? NULL : v;
}

/* The value of a variable as an absolute path, or NULL. */
static char *env_path(const char *name)
{
	const char *v = env(name);
	char cwd[PATH_MAX];

	if (!v || *v == '/' || !getcwd(cwd, sizeof(cwd)))
		return xstrdup0(v);
	return xasprintf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, v);
}

static const char *home(void)
{
	const char *dir = env("HOME");
	const struct passwd *pw;

	if (dir)
		return dir;
	pw = getpwuid(geteuid());
	return pw && !str_empty(pw->pw_dir) ? pw->pw_dir : "/";
}

/* $xdg/sandbox, else ~/dflt/sandbox.  XDG demands absolute paths. */
static char *xdg_path(const char *xdg, const char *dflt)
{
	const char *dir = env(xdg);

	if (dir && *dir == '/')
		return xasprintf("%s/sandbox", dir);
	return xasprintf("%s/%s/sandbox", home(), dflt);
}

static char *below(char *dir /* takes */, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	free(dir);
	return path;
}

char *paths_state(void)
{
	char *path = env_path("SANDBOX_STATE");

	if (path)
		return path;
	if (is_root())
		return xstrdup("/var/lib/sandbox");
	return xdg_path("XDG_STATE_HOME", ".local/state");
}

char *paths_run(void)
{
	const char *dir = env("XDG_RUNTIME_DIR");

	if (env("SANDBOX_STATE"))
		return below(paths_state(), "run");
	if (is_root())
		return xstrdup("/run/sandbox");
	if (dir && *dir == '/')
		return xasprintf("%s/sandbox", dir);
	return below(paths_state(), "run");
}

char *paths_socket(void)
{
	return below(paths_run(), "sandboxd.sock");
}

char *paths_lock(void)
{
	return below(paths_run(), "sandboxd.lock");
}

char *paths_log(void)
{
	return below(paths_state(), "sandboxd.log");
}

char *paths_token(void)
{
	return below(paths_state(), "token");
}

char *paths_config(void)
{
	char *path = env_path("SANDBOX_CONFIG");

	if (path)
		return path;
	if (is_root())
		return xstrdup(SB_SYSCONFDIR "/sandbox/sandboxd.yaml");
	return below(xdg_path("XDG_CONFIG_HOME", ".config"), "sandboxd.yaml");
}

char *paths_images(void)
{
	char *path = env_path("SANDBOX_IMAGES");

	if (path)
		return path;
	if (is_root())
		return xstrdup("/var/lib/sandbox/images");
	return below(xdg_path("XDG_DATA_HOME", ".local/share"), "images");
}

char *paths_recipes(void)
{
	char *path = env_path("SANDBOX_RECIPES");

	return path ? path : xstrdup(SB_DATADIR "/sandbox/images");
}

char *paths_bundle(void)
{
	char *path = env_path("SANDBOX_BUNDLE");

	return path ? path : xstrdup(SB_LIBDIR "/sandbox/bundle");
}

/*
 * A program in the folder of our own comes before the installed one, so that
 * a build tree never starts another version.
 */
static char *program(const char *name, const char *installed)
{
	char self[PATH_MAX], *path;
	ssize_t n;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		path = xasprintf("%s/%s", self, name);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return xasprintf("%s/%s", installed, name);
}

char *paths_sandboxd(void)
{
	char *path = env_path("SANDBOXD");

	return path ? path : program("sandboxd", SB_SBINDIR);
}

char *paths_ssh_helper(void)
{
	return program("sandboxctl-ssh", SB_LIBEXECDIR "/sandbox");
}

char **paths_templates(void)
{
	char **list = xcalloc(4, sizeof(*list)), *only;
	size_t n = 0;

	only = env_path("SANDBOX_TEMPLATES");
	if (only) {
		list[n++] = only;
		return list;
	}
	list[n++] = below(xdg_path("XDG_CONFIG_HOME", ".config"), "templates");
	list[n++] = xstrdup(SB_SYSCONFDIR "/sandbox/templates");
	list[n++] = xstrdup(SB_DATADIR "/sandbox/templates");
	return list;
}

void paths_list_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}
