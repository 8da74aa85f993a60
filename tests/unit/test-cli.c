/* SPDX-License-Identifier: Apache-2.0 */
/* sandboxctl's tables and how the command line is read by them. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-args.h"
#include "host/ctl-daemon.h"
#include "host/ctl-help.h"
#include "host/ctl-out.h"
#include "host/ctl-request.h"
#include "host/ctl-table.h"
#include "host/ctl.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define MAX_ARGV 16
#define MAX_POD (1 << 20)

struct line {
	struct args a;
	struct sb_err err;
	int rc;
	char *argv[MAX_ARGV];
};

/* The words of a command line, divided by single spaces. */
static void parse(struct line *l, const struct cmd *cmd, const char *text)
{
	autofree char *copy = xstrdup(text);
	char *rest = *text ? copy : NULL, *word;
	int n = 0;

	*l = (struct line){ 0 };
	while (rest && (word = strsep(&rest, " ")))
		l->argv[n++] = xstrdup(word);
	l->rc = args_parse(cmd, n, l->argv, &l->a, &l->err);
}

static void done(struct line *l)
{
	args_done(&l->a);
	for (char **p = l->argv; *p; p++)
		free(*p);
}

static void refused(const struct cmd *cmd, const char *text, const char *msg,
		    const char *hint)
{
	struct line l;

	parse(&l, cmd, text);
	ok(l.rc == -1 && l.err.code == SB_INVALID, text);
	is_str(l.err.msg, msg, "  says why");
	is_str(l.err.hint, hint, "  and what to do");
	done(&l);
}

static void test_values(void)
{
	const struct request *r;
	struct line l;

	parse(&l, &cmd_up,
	      "demo --cpus 4 --memory=2G -p8080:80 -p 0:22 --env A=1 "
	      "--preserve --ttl 15m --net open");
	r = l.a.cmd.values;
	is_int(l.rc, 0, "options of every kind");
	is_int(l.a.cmd.argc, 1, "one word is left");
	is_str(l.a.cmd.argv[0], "demo", "the name");
	is_int(r->cpus, 4, "a number");
	is_int(r->memory, 2LL << 30, "a size, after =");
	is_int(r->ports.n, 2, "a list");
	is_str(r->ports.v[0], "8080:80", "its first, glued to the letter");
	is_str(r->ports.v[1], "0:22", "its second");
	is_str(r->env.v[0], "A=1", "another list");
	is_int(r->preserve, true, "a flag");
	is_int(r->no_wait, false, "a flag that was not given");
	is_int(r->ttl, 900, "a duration");
	is_str(r->network, "open", "one of some words");
	ok(!r->image, "what was not given is NULL");
	done(&l);
}

static void test_words(void)
{
	struct line l;

	parse(&l, &cmd_exec, "demo -u root -- ls -l -- x");
	is_int(l.a.cmd.argc, 5, "exec: after -- all are words");
	is_str(l.a.cmd.argv[2], "-l", "  also what looks like an option");
	is_str(l.a.cmd.argv[3], "--", "  and a second --");
	done(&l);

	parse(&l, &cmd_exec, "demo ls -l --json");
	is_int(l.a.cmd.argc, 4, "exec: the command's options need no --");
	ok(!l.a.global.json, "  and are not ours");
	done(&l);

	parse(&l, &cmd_exec, "-it demo --json true");
	is_int(l.a.cmd.argc, 2, "exec: options around the name");
	ok(l.a.global.json, "  are ours");
	done(&l);

	parse(&l, &cmd_py, "demo -");
	is_str(l.a.cmd.argv[1], "-", "a dash alone is a word");
	done(&l);

	parse(&l, &cmd_exec, "--help");
	ok(l.rc == 0 && l.a.global.help, "--help needs no words");
	done(&l);
}

