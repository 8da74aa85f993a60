/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, quoting, the bundle's hash, and tar streams, honest and hostile. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "ssh/install.h"
#include "ssh/ssh.h"
#include "common/tar.h"
#include "tap.h"

/* What a command of ours prints; the caller's. */
static char *output_of(const char *command)
{
	FILE *f = popen(command, "re");
	struct buf b = { 0 };
	char data[4096];
	size_t n;

	if (!f)
		abort();
	buf_add(&b, "", 0);
	while ((n = fread(data, 1, sizeof(data), f)) > 0)
		buf_add(&b, data, n);
	if (pclose(f) != 0)
		b.p[0] = '\0';
	return b.p;
}

static void test_keypair(void)
{
	struct ssh_keypair a = { 0 }, b = { 0 };
	autofree char *file = NULL, *command = NULL, *got = NULL;
	struct sb_err err;

	is_int(ssh_keypair_new(&a, &err), 0, "a key pair is made");
	is_int(ssh_keypair_new(&b, &err), 0, "and another one");
	ok(str_starts(a.public_line, "ssh-ed25519 AAAA"), "it is Ed25519");
	ok(!strchr(a.public_line, '\n'), "the public line is one line");
	ok(strcmp(a.public_line, b.public_line) != 0, "no two are alike");
	file = scratch_file("key", a.private_pem);
	command = xasprintf("ssh-keygen -y -P '' -f %s", file);
	got = output_of(command);
	got[strcspn(got, "\n")] = '\0';
	is_str(got, a.public_line, "ssh-keygen reads the private key");
	ssh_keypair_done(&a);
	ssh_keypair_done(&b);
	ok(!a.private_pem && !a.public_line, "nothing is left of it");
}

static void test_quote(void)
{
	static const char *const words[] = {
		"",	     "plain",	  "two words",
		"it's",	     "'",	  "$HOME `id` \\ \" !*?",
		"-n",	     "new\nline", "\xff\xfe\x01\t",
		"a;b|c&d>e",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		autofree char *word = ssh_quote(words[i]);
		autofree char *command = xasprintf("printf %%s. %s", word);
		autofree char *want = xasprintf("%s.", words[i]);
		autofree char *got = output_of(command);

		is_str(got, want, "a shell reads the quoted word");
	}
}

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", scratch_dir, name);
}

static void make_dir(const char *name)
{
	autofree char *path = path_of(name);

	if (mkdir(path, 0755) < 0)
		abort();
}

static void set_mode(const char *name, mode_t mode)
{
	autofree char *path = path_of(name);

	if (chmod(path, mode) < 0)
		abort();
}

static char *hash_of(const char *name)
{
	autofree char *path = path_of(name);
	char hash[SHA256_HEX_LEN + 1];
	struct sb_err err;

	if (bundle_hash(path, hash, &err) < 0)
		return xstrdup(err.msg);
	return xstrdup(hash);
}

static void make_bundle(void)
{
	make_dir("bundle");
	make_dir("bundle/bin");
	free(scratch_file("bundle/bin/guestd", "program"));
	set_mode("bundle/bin/guestd", 0755);
	free(scratch_file("bundle/unit", "text"));
}

static void test_bundle_hash(void)
{
	autofree char *first = NULL, *again = NULL, *mode = NULL, *text = NULL,
		      *name = NULL, *split = NULL, *none = NULL;

	make_bundle();
	first = hash_of("bundle");
	is_int(strlen(first), SHA256_HEX_LEN, "a bundle has a hash");
	free(scratch_file("bundle/.hash", first));
	again = hash_of("bundle");
	is_str(again, first, "its .hash has no part in it");
	set_mode("bundle/bin/guestd", 0700);
	mode = hash_of("bundle");
	ok(strcmp(mode, first) != 0, "a mode has");
	set_mode("bundle/bin/guestd", 0755);
	free(scratch_file("bundle/unit", "text2"));
	text = hash_of("bundle");
	ok(strcmp(text, first) != 0, "contents have");
	free(scratch_file("bundle/unit", "text"));
	free(scratch_file("bundle/unit2", ""));
	name = hash_of("bundle");
	ok(strcmp(name, first) != 0, "a name has");
	free(scratch_file("bundle/bin/.hash", ""));
	split = hash_of("bundle");
	ok(strcmp(split, name) != 0, "a .hash below has, too");
	none = hash_of("no-such-bundle");
	ok(strstr(none, "no-such-bundle"), "a missing bundle is named");
}

