/* SPDX-License-Identifier: Apache-2.0 */
/* What a sandbox is made of: JSON in and out, limits, and cross checks. */
#include "config.h"

#include <stdlib.h>

#include "common/json.h"
#include "host/spec.h"
#include "tests/unit/tap.h"

static struct sb_err err;

/* Put text over io; what stands in err and field is the caller's to look at. */
static int apply(struct spec *io, const char *text)
{
	autojson json_t *obj = json_loads(text, 0, NULL);

	err = (struct sb_err){ 0 };
	return spec_from_json(obj, io, &err);
}

static void accepts(const char *text)
{
	autospec struct spec s;

	spec_init(&s);
	ok(apply(&s, text) == 0 && spec_check(&s, &err) == 0, text);
	if (err.msg[0])
		printf("# %s\n", err.msg);
}

/* text must be refused, by either step, with exactly this message. */
static void refuses(const char *text, const char *message)
{
	autospec struct spec s;
	int rc;

	spec_init(&s);
	rc = apply(&s, text);
	if (rc == 0)
		rc = spec_check(&s, &err);
	is_int(rc, -1, text);
	is_int(err.code, SB_INVALID, "  as invalid");
	is_str(err.msg, message, "  with a clear message");
}

static char *print_sorted(const struct spec *s)
{
	autojson json_t *obj = spec_to_json(s);

	return json_dumps(obj, JSON_SORT_KEYS);
}

static const char full[] =
	"{\"name\":\"demo\",\"unique_name\":true,\"template\":\"build\","
	"\"image\":\"desktop\",\"cpus\":4,\"memory\":\"2G\",\"disk\":\"16G\","
	"\"mounts\":[{\"host\":\"/srv/a b\",\"guest\":\"/data\",\"readonly\":true}],"
	"\"ports\":[{\"host\":8080,\"guest\":80},{\"guest\":3000}],"
	"\"auto_ports\":true,\"listen\":\"0.0.0.0\","
	"\"host_ports\":{\"server\":8765,\"jupyter\":8888,\"ssh\":2222,\"vnc\":5901},"
	"\"env\":{\"FOO\":\"b=a r\",\"N\":7,\"YES\":true},"
	"\"labels\":{\"team/x\":\"blue\"},\"ttl\":\"15m\",\"network\":\"open\","
	"\"preserve\":true,\"restart\":\"on-failure\",\"debug\":true,"
	"\"user\":\"root\",\"workspace\":\"/work\",\"display\":\"1920x1080\","
	"\"shared_dir\":\"/mnt/shared\",\"server_port\":8000,"
	"\"origins\":[\"https://lab.example\",\"http://[::1]:3000\"],"
	"\"jupyter_port\":8001,\"max_kernels\":3,\"kernel_idle\":\"20m\","
	"\"warm_kernel\":false,\"server_log\":\"a.log\",\"jupyter_log\":\"b.log\"}";

static void test_fields(void)
{
	autospec struct spec s;

	spec_init(&s);
	is_int(apply(&s, full), 0, "a specification with every key");
	is_str(s.name, "demo", "name");
	is_int(s.memory, 2LL << 30, "memory in bytes");
	is_int(s.disk, 16LL << 30, "disk in bytes");
	is_int(s.nmounts, 1, "one mount");
	is_str(s.mounts[0].host, "/srv/a b", "its host path");
	ok(s.mounts[0].readonly, "it is read-only");
	is_int(s.nports, 2, "two ports");
	is_int(s.ports[1].host, 0, "a port without host is picked");
	is_int(s.host_ports.ssh, 2222, "host port of ssh");
	is_str(spec_vars_get(&s.env, "FOO"), "b=a r", "a variable");
	is_str(spec_vars_get(&s.env, "N"), "7", "a number as variable");
	is_str(spec_vars_get(&s.env, "YES"), "true", "a flag as variable");
	ok(!spec_vars_get(&s.env, "BAR"), "a variable that is not there");
	is_str(spec_vars_get(&s.labels, "team/x"), "blue", "a label");
	is_int(s.ttl, 900, "ttl in seconds");
	is_int(s.max_kernels, 3, "how many kernels");
	is_int(s.kernel_idle, 1200, "when idle ones end");
	ok(!s.warm_kernel, "none is kept warm");
	is_int(s.norigins, 2, "two origins");
	is_str(s.origins[1], "http://[::1]:3000", "the second one");
	is_int(s.network, SPEC_NET_OPEN, "network");
	is_int(s.restart, SPEC_RESTART_ON_FAILURE, "restart");
	is_str(spec_restart_name(s.restart), "on-failure", "its word");
	is_int(spec_check(&s, &err), 0, "and all of it can be had");
}

