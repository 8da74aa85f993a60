/* SPDX-License-Identifier: Apache-2.0 */
/* The hash of a guest bundle. */
#include "config.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssh/install.h"

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Every part has its length before it, so that no two bundles read alike. */
static void add_part(struct sha256 *h, const void *data, size_t len)
{
	uint64_t n = htole64(len);

	sha256_add(h, &n, sizeof(n));
	sha256_add(h, data, len);
}

static void add_head(struct sha256 *h, char kind, const char *name,
		     unsigned int mode)
{
	autofree char *head = xasprintf("%c %04o %s", kind, mode, name);

	add_part(h, head, strlen(head));
}

static int add_file(struct sha256 *h, const FTSENT *e, struct sb_err *err)
{
	uint64_t size = htole64(e->fts_statp->st_size);

	sha256_add(h, &size, sizeof(size));
	return sha256_add_file(h, e->fts_accpath, err);
}

static int add_symlink(struct sha256 *h, const FTSENT *e, struct sb_err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(e->fts_accpath, target, sizeof(target));

	if (n < 0)
		return sb_fail(err, SB_SYSTEM, "cannot read '%s': %m",
			       e->fts_path);
	add_part(h, target, n);
	return 0;
}

static int add_entry(struct sha256 *h, const FTSENT *e, size_t root_len,
		     struct sb_err *err)
{
	const char *name = e->fts_path + root_len;
	unsigned int mode = e->fts_statp->st_mode & 07777;

	name += strspn(name, "/");
	switch (e->fts_info) {
	case FTS_DP:
		return 0;
	case FTS_D:
		add_head(h, 'd', name, mode);
		return 0;
	case FTS_F:
		add_head(h, 'f', name, mode);
		return add_file(h, e, err);
	case FTS_SL:
	case FTS_SLNONE:
		add_head(h, 'l', name, 0777);
		return add_symlink(h, e, err);
	default:
		if (e->fts_errno)
			return sb_fail(err, sb_code_of_errno(e->fts_errno),
				       "cannot read '%s': %s", e->fts_path,
				       strerror(e->fts_errno));
		return sb_fail(err, SB_INVALID,
			       "'%s' does not belong in a bundle", e->fts_path);
	}
}

static int add_tree(struct sha256 *h, FTS *fts, size_t root_len,
		    struct sb_err *err)
{
	FTSENT *e;

	while (errno = 0, (e = fts_read(fts))) {
		if (e->fts_level == 1 &&
		    strcmp(e->fts_name, BUNDLE_HASH_FILE) == 0)
			continue;
		/* The folder's own mode is the guest's affair. */
		if (e->fts_level == 0 && (e->fts_info == FTS_D))
			continue;
		if (e->fts_level == 0 && e->fts_info == FTS_F)
			return sb_fail(err, SB_INVALID, "'%s' is no folder",
				       e->fts_path);
		if (add_entry(h, e, root_len, err) < 0)
			return -1;
	}
	if (errno)
		return sb_fail(err, SB_SYSTEM, "cannot read the bundle: %m");
	return 0;
}

int bundle_hash(const char *dir, char out[SHA256_HEX_LEN + 1],
		struct sb_err *err)
{
	char *roots[] = { (char *)dir, NULL };
	char digest[SHA256_HEX_LEN + 1];
	struct sha256 *h;
	FTS *fts;
	int rc;

	fts = fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR,
		       by_name);
	if (!fts)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read the bundle '%s': %m", dir);
	h = sha256_new();
	rc = add_tree(h, fts, strlen(dir), err);
	fts_close(fts);
	sha256_finish(h, digest);
	if (rc == 0)
		memcpy(out, digest, sizeof(digest));
	return rc;
}