/* A reader that unpacks below the scratch folder, and its folder's fd. */
struct unpack {
	int fd;
	struct tar_reader *reader;
	struct sb_err err;
	int rc;
};

static void unpack_begin(struct unpack *u)
{
	autofree char *dir = path_of("unpack");

	*u = (struct unpack){ .fd = -1 };
	fs_remove_tree(dir, NULL);
	if (mkdir(dir, 0700) < 0)
		abort();
	u->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	u->reader = tar_reader_new(u->fd, "new");
}

static void unpack_bytes(struct unpack *u, const void *data, size_t len)
{
	if (u->rc == 0)
		u->rc = tar_reader_write(u->reader, data, len, &u->err);
}

static int unpack_end(struct unpack *u)
{
	if (u->rc == 0)
		u->rc = tar_reader_end(u->reader, &u->err);
	tar_reader_free(u->reader);
	close(u->fd);
	return u->rc;
}

static void unpack_entry(struct unpack *u, char type, const char *name,
			 const char *link, const char *size, const char *body)
{
	static const char zeros[TAR_BLOCK];
	struct tar_header h = { .type = type, .magic = "ustar", .mode = "644" };
	size_t len = strlen(body);

	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	memcpy(h.link, link, strnlen(link, sizeof(h.link)));
	memcpy(h.size, size, strnlen(size, sizeof(h.size)));
	snprintf(h.sum, sizeof(h.sum), "%06o", tar_sum(&h));
	unpack_bytes(u, &h, sizeof(h));
	unpack_bytes(u, body, len);
	unpack_bytes(u, zeros, -len & (TAR_BLOCK - 1));
}

static void unpack_zeros(struct unpack *u, size_t blocks)
{
	static const char zeros[TAR_BLOCK];

	while (blocks--)
		unpack_bytes(u, zeros, sizeof(zeros));
}

/* The trees that real tars make have more in them than fits plain headers. */
static void test_tar_trip(size_t step)
{
	autofree char *source = path_of("bundle"), *command = NULL, *got = NULL;
	autotarw struct tar_writer *w = NULL;
	struct unpack u;
	char data[4096];
	ssize_t n;

	if (tar_writer_new(source, ".", NULL, "end", &w, &u.err) < 0)
		abort();
	unpack_begin(&u);
	while ((n = tar_writer_read(w, data, step, &u.err)) > 0)
		unpack_bytes(&u, data, n);
	is_int(n, 0, "the writer comes to its end");
	is_int(unpack_end(&u), 0, "the reader understands the writer");
	command = xasprintf("cd %s/unpack/new && rm end && cd ../.. && "
			    "diff -r --no-dereference bundle unpack/new && "
			    "echo same",
			    scratch_dir);
	got = output_of(command);
	is_str(got, "same\n", "what was read is what was written");
}

static void test_tar_tree(void)
{
	static const char sixty[] =
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
	autofree char *deep = xasprintf("bundle/%s", sixty);
	autofree char *file = xasprintf("%s/%s%s%s", deep, sixty, sixty, sixty);
	autofree char *link = path_of("bundle/link");

	make_dir(deep);
	free(scratch_file(file, "deep"));
	free(scratch_file("bundle/odd \n'\" \xff", "odd"));
	if (symlink(file + strlen("bundle/"), link) < 0)
		abort();
	test_tar_trip(1);
	test_tar_trip(4096);
}

/* Each of these streams must fail, and with that code. */
static void hostile(struct unpack *u, enum sb_code code, const char *what)
{
	is_int(unpack_end(u), -1, what);
	is_int(u->err.code, code, "with the right code");
}

static void test_tar_paths(void)
{
	autofree char *out = path_of("unpack/out");
	struct unpack u;

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, '0', "../out", "", "1", "x");
	hostile(&u, SB_GUEST, "a path that climbs");
	ok(access(out, F_OK) < 0, "nothing was written there");

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, '0', "/etc/sandbox-out", "", "1", "x");
	hostile(&u, SB_GUEST, "an absolute path is looked for below");

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, '5', "./d", "", "0", "");
	unpack_entry(&u, '2', "./d/link", "../", "0", "");
	unpack_entry(&u, '0', "./d/link/file", "", "1", "x");
	hostile(&u, SB_GUEST, "a path through a symlink");

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, '2', "./f", "d", "0", "");
	unpack_entry(&u, '0', "./f", "", "1", "x");
	hostile(&u, SB_GUEST, "a file over a symlink");

	unpack_begin(&u);
	unpack_entry(&u, '0', "./f", "", "1", "x");
	unpack_entry(&u, '0', "./g", "", "1", "x");
	hostile(&u, SB_GUEST, "two files for one");

	unpack_begin(&u);
	for (int i = 0; i < 3; i++)
		unpack_entry(&u, '5', "./", "", "0", "");
	hostile(&u, SB_GUEST, "the same folder twice");
}