static void test_jupyter(void)
{
	autospec struct spec s, none;

	spec_init(&s);
	spec_init(&none);
	is_int(apply(&s, "{\"jupyter_port\":9001,\"jupyter_log\":\"k.log\"}"),
	       0, "a port and a log of the gateway");
	is_int(spec_check(&s, &err), 0, "that are the sandbox's own");
	is_int(s.jupyter_port, 9001, "the port");
	is_str(s.jupyter_log, "k.log", "the log");
	is_int(apply(&none, "{\"jupyter_port\":0}"), 0, "no port at all");
	is_int(spec_check(&none, &err), 0, "is fine, too");
}

static void test_round_trip(void)
{
	autospec struct spec a, b, c;
	autofree char *first = NULL, *second = NULL, *third = NULL;

	spec_init(&a);
	spec_init(&b);
	apply(&a, full);
	first = print_sorted(&a);
	is_int(apply(&b, first), 0, "what is written can be read");
	second = print_sorted(&b);
	is_str(second, first, "and is the same again");
	spec_copy(&c, &b);
	spec_done(&b);
	spec_init(&b);
	third = print_sorted(&c);
	is_str(third, first, "a copy is equal and stands alone");
}

static void test_defaults_round_trip(void)
{
	autospec struct spec a, b;
	autofree char *first = NULL, *second = NULL;

	spec_init(&a);
	spec_init(&b);
	is_int(spec_check(&a, &err), 0, "the defaults hold together");
	first = print_sorted(&a);
	apply(&b, full);
	spec_done(&b);
	spec_init(&b);
	is_int(apply(&b, first), 0, "the defaults can be read");
	second = print_sorted(&b);
	is_str(second, first, "and are the same again");
}

static void test_layers(void)
{
	autospec struct spec s;
	autofree char *before = NULL, *after = NULL;

	spec_init(&s);
	apply(&s, full);
	is_int(apply(&s,
		     "{\"cpus\":1,\"env\":{\"FOO\":\"x\",\"BAR\":\"y\"},"
		     "\"ports\":[{\"host\":9090,\"guest\":80},{\"guest\":81}],"
		     "\"mounts\":[{\"host\":\"/new\",\"guest\":\"/data\"},"
		     "{\"host\":\"/b\",\"guest\":\"/b\"}],\"ttl\":null,"
		     "\"origins\":[\"HTTPS://lab.example\",\"*\"],"
		     "\"name\":null}"),
	       0, "a second layer");
	is_int(s.cpus, 1, "replaces a number");
	is_int(s.memory, 2LL << 30, "leaves what it does not name");
	is_str(spec_vars_get(&s.env, "FOO"), "x", "replaces a variable");
	is_str(spec_vars_get(&s.env, "BAR"), "y", "adds a variable");
	is_int(s.nports, 3, "adds a port");
	is_int(s.ports[0].host, 9090, "replaces a port");
	is_int(s.nmounts, 2, "adds a mount");
	is_str(s.mounts[0].host, "/new", "replaces a mount");
	ok(!s.mounts[0].readonly, "wholly");
	is_int(s.norigins, 3, "adds an origin, and none twice");
	is_int(s.ttl, 0, "null ends the time limit");
	ok(!s.name, "null takes the name away");

	before = print_sorted(&s);
	is_int(apply(&s, "{\"cpus\":3,\"env\":{\"A\":\"1\"},\"memory\":\"x\"}"),
	       -1, "a layer with a mistake");
	after = print_sorted(&s);
	is_str(after, before, "changes nothing");
}

static void test_refused(void)
{
	refuses("[]", "must be an object with keys and values");
	refuses("{\"memroy\":1}", "memroy: there is no such key");
	is_str(err.hint, "sandbox-template(5) lists them", "with a hint");
	refuses("{\"memory\":\"lots\"}",
		"memory: 'lots' is not a size (example: 2G)");
	refuses("{\"memory\":-1}", "memory: must be a size (example: 2G)");
	refuses("{\"memory\":\"255M\"}",
		"memory: 267386880 bytes is not between 256M and 1024T");
	refuses("{\"disk\":1}", "disk: 1 bytes is not between 1G and 1024T");
	refuses("{\"cpus\":0}", "cpus: 0 is not between 1 and 64");
	refuses("{\"cpus\":65}", "cpus: 65 is not between 1 and 64");
	refuses("{\"cpus\":\"2\"}", "cpus: must be a whole number");
	refuses("{\"cpus\":4294967297}",
		"cpus: 4294967297 is not between 1 and 64");
	refuses("{\"preserve\":1}", "preserve: must be true or false");
	refuses("{\"network\":\"lan\"}",
		"network: 'lan' is not one of: none, open");
	refuses("{\"restart\":null}",
		"restart: must be one of: no, on-failure, always");
	refuses("{\"ttl\":\"soon\"}",
		"ttl: 'soon' is not a time (example: 15m)");
	refuses("{\"ttl\":-5}", "ttl: -5 s is not between 0 and 315360000 s");
	refuses("{\"image\":null}", "image: must be a text");
	refuses("{\"name\":\"Demo\"}", "name: 'Demo' is not a name (1 to 63 of "
				       "a-z, 0-9 and -, not - first)");
	refuses("{\"name\":\"../x\"}", "name: '../x' is not a name (1 to 63 of "
				       "a-z, 0-9 and -, not - first)");
	refuses("{\"listen\":\"localhost\"}",
		"listen: 'localhost' is not an IPv4 address "
		"(example: 127.0.0.1)");
	refuses("{\"display\":\"1280x800x24\"}",
		"display: '1280x800x24' is not a size of a screen, 320x200 to "
		"7680x4320, nor none (example: 1280x800)");
	refuses("{\"server_log\":\"../x\"}",
		"server_log: '../x' is not a plain file name "
		"(example: guestd.log)");
	refuses("{\"host_ports\":{\"web\":1}}",
		"host_ports.web: there is no such key");
	refuses("{\"host_ports\":{\"ssh\":-1}}",
		"host_ports.ssh: -1 is not between 0 and 65535");
}