static void test_refusals(void)
{
	refused(&cmd_up, "--cpu 2", "unknown option '--cpu'",
		"did you mean --cpus?");
	refused(&cmd_up, "--zzzzzz", "unknown option '--zzzzzz'",
		"see: sandboxctl up --help");
	refused(&cmd_up, "-X", "unknown option '-X'",
		"see: sandboxctl up --help");
	refused(&cmd_up, "--cpus", "option '--cpus' needs a value: --cpus N",
		"see: sandboxctl up --help");
	refused(&cmd_up, "--cpus 0",
		"--cpus: '0' is not a whole number between 1 and 255", "");
	refused(&cmd_up, "--cpus 2x",
		"--cpus: '2x' is not a whole number between 1 and 255", "");
	refused(&cmd_up, "--memory much",
		"--memory: 'much' is not a size such as 512M or 4G", "");
	refused(&cmd_up, "--ttl soon",
		"--ttl: 'soon' is not a duration such as 90s, 15m or 2h", "");
	refused(&cmd_up, "--net lan", "--net: 'lan' is not one of none|open",
		"");
	refused(&cmd_up, "--net ope", "--net: 'ope' is not one of none|open",
		"");
	refused(&cmd_up, "--preserve=no", "option '--preserve' takes no value",
		"");
	refused(&cmd_up, "a b", "unexpected argument 'b'",
		"see: sandboxctl up --help");
	refused(&cmd_exec, "demo",
		"missing argument, expected: sandboxctl exec NAME [--] COMMAND "
		"[ARG...]",
		"see: sandboxctl exec --help");
}

static void test_lookup(void)
{
	const struct cmd *cmd = NULL, *image = cmd_find(&cmd_root, "image");
	struct sb_err err;

	ok(cmd_lookup(&cmd_root, "up", &cmd, &err) == 0 && cmd == &cmd_up,
	   "a command is found");
	ok(cmd_find(&cmd_root, "list") == &cmd_ls, "and by its alias");
	is_str(cmd_find(image, "build")->name, "image build", "in a group");
	is_int(cmd_lookup(&cmd_root, "donw", &cmd, &err), -1, "a typing error");
	is_str(err.msg, "unknown command 'donw'", "  is named");
	is_str(err.hint, "did you mean: sandboxctl down", "  and corrected");
	cmd_lookup(&cmd_root, "frobnicate", &cmd, &err);
	is_str(err.hint, "see: sandboxctl --help", "nothing is near");
	cmd_lookup(image, "bild", &cmd, &err);
	is_str(err.msg, "unknown command 'image bild'", "in a group, too");
	is_int(args_distance("kitten", "sitting"), 3, "three edits");
	is_int(args_distance("", "abc"), 3, "from nothing");
}

static json_t *body_of(const char *text, struct sb_err *err)
{
	json_t *body = NULL;
	struct request r;
	struct line l;

	parse(&l, &cmd_up, text);
	*err = l.err;
	if (l.rc == 0) {
		r = *(const struct request *)l.a.cmd.values;
		r.name = l.a.cmd.argc ? l.a.cmd.argv[0] : NULL;
		request_body(&r, &body, err);
	}
	done(&l);
	return body;
}

static void is_body(const char *text, const char *want)
{
	struct sb_err err = { 0 };
	autojson json_t *body = body_of(text, &err), *expect = NULL;
	autofree char *got = NULL;

	json_parse(want, strlen(want), &expect, NULL);
	got = body ? json_print(body) : xstrdup(err.msg);
	if (!ok(body && json_equal(body, expect), text))
		printf("# got %s\n", got);
}

static void no_body(const char *text, const char *msg)
{
	struct sb_err err = { 0 };
	autojson json_t *body = body_of(text, &err);

	ok(!body, text);
	is_str(err.msg, msg, "  says why");
}

