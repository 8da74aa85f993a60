/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of sandboxd. */
#include "config.h"

#include <unistd.h>

#include "host/settings.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct sb_err err;

static int load(const char *yaml, struct settings *s)
{
	autofree char *path = scratch_file("sandboxd.yaml", yaml);

	err = (struct sb_err){ 0 };
	*s = (struct settings){ 0 };
	setenv("SANDBOX_CONFIG", path, 1);
	return settings_load(s, &err);
}

static void refuses(const char *yaml, const char *where)
{
	autofree char *want =
		xasprintf("%s/sandboxd.yaml%s", scratch_dir, where);
	autosettings struct settings s;

	is_int(load(yaml, &s), -1, yaml);
	is_str(err.msg, want, "  is refused with its line");
}

static void test_defaults(void)
{
	autosettings struct settings s = { 0 }, empty;

	unsetenv("SANDBOX_CONFIG");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	if (geteuid() != 0) {
		is_int(settings_load(&s, &err), 0, "no file");
		ok(!s.file, "  and none is named");
	}
	is_int(load("", &empty), 0, "an empty file");
	ok(empty.file, "  is named");
	ok(!empty.libvirt_uri && !empty.qemu_user && !empty.images_dir &&
		   !empty.templates_dir,
	   "  leaves what is chosen by default");
	is_str(empty.default_template, "default", "  default_template");
	is_int(empty.max_sandboxes, 64, "  max_sandboxes");
	is_int(empty.tcp_port, -1, "  tcp_port: none");
	is_int(empty.log_level, LOG_LEVEL_INFO, "  log_level");
}

static void test_all(void)
{
	autosettings struct settings s;

	is_int(load("libvirt_uri: qemu:///system\n"
		    "qemu_user: libvirt-qemu\n"
		    "images_dir: /srv/images\n"
		    "templates_dir: /srv/templates\n"
		    "default_template: build\n"
		    "max_sandboxes: 3\n"
		    "tcp_port: 8700\n"
		    "log_level: debug\n",
		    &s),
	       0, "every key");
	is_str(s.libvirt_uri, "qemu:///system", "libvirt_uri");
	is_str(s.qemu_user, "libvirt-qemu", "qemu_user");
	is_str(s.images_dir, "/srv/images", "images_dir");
	is_str(s.templates_dir, "/srv/templates", "templates_dir");
	is_str(s.default_template, "build", "default_template");
	is_int(s.max_sandboxes, 3, "max_sandboxes");
	is_int(s.tcp_port, 8700, "tcp_port");
	is_int(s.log_level, LOG_LEVEL_DEBUG, "log_level");
	settings_done(&s);
	is_int(load("qemu_user: +64055\n", &s), 0, "a user by number");
}

static void test_refused(void)
{
	autosettings struct settings s = { 0 };

	refuses("log_level: info\nport: 80\n",
		":2: port: there is no such key");
	is_str(err.hint, "sandboxd(8) lists them", "with a hint");
	refuses("max_sandboxes: 0\n",
		":1: max_sandboxes: 0 is not between 1 and 1000");
	refuses("log_level: loud\n", ":1: log_level: 'loud' is not one of: "
				     "error, warning, info, debug");
	refuses("\nlibvirt_uri: system\n",
		":2: libvirt_uri: 'system' is not a libvirt URI "
		"(example: qemu:///system)");
	refuses("images_dir: images\n",
		":1: images_dir: 'images' is not an absolute path");
	refuses("qemu_user: [a]\n", ":1: qemu_user: must be a text");
	refuses("qemu_user: +12a\n",
		":1: qemu_user: '+12a' is not a user name");
	setenv("SANDBOX_CONFIG", "/nonexistent/sandboxd.yaml", 1);
	is_int(settings_load(&s, &err), -1, "a named file that is not there");
	is_int(err.code, SB_NOTFOUND, "  is an error");
}

int main(void)
{
	scratch_init();
	test_defaults();
	test_all();
	test_refused();
	return tap_done();
}
