/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting the guest bundle into a guest with one command: its script says
 * whether it wants the bundle, which then follows as a tar stream.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "common/blame.h"
#include "common/tar.h"
#include "ssh/install.h"
#include "ssh/session.h"

#define UNIT "sandbox-guestd.service"
/* Starting a service on an emulated CPU moves no byte for a while. */
#define IDLE_MS 120000

/*
 * $1 is the prefix, $2 the hash, $3 systemctl, $4 useradd: a foreign image may
 * lack the user as whom commands run.  The new bundle is complete
 * beside the old one before they change places, and the old one comes back if
 * the new one's service does not start.
 */
static const char script[] =
	"p=$1 hash=$2 systemctl=$3 useradd=$4\n"
	"if [ \"$(cat \"$p/.hash\" 2>/dev/null)\" = \"$hash\" ]; then\n"
	"	echo same\n"
	"	exec \"$systemctl\" start " UNIT "\n"
	"fi\n"
	"rm -rf \"$p.new\" && mkdir -p \"$p.new\" && echo send || exit\n"
	"trap 'rm -rf \"$p.new\"' EXIT\n"
	"trap 'exit 129' HUP INT TERM\n"
	"LC_ALL=C tar -xpof - -C \"$p.new\" || exit\n"
	"rm \"$p.new/.end\" && echo \"$hash\" >\"$p.new/.hash\" || exit\n"
	"trap '' HUP INT TERM\n"
	"rm -rf \"$p.old\"\n"
	"[ ! -e \"$p\" ] || mv \"$p\" \"$p.old\" || exit\n"
	"mv \"$p.new\" \"$p\" &&\n"
	"\"$systemctl\" --quiet enable \"$p/" UNIT "\" &&\n"
	"\"$systemctl\" restart " UNIT "\n"
	"status=$?\n"
	"if [ $status = 0 ]; then\n"
	"	id user >/dev/null 2>&1 ||\n"
	"		\"$useradd\" -m -U -s /bin/bash -p '*' user || :\n"
	"	rm -rf \"$p.old\"\n"
	"	exit 0\n"
	"fi\n"
	"rm -rf \"$p\"\n"
	"if [ -e \"$p.old\" ]; then\n"
	"	mv \"$p.old\" \"$p\"\n"
	"	\"$systemctl\" daemon-reload\n"
	"	\"$systemctl\" restart " UNIT "\n"
	"else\n"
	"	\"$systemctl\" --quiet disable " UNIT "\n"
	"fi 2>/dev/null\n"
	"exit $status\n";

struct install {
	struct tar_writer *writer;
	struct blame answer; /* "same\n" or "send\n" */
	struct blame words;
};

static bool answered(const struct install *in, const char *answer)
{
	return in->answer.len == strlen(answer) &&
	       memcmp(in->answer.text, answer, in->answer.len) == 0;
}

static ssize_t pull_bundle(void *arg, char *data, size_t max,
			   struct sb_err *err)
{
	struct install *in = arg;

	if (!answered(in, "send\n"))
		return RUN_LATER;
	return tar_writer_read(in->writer, data, max, err);
}

static int push_words(void *arg, int stream, const char *data, size_t len,
		      struct sb_err *err)
{
	struct install *in = arg;

	blame_hear(stream == STDOUT_FILENO ? &in->answer : &in->words, data,
		   len);
	return 0;
}

static char *install_command(const struct install_paths *paths,
			     const char *hash)
{
	autofree char *s = ssh_quote(script),
		      *prefix = ssh_quote(paths->prefix),
		      *systemctl = ssh_quote(paths->systemctl),
		      *useradd = ssh_quote(paths->useradd);

	return xasprintf("exec /bin/sh -c %s sh %s %s %s %s", s, prefix, hash,
			 systemctl, useradd);
}

int ssh_install_at(struct ssh *s, const char *bundle_dir,
		   const struct install_paths *paths, bool *ret_done,
		   struct sb_err *err)
{
	autotarw struct tar_writer *w = NULL;
	autofree char *command = NULL;
	char hash[SHA256_HEX_LEN + 1];
	struct install in = { 0 };
	struct ssh_run run = {
		.pull = pull_bundle,
		.push = push_words,
		.arg = &in,
		.idle_ms = IDLE_MS,
	};
	int status;

	if (bundle_hash(bundle_dir, hash, err) < 0 ||
	    tar_writer_new(bundle_dir, ".", BUNDLE_HASH_FILE, ".end", &w, err) <
		    0)
		return -1;
	in.writer = w;
	run.command = command = install_command(paths, hash);
	if (ssh_run(s, &run, &status, err) < 0)
		return sb_wrap(err, "cannot install guestd");
	if (status != 0)
		return blame_fail(&in.words,
				  "cannot install guestd in the guest", err);
	*ret_done = !answered(&in, "same\n");
	return 0;
}

int ssh_install(struct ssh *s, const char *bundle_dir, bool *ret_done,
		struct sb_err *err)
{
	static const struct install_paths paths = {
		.prefix = "/opt/sandbox",
		.systemctl = "systemctl",
		.useradd = "useradd",
	};

	return ssh_install_at(s, bundle_dir, &paths, ret_done, err);
}
