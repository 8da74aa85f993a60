/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: the environment, root and ordinary users. */
#include "config.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/util.h"
#include "host/paths.h"
#include "tests/unit/tap.h"

static void is_path(char *got /* takes */, const char *want, const char *what)
{
	is_str(got, want, what);
	free(got);
}

static void clear_env(void)
{
	static const char *const names[] = {
		"SANDBOX_STATE",   "SANDBOX_IMAGES", "SANDBOX_TEMPLATES",
		"SANDBOX_RECIPES", "SANDBOX_BUNDLE", "SANDBOXD",
		"XDG_STATE_HOME",  "XDG_DATA_HOME",  "XDG_CONFIG_HOME",
		"XDG_RUNTIME_DIR",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
	setenv("HOME", "/home/jane", 1);
}

static void test_overrides(void)
{
	char **list;

	clear_env();
	setenv("SANDBOX_STATE", "/s", 1);
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	is_path(paths_state(), "/s", "SANDBOX_STATE is the state folder");
	is_path(paths_run(), "/s/run", "and holds the run folder");
	is_path(paths_socket(), "/s/run/sandboxd.sock", "the socket");
	is_path(paths_lock(), "/s/run/sandboxd.lock", "the lock");
	is_path(paths_log(), "/s/sandboxd.log", "the log");
	is_path(paths_token(), "/s/token", "the token");

	setenv("SANDBOX_IMAGES", "/i", 1);
	setenv("SANDBOX_RECIPES", "/r", 1);
	setenv("SANDBOX_BUNDLE", "/b", 1);
	setenv("SANDBOXD", "/d/sandboxd", 1);
	setenv("SANDBOX_TEMPLATES", "/t", 1);
	is_path(paths_images(), "/i", "SANDBOX_IMAGES");
	is_path(paths_recipes(), "/r", "SANDBOX_RECIPES");
	is_path(paths_bundle(), "/b", "SANDBOX_BUNDLE");
	is_path(paths_sandboxd(), "/d/sandboxd", "SANDBOXD");
	list = paths_templates();
	is_str(list[0], "/t", "SANDBOX_TEMPLATES");
	ok(!list[1], "replaces the other folders");
	paths_list_free(list);

	if (chdir("/usr"))
		abort();
	setenv("SANDBOX_STATE", "x/y", 1);
	is_path(paths_state(), "/usr/x/y", "a relative path becomes absolute");
	if (chdir("/"))
		abort();
	is_path(paths_state(), "/x/y", "also in the root folder");
}

static void test_root(void)
{
	clear_env();
	setenv("XDG_STATE_HOME", "/x", 1);
	is_path(paths_state(), "/var/lib/sandbox", "root: state");
	is_path(paths_run(), "/run/sandbox", "root: run");
	is_path(paths_images(), "/var/lib/sandbox/images", "root: images");
}

static void test_user(void)
{
	clear_env();
	is_path(paths_state(), "/home/jane/.local/state/sandbox",
		"user: state");
	is_path(paths_run(), "/home/jane/.local/state/sandbox/run",
		"user: run is in the state without XDG_RUNTIME_DIR");
	is_path(paths_images(), "/home/jane/.local/share/sandbox/images",
		"user: images");
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	setenv("XDG_STATE_HOME", "/x", 1);
	setenv("XDG_DATA_HOME", "relative", 1);
	is_path(paths_run(), "/run/user/7/sandbox", "user: XDG_RUNTIME_DIR");
	is_path(paths_state(), "/x/sandbox", "user: XDG_STATE_HOME");
	is_path(paths_images(), "/home/jane/.local/share/sandbox/images",
		"user: a relative XDG folder is ignored");
}

static void test_defaults(void)
{
	autofree char *daemon = NULL;
	char **list;

	clear_env();
	setenv("SANDBOX_STATE", "", 1);
	setenv("SANDBOX_RECIPES", "", 1);
	daemon = paths_sandboxd();
	ok(str_ends(daemon, "/sandboxd"), "sandboxd has a default");
	ok(*daemon == '/', "which is absolute");
	is_path(paths_recipes(), SB_DATADIR "/sandbox/images",
		"an empty variable counts as not set");
	is_path(paths_bundle(), SB_LIBDIR "/sandbox/bundle", "bundle");
	list = paths_templates();
	is_str(list[0], "/home/jane/.config/sandbox/templates",
	       "the user's templates come first");
	is_str(list[1], SB_SYSCONFDIR "/sandbox/templates",
	       "then the administrator's");
	is_str(list[2], SB_DATADIR "/sandbox/templates", "then ours");
	ok(!list[3], "and no more");
	paths_list_free(list);
}

int main(void)
{
	bool root = geteuid() == 0;

	test_overrides();
	if (root) {
		test_root();
		if (seteuid(65534))
			abort();
	}
	test_user();
	test_defaults();
	if (root) { /* LeakSanitizer must be able to attach to us */
		if (seteuid(0) || prctl(PR_SET_DUMPABLE, 1))
			abort();
	}
	return tap_done();
}