static void test_request(void)
{
	autofree char *file = scratch_file("env", "# comment\n\n A=1 2\r\n"
						  "FROM_US\n");
	autofree char *bad = scratch_file("bad", "A=1\n=2\n");
	autofree char *env = xasprintf("--env-file %s --env A=3", file);
	autofree char *bad_env = xasprintf("--env-file %s", bad);
	autofree char *bad_msg = xasprintf("%s:2: '=2' is not KEY=VALUE", bad);

	setenv("FROM_US", "yes", 1);
	unsetenv("NOT_SET");
	is_body("", "{}");
	is_body("demo --cpus 2 --memory 1G --disk 8G --ttl 90",
		"{\"name\":\"demo\",\"cpus\":2,\"memory\":1073741824,"
		"\"disk\":8589934592,\"ttl\":90}");
	is_body("-p 8080:80 -p 443", "{\"ports\":[{\"host\":8080,\"guest\":80},"
				     "{\"host\":0,\"guest\":443}]}");
	is_body("--mount /usr:/src:ro -v /:/all",
		"{\"mounts\":[{\"host\":\"/usr\",\"guest\":\"/src\","
		"\"readonly\":true},{\"host\":\"/\",\"guest\":\"/all\","
		"\"readonly\":false}]}");
	is_body("--env A=b=c --env FROM_US --label x=",
		"{\"env\":{\"A\":\"b=c\",\"FROM_US\":\"yes\"},"
		"\"labels\":{\"x\":\"\"}}");
	is_body(env, "{\"env\":{\"A\":\"3\",\"FROM_US\":\"yes\"}}");
	is_body("--auto-ports --preserve --net open --restart always",
		"{\"auto_ports\":true,\"preserve\":true,\"network\":\"open\","
		"\"restart\":\"always\"}");

	no_body("-p 70000:80", "--publish: '70000:80' is not HOST:GUEST with "
			       "two port numbers, such as 8080:80");
	no_body("-p 80:", "--publish: '80:' is not HOST:GUEST with two port "
			  "numbers, such as 8080:80");
	no_body("--mount /usr", "--mount: '/usr' is not HOST:GUEST[:ro] with "
				"an absolute path in the guest");
	no_body("--mount /none/such:/x",
		"--mount: '/none/such': No such file or directory");
	no_body("--env =x", "--env: '=x' is not KEY=VALUE");
	no_body("--env NOT_SET", "--env: 'NOT_SET' is not set in your "
				 "environment; say NOT_SET=VALUE");
	no_body("--label x", "--label: 'x' is not KEY=VALUE");
	no_body("--env-file /none/such",
		"--env-file: cannot open '/none/such': No such file or "
		"directory");
	no_body(bad_env, bad_msg);
}

/* Every command of the table, groups included. */
static void each(const struct cmd *group,
		 void (*fn)(const struct cmd *, void *), void *arg)
{
	for (const struct cmd *const *p = group->sub; *p; p++) {
		if ((*p)->hidden)
			continue;
		fn(*p, arg);
		if ((*p)->sub)
			each(*p, fn, arg);
	}
}

/* A table without mistakes: this is what the parser relies on. */
static void check_table(const struct cmd *cmd, void *arg)
{
	bool good = cmd->summary && (cmd->sub || cmd->run) &&
		    (cmd->min == 0 || cmd->args) &&
		    (cmd->max == CMD_ANY || cmd->max >= cmd->min) &&
		    (!cmd->opts || cmd->values) &&
		    (cmd->sub || cmd->examples || !cmd->opts) &&
		    (!cmd->sub || cmd->verbatim == 1);

	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		good &= o->help && !o->arg == (o->kind == OPT_FLAG);
		good &= o->store < cmd->values;
		for (const struct opt *q = o + 1; q->name; q++)
			good &= strcmp(q->name, o->name) != 0 &&
				(!o->letter || o->letter != q->letter);
	}
	ok(good, cmd->name);
}

static void check_help(const struct cmd *cmd, void *arg)
{
	autofree char *text = NULL, *usage = NULL;
	size_t n, widest = 0, len;
	FILE *f = open_memstream(&text, &n);

	help_print(cmd, f);
	fclose(f);
	for (const char *p = text; *p; p += len + (p[len] == '\n')) {
		size_t width = 0;

		len = strcspn(p, "\n");
		for (size_t i = 0; i < len; i++)
			width += ((unsigned char)p[i] & 0xc0) != 0x80;
		widest = MAX(widest, width);
	}
	usage = xasprintf("Usage: sandboxctl %s", cmd->name);
	ok(str_starts(text, usage) && widest <= 79, usage);
}

/* The part of the manual under a command's heading; the caller's. */
static char *section_of(const char *pod, const char *name)
{
	autofree char *head = xasprintf("\n=head2 %s", name);
	const char *p = pod, *end;

	while ((p = strstr(p, head))) {
		p += strlen(head);
		if (*p != ' ' && *p != '\n')
			continue;
		/* "image" is not "image build" */
		if (*p == ' ' && islower((unsigned char)p[1]))
			continue;
		end = strstr(p, "\n=head");
		return end ? xstrndup(p, end - p) : xstrdup(p);
	}
	return NULL;
}

