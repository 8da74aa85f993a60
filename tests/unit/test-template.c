/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: found, read, refused with the line that is wrong. */
#include "config.h"

#include "common/json.h"
#include "host/template.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct sb_err err;
static char *dirs[] = { scratch_dir, NULL };
static char *ours[] = { SRCDIR "/configs", NULL };

static int load(const char *yaml, struct spec *s)
{
	autofree char *path = scratch_file("x.yaml", yaml);

	err = (struct sb_err){ 0 };
	spec_init(s);
	return template_load("x", dirs, s, &err);
}

/* The message must be FILE followed by where. */
static void refuses(const char *yaml, const char *where)
{
	autofree char *want = xasprintf("%s/x.yaml%s", scratch_dir, where);
	autospec struct spec s;

	is_int(load(yaml, &s), -1, yaml);
	is_str(err.msg, want, "  is refused with its line");
	is_int(err.code, SB_INVALID, "  as invalid");
	ok(!s.template && s.cpus == 2, "  and nothing is changed");
}

static void test_scalars(void)
{
	autospec struct spec s;

	is_int(load("# comment\n"
		    "description: \"for a test\"\n"
		    "restart: no\n"
		    "preserve: true\n"
		    "memory: 2G\n"
		    "disk: 2147483648\n"
		    "ttl: ~\n"
		    "env: {A: 1, B: 1.10, C: 007, D: 'true', E: yes, F: \"\","
		    " G: -0, H: null x}\n"
		    "ports:\n"
		    "  - {host: 8080, guest: 80}\n"
		    "  - guest: 81\n",
		    &s),
	       0, "a template");
	is_str(s.template, "x", "its name is noted");
	is_int(s.restart, SPEC_RESTART_NO, "'no' is a word, not a flag");
	ok(s.preserve, "true is a flag");
	is_int(s.memory, 2LL << 30, "a size with unit");
	is_int(s.disk, 2LL << 30, "a size in bytes");
	is_int(s.nports, 2, "a list of maps");
	is_str(spec_vars_get(&s.env, "A"), "1", "a number as text");
	is_str(spec_vars_get(&s.env, "B"), "1.10", "a fraction keeps its form");
	is_str(spec_vars_get(&s.env, "C"), "007", "zeros are kept");
	is_str(spec_vars_get(&s.env, "D"), "true", "a quoted word");
	is_str(spec_vars_get(&s.env, "E"), "yes", "a word");
	is_str(spec_vars_get(&s.env, "F"), "", "an empty text");
	is_str(spec_vars_get(&s.env, "G"), "-0", "minus zero keeps its form");
	is_str(spec_vars_get(&s.env, "H"), "null x", "null in a text");
}

static void test_empty(void)
{
	autospec struct spec a, b, c;

	is_int(load("", &a), 0, "an empty file");
	is_int(load("# nothing\n", &b), 0, "a file with a comment only");
	is_int(load("---\n{}\n", &c), 0, "an empty map");
}

static void test_lines(void)
{
	refuses("cpus: 1\n\nmemory: lots\n",
		":3: memory: 'lots' is not a size (example: 2G)");
	refuses("cpus: 1\nmemroy: 1G\n", ":2: memroy: there is no such key");
	refuses("env:\n  A: 1\n  B: [x]\n", ":3: env.B: must be a text");
	refuses("env:\n  A: 1\n  2B: x\n",
		":3: env.2B: '2B' is not a variable's name (letters, digits and "
		"_, no digit first)");
	refuses("ports:\n  - guest: 80\n  - host: 1\n    guest: 0\n",
		":4: ports[1].guest: 0 is not between 1 and 65535");
	refuses("ports:\n  - guest: 80\n  - host: 1\n",
		":3: ports[1].guest: must be a whole number");
	refuses("mounts:\n- {host: /a, guest: /b, mode: ro}\n",
		":2: mounts[0].mode: there is no such key");
	refuses("origins:\n  - https://lab.example\n  - lab.example:8080\n",
		":3: origins[1]: 'lab.example:8080' is not a web origin as "
		"browsers send it, nor * (example: https://lab.example)");
	refuses("cpus: two\n", ":1: cpus: must be a whole number");
	refuses("\n\ndescription: [1]\n", ":3: description: must be a text");
	refuses("cpus: 1\ntemplate: base\n",
		":2: template: a template cannot name another");
	refuses("shared_dir: /usr\n",
		": shared_dir: '/usr' would hide a system "
		"folder of the guest");
}