static void test_refused_lists(void)
{
	refuses("{\"ports\":{}}", "ports: must be a list");
	refuses("{\"ports\":[80]}",
		"ports[0]: must be an object with the key 'guest'");
	refuses("{\"ports\":[{\"host\":80}]}",
		"ports[0].guest: must be a whole number");
	refuses("{\"ports\":[{\"guest\":1},{\"guest\":65536}]}",
		"ports[1].guest: 65536 is not between 1 and 65535");
	refuses("{\"ports\":[{\"guest\":1,\"udp\":true}]}",
		"ports[0].udp: there is no such key");
	refuses("{\"ports\":[{\"guest\":1},{\"guest\":1}]}",
		"ports[1].guest: 1 is forwarded twice");
	refuses("{\"ports\":[{\"host\":7,\"guest\":1},{\"host\":7,\"guest\":2}]}",
		"ports: host port 7 is used twice");
	refuses("{\"ports\":[{\"host\":7,\"guest\":1}],\"host_ports\":{\"ssh\":7}}",
		"ports: host port 7 is used twice");
	refuses("{\"server_port\":22}",
		"server_port: port 22 of the guest belongs to ssh");
	refuses("{\"jupyter_port\":8765}",
		"jupyter_port: port 8765 of the guest belongs to server_port");
	refuses("{\"max_kernels\":0}",
		"max_kernels: 0 is not between 1 and 1000");
	refuses("{\"jupyter_log\":\"guestd.log\"}",
		"jupyter_log: 'guestd.log' is server_log already");
	refuses("{\"jupyter_log\":\"desktop.log\"}",
		"jupyter_log: 'desktop.log' is the desktop's already");
	refuses("{\"server_log\":\"desktop.log\"}",
		"server_log: 'desktop.log' is the desktop's already");
	refuses("{\"jupyter_port\":0,\"host_ports\":{\"jupyter\":8888}}",
		"host_ports.jupyter: with jupyter_port 0 there is nothing to "
		"forward to");
	refuses("{\"jupyter_port\":65536}",
		"jupyter_port: 65536 is not between 0 and 65535");
	refuses("{\"env\":[]}", "env: must be an object");
	refuses("{\"env\":{\"1A\":\"x\"}}",
		"env.1A: '1A' is not a variable's name (letters, digits and _, "
		"no digit first)");
	refuses("{\"env\":{\"A\":\"x\\ny\"}}",
		"env.A: holds a newline or another control character");
	refuses("{\"env\":{\"A\":null}}", "env.A: must be a text");
	refuses("{\"labels\":{\"\":\"x\"}}",
		"labels.: '' is not a label's name (1 to 63 letters, digits, "
		"'.', '_', '/', '-')");
}

static void test_refused_origins(void)
{
	autobuf struct buf many = { 0 };

	refuses("{\"origins\":\"*\"}", "origins: must be a list");
	refuses("{\"origins\":[1]}", "origins[0]: must be a text");
	refuses("{\"origins\":[\"*\",\"https://lab.example/\"]}",
		"origins[1]: 'https://lab.example/' is not a web origin as "
		"browsers send it, nor * (example: https://lab.example)");
	refuses("{\"origins\":[\"lab.example\"]}",
		"origins[0]: 'lab.example' is not a web origin as browsers "
		"send it, nor * (example: https://lab.example)");
	refuses("{\"origins\":[\"http://a\",\"http://A\"]}",
		"origins[1]: 'http://A' is named twice");
	buf_adds(&many, "{\"origins\":[\"*\"");
	for (int i = 0; i < SPEC_MAX_ORIGINS; i++)
		buf_addf(&many, ",\"http://a%d\"", i);
	buf_adds(&many, "]}");
	refuses(many.p, "origins[16]: there can be at most 16 origins");
}