static void check_manual(const struct cmd *cmd, void *arg)
{
	autofree char *what = xasprintf("'%s' is in the manual", cmd->name);
	autofree char *text = section_of(arg, cmd->name);

	if (!ok(text != NULL, what))
		return;
	if (cmd->args)
		ok(strstr(text, cmd->args) != NULL, "  with its arguments");
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		autofree char *item = NULL, *title = NULL;

		title = o->letter ? xasprintf("B<-%c>, B<--%s>", o->letter,
					      o->name)
				  : xasprintf("B<--%s>", o->name);
		item = xasprintf("\n=item %s%s%s%s\n", title,
				 o->arg ? " I<" : "", o->arg ? o->arg : "",
				 o->arg ? ">" : "");
		if (!ok(strstr(text, item) != NULL, title))
			printf("# no line '%s'", item + 1);
	}
	/* And nothing that is not there. */
	for (const char *p = text; (p = strstr(p, "\n=item B<-"));) {
		const char *name = strstr(p, "B<--");

		p++;
		name = name ? name + 4 : "";
		if (!args_find_long(cmd, name, strcspn(name, ">")))
			ok(false, p);
	}
}

static void test_tables(void)
{
	autofree char *pod = NULL;
	struct sb_err err;

	each(&cmd_root, check_table, NULL);
	check_help(&cmd_root, NULL);
	each(&cmd_root, check_help, NULL);
	if (fs_read(SRCDIR "/docs/sandboxctl.pod", MAX_POD, &pod, NULL, &err)) {
		ok(false, err.msg);
		return;
	}
	each(&cmd_root, check_manual, pod);
}

static void is_completed(const char *text, const char *want)
{
	autofree char *path = xasprintf("%s/complete", scratch_dir);
	autofree char *got = NULL;
	struct ctl c = { 0 };
	int saved = dup(STDOUT_FILENO);
	struct line l;

	parse(&l, &cmd_complete, text);
	fflush(stdout);
	if (!freopen(path, "w", stdout))
		abort();
	cmd_complete.run(&c, &l.a.cmd, &l.err);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	fs_read(path, 4096, &got, NULL, NULL);
	is_str(got, want, text);
	daemon_close(&c);
	done(&l);
}

static void test_complete(void)
{
	is_completed("-- d", "down\ndoctor\ndaemon\n");
	is_completed("-- image i", "info\nimport\n");
	is_completed("-- up --en", "--env\n--env-file\n");
	is_completed("-- up --net ", "none\nopen\n");
	is_completed("-- up --restart on", "on-failure\n");
	is_completed("-- exec demo --i", "--interactive\n");
	is_completed("-- exec demo ls --i", "");
	is_completed("-- record demo sta", "start\nstatus\n");
	is_completed("-- port demo ", "add\nrm\n");
	is_completed("-- help ver", "version\n");
	is_completed("-- nonsense x", "");
	is_completed("-- --js", "--json\n");
}

static void is_text(const char *got, const char *want)
{
	is_str(got, want, want);
}

static void test_output(void)
{
	char s[OUT_SIZE_LEN];
	autofree char *path = daemon_path(DAEMON_SANDBOXES, "a/b c%", "/x");
	autofree char *text = NULL;
	struct table *t;
	size_t n;
	FILE *f;

	is_text(out_size(0, s), "-");
	is_text(out_size(1023, s), "1023");
	is_text(out_size(1536, s), "1.5K");
	is_text(out_size(1ULL << 30, s), "1G");
	is_text(out_size(512ULL << 20, s), "512M");
	is_text(out_span(-3, s), "0s");
	is_text(out_span(119, s), "119s");
	is_text(out_span(120, s), "2m");
	is_text(out_span(3 * 86400, s), "3d");
	is_int(out_parse_time("1970-01-02T00:00:01.500Z"), 86401, "a time");
	is_int(out_parse_time("soon"), -1, "no time");
	is_str(path, "/v1/sandboxes/a%2Fb%20c%25/x", "names are escaped");

	f = open_memstream(&text, &n);
	t = table_new(2, "A", "B");
	table_row(t, "gr\xc3\xbc\xc3\x9f", NULL);
	table_row(t, "x\033[2J\n", "y");
	table_print(t, f);
	table_free(t);
	fclose(f);
	is_str(text, "A     B\ngr\xc3\xbc\xc3\x9f  -\nx     y\n",
	       "a table counts characters and drops escapes");
}

int main(void)
{
	scratch_init();
	setenv("SANDBOX_STATE", scratch_dir, 1); /* no daemon there */
	test_values();
	test_words();
	test_refusals();
	test_lookup();
	test_request();
	test_tables();
	test_complete();
	test_output();
	return tap_done();
}