static void test_not_yaml(void)
{
	refuses("cpus: 1\ncpus: 2\n", ":2: cpus: this key is there twice");
	refuses("- a\n- b\n",
		":1: lines of the form 'key: value' must stand here");
	refuses("just words\n",
		":1: lines of the form 'key: value' must stand here");
	refuses("cpus: 1\n---\ncpus: 2\n",
		":2: there can be one document only");
	refuses("env: &a\n  A: *a\n",
		":1: tags, anchors and aliases cannot be used");
	refuses("cpus: !!python/object 1\n",
		":1: tags, anchors and aliases cannot be used");
	refuses("env:\n  ? [a]\n  : b\n", ":2: a key must be a plain text");
	refuses("env: [[[[[[[[[[[[]]]]]]]]]]]]\n", ":1: nested too deeply");
	refuses("cpus: 1\nenv: {A: 1\n",
		":3: did not find expected ',' or '}'");
	refuses("cpus: 1\n\tmemory: 1\n",
		":2: found a tab character that violates indentation");
	refuses("cpus: \"\x01\"\n", ":1: control characters are not allowed");
	refuses("name: \xff\n", ":1: invalid leading UTF-8 octet");
}

static void test_search(void)
{
	autofree char *broken = scratch_file("broken.yaml", "cpus: many\n");
	autofree char *other = scratch_file("default.yaml", "cpus: 7\n");
	autofree char *ignored = scratch_file("Not-A-Name.yaml", "x: y\n");
	char *both[] = { scratch_dir, ours[0], NULL };
	autojson json_t *list = NULL;
	autospec struct spec s;

	spec_init(&s);
	is_int(template_load("default", both, &s, &err), 0, "a template");
	is_int(s.cpus, 7, "of the first folder that has it");
	is_int(template_load("build", both, &s, &err), 0, "a template");
	is_str(s.template, "build", "of the second folder");
	is_int(template_load("../x", both, &s, &err), -1, "a path as name");
	is_int(err.code, SB_NOTFOUND, "is not found");
	is_int(template_load("nope", both, &s, &err), -1, "a wrong name");
	is_str(err.msg, "there is no template 'nope'", "is not found");
	is_str(err.hint,
	       "there are: broken, build, default, desktop, notebook, "
	       "reference, x",
	       "and all names are told");
	list = template_list(both);
	is_int(json_array_size(list), 7, "the list has each name once");
	is_str(json_str_or(json_array_get(list, 2), "file", ""), other,
	       "with its file");
	is_str(json_str_or(json_array_get(list, 3), "description", ""),
	       "A desktop with Chromium, 2 GB, with network",
	       "and its description");
	ok(strstr(json_str_or(json_array_get(list, 0), "error", ""),
		  "broken.yaml:1: cpus: must be a whole number"),
	   "or what is wrong with it");
}

static char *print_sorted(const struct spec *s)
{
	autojson json_t *obj = spec_to_json(s);

	json_object_del(obj, "template");
	return json_dumps(obj, JSON_SORT_KEYS);
}

static void test_ours(void)
{
	autojson json_t *list = template_list(ours);
	autofree char *want = NULL, *got = NULL, *text = NULL;
	autospec struct spec plain, reference;
	autojson json_t *keys = NULL;
	const char *key;
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
		ok(!json_object_get(entry, "error") &&
			   *json_str_or(entry, "description", ""),
		   json_str_or(entry, "name", "?"));
	is_int(i, 5, "all templates of configs can be used");
	spec_init(&plain);
	spec_init(&reference);
	is_int(template_load("reference", ours, &reference, &err), 0,
	       "the reference can be read");
	want = print_sorted(&plain);
	got = print_sorted(&reference);
	is_str(got, want, "and says the defaults");

	if (fs_read(SRCDIR "/configs/reference.yaml", 65536, &text, NULL,
		    &err) < 0)
		return;
	keys = spec_to_json(&plain);
	json_object_del(keys, "template");
	json_object_foreach(keys, key, entry) {
		autofree char *line = xasprintf("\n%s:", key);

		ok(strstr(text, line), key);
	}
}

int main(void)
{
	scratch_init();
	test_scalars();
	test_empty();
	test_lines();
	test_not_yaml();
	test_search();
	test_ours();
	return tap_done();
}