static void refuses_mount(const char *guest, const char *message)
{
	autofree char *text = xasprintf(
		"{\"mounts\":[{\"host\":\"/srv\",\"guest\":\"%s\"}]}", guest);

	refuses(text, message);
}

static void test_mounts(void)
{
	static const char *const hidden[] = {
		"/",	     "/usr", "/usr/lib/x86_64", "/proc", "/proc/self",
		"/dev/shm",  "/etc", "/opt/sandbox",	"/tmp",	 "/run/user",
		"/sys/fs/x", "/home"
	};
	static const char *const unclean[] = { "data",	  "",	   "/a/../b",
					       "/a/./b",  "/a//b", "/a/",
					       "/a/b/..", "//" };

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		autofree char *msg = xasprintf(
			"mounts: '%s' would hide a system folder of the guest",
			hidden[i]);

		refuses_mount(hidden[i], msg);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unclean); i++) {
		autofree char *msg = xasprintf(
			"mounts[0].guest: '%s' is not an absolute path without "
			"'.', '..' and doubled or trailing '/'",
			unclean[i]);

		refuses_mount(unclean[i], msg);
	}
	refuses_mount(
		"/shared/in",
		"mounts: '/shared/in' and '/shared' lie inside each other");
	refuses("{\"mounts\":[{\"host\":\"rel\",\"guest\":\"/a\"}]}",
		"mounts[0].host: 'rel' is not an absolute path");
	refuses("{\"mounts\":[{\"host\":\"/a\",\"guest\":\"/a\"},"
		"{\"host\":\"/b\",\"guest\":\"/a\"}]}",
		"mounts[1].guest: '/a' is mounted twice");
	refuses("{\"mounts\":[{\"host\":\"/a\",\"guest\":\"/a\"},"
		"{\"host\":\"/b\",\"guest\":\"/a/b\"}]}",
		"mounts: '/a/b' and '/a' lie inside each other");
	refuses("{\"mounts\":[{\"host\":\"/a\",\"guest\":\"/a\"},"
		"{\"host\":\"/a\",\"guest\":\"/b\"},"
		"{\"host\":\"/a\",\"guest\":\"/c\"},"
		"{\"host\":\"/a\",\"guest\":\"/d\"},"
		"{\"host\":\"/a\",\"guest\":\"/e\"}]}",
		"mounts[4].guest: there can be at most 4 mounts");
	refuses("{\"shared_dir\":\"/usr\"}",
		"shared_dir: '/usr' would hide a system folder of the guest");
	accepts("{\"display\":\"none\"}");
	accepts("{\"mounts\":[{\"host\":\"/a\",\"guest\":\"/usr/local/x\"},"
		"{\"host\":\"/a\",\"guest\":\"/home/user/workspace\"},"
		"{\"host\":\"/a\",\"guest\":\"/shared2\"},"
		"{\"host\":\"/a\",\"guest\":\"/a..b/.c\"}]}");
}

static void test_bounds(void)
{
	autojson json_t *env = json_object(), *obj = json_object();
	autofree char *big = xmalloc(5000);
	autospec struct spec s;

	spec_init(&s);
	memset(big, 'x', 4999);
	big[4999] = '\0';
	json_put(env, "BIG", json_string(big));
	json_put(obj, "env", json_incref(env));
	is_int(spec_from_json(obj, &s, &err), -1, "a value of 5000 bytes");
	is_str(err.msg, "env.BIG: longer than 4095 bytes", "  is too long");
	json_object_clear(env);
	for (int i = 0; i <= SPEC_MAX_VARS; i++) {
		autofree char *name = xasprintf("V%d", i);

		json_put(env, name, json_integer(i));
	}
	is_int(spec_from_json(obj, &s, &err), -1, "257 variables");
	is_str(err.msg, "env.V256: there can be at most 256", "  are too many");
	json_put(env, "V1", json_stringn("a\0b", 3));
	is_int(spec_from_json(obj, &s, &err), -1, "a NUL in a value");
	ok(spec_name_ok("a") && spec_name_ok("0-9"), "names");
	ok(!spec_name_ok("") && !spec_name_ok("-a") && !spec_name_ok("a_b"),
	   "what are no names");
	big[64] = '\0';
	ok(!spec_name_ok(big), "64 characters are too long for a name");
	ok(spec_name_ok(big + 1), "63 are not");
}

int main(void)
{
	test_fields();
	test_jupyter();
	test_round_trip();
	test_defaults_round_trip();
	test_layers();
	test_refused();
	test_refused_lists();
	test_refused_origins();
	test_mounts();
	test_bounds();
	return tap_done();
}