static void test_tar_links(void)
{
	static const struct {
		const char *target;
		bool good;
	} links[] = {
		{ "file", true },	  { "../file", true },
		{ "./../d/e", true },	  { "..", true },
		{ "../..", false },	  { "../../x", false },
		{ "d/../../x", false },	  { "d/..", false },
		{ "/etc/passwd", false }, { "", false },
	};
	struct unpack u;

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		unpack_begin(&u);
		unpack_entry(&u, '5', "./", "", "0", "");
		unpack_entry(&u, '5', "./d/", "", "0", "");
		unpack_entry(&u, '2', "./d/l", links[i].target, "0", "");
		unpack_zeros(&u, 2);
		printf("# '%s'\n", links[i].target);
		if (links[i].good)
			is_int(unpack_end(&u), 0, "a symlink that stays");
		else
			hostile(&u, SB_DENIED, "a symlink that leaves");
	}
	unpack_begin(&u);
	unpack_entry(&u, '2', "./l", "sibling", "0", "");
	hostile(&u, SB_DENIED, "a symlink in place of the file");

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, '1', "./h", "../../etc/passwd", "0", "");
	hostile(&u, SB_GUEST, "a hard link to the outside");

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, '5', "./d", "", "0", "");
	unpack_entry(&u, '2', "./d/l", "../f", "0", "");
	unpack_entry(&u, '1', "./h", "./d/l", "0", "");
	hostile(&u, SB_GUEST, "a hard link to a symlink");

	unpack_begin(&u);
	unpack_entry(&u, '3', "./dev", "", "0", "");
	hostile(&u, SB_DENIED, "a device");
}

static void test_tar_numbers(void)
{
	struct unpack u;

	unpack_begin(&u);
	unpack_entry(&u, '0', "f", "", "77777777777", "short");
	hostile(&u, SB_GUEST, "less than was promised");

	unpack_begin(&u);
	unpack_entry(&u, '0', "f", "", "9", "x");
	hostile(&u, SB_GUEST, "a size that is no number");

	unpack_begin(&u);
	unpack_entry(&u, '0', "f", "", "\xff\xff\xff\xff", "x");
	hostile(&u, SB_GUEST, "a negative size");

	unpack_begin(&u);
	unpack_entry(&u, 'L', "f", "", "77777777777", "x");
	hostile(&u, SB_GUEST, "an endless name");

	unpack_begin(&u);
	unpack_entry(&u, '0', "f", "", "1", "x");
	hostile(&u, SB_GUEST, "no end mark");

	unpack_begin(&u);
	unpack_zeros(&u, 2);
	hostile(&u, SB_GUEST, "an empty archive");

	unpack_begin(&u);
	unpack_entry(&u, '0', "f", "", "1", "x");
	unpack_zeros(&u, 4000);
	hostile(&u, SB_GUEST, "an endless end");

	unpack_begin(&u);
	unpack_bytes(&u, "SSH-2.0-nothing like a tar at all", 33);
	for (int i = 0; i < 16; i++)
		unpack_bytes(&u, "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", 32);
	hostile(&u, SB_GUEST, "no archive");
}

static void test_tar_pax(void)
{
	autofree char *path = path_of("unpack/new/other");
	struct unpack u;

	unpack_begin(&u);
	unpack_entry(&u, '5', "./", "", "0", "");
	unpack_entry(&u, 'x', "pax", "", "41",
		     "16 path=./other\n10 size=3\n7 a=bc\n");
	unpack_entry(&u, '0', "short", "", "0", "abc");
	unpack_zeros(&u, 2);
	is_int(unpack_end(&u), 0, "a pax header is understood");
	ok(access(path, F_OK) == 0, "and its path is used");

	unpack_begin(&u);
	unpack_entry(&u, 'x', "pax", "", "20", "99 path=./other\n");
	hostile(&u, SB_GUEST, "a record longer than the header");

	unpack_begin(&u);
	unpack_entry(&u, 'x', "pax", "", "4", "1 \n\n");
	hostile(&u, SB_GUEST, "a record shorter than itself");
}

int main(void)
{
	scratch_init();
	test_keypair();
	test_quote();
	test_bundle_hash();
	test_tar_tree();
	test_tar_paths();
	test_tar_links();
	test_tar_numbers();
	test_tar_pax();
	return tap_done();
}
