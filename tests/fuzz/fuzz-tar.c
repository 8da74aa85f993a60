/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever archive a guest sends, all that comes of it lies below its name. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/tar.h"
#include "fuzz.h"

static char dir[] = "/tmp/fuzz-tar-XXXXXX";

static void remove_dir(void)
{
	fs_remove_tree(dir, NULL);
}

/* The folder has no entries but that one. */
static void check_only(const char *path, const char *name)
{
	struct dirent *e;
	DIR *d = opendir(path);

	if (!d)
		abort();
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0 &&
		    strcmp(e->d_name, name) != 0)
			abort();
	closedir(d);
}

/* Make the checksums right, which the fuzzer would never guess. */
static void mend(char *data, size_t len)
{
	for (size_t i = 0; i + TAR_BLOCK <= len; i += TAR_BLOCK) {
		struct tar_header h;
		char sum[12];

		memcpy(&h, data + i, sizeof(h));
		if (memcmp(h.magic, "ustar", 5) != 0)
			continue;
		snprintf(sum, sizeof(sum), "%06o", tar_sum(&h));
		memcpy(h.sum, sum, sizeof(h.sum));
		memcpy(data + i, &h, sizeof(h));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autofree char *copy = xmalloc(len), *inner = NULL;
	struct tar_reader *r;
	struct sb_err err;
	int fd;

	if (strstr(dir, "XXXXXX")) {
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
	}
	if (len)
		memcpy(copy, data, len);
	mend(copy, len);
	inner = xasprintf("%s/inner", dir);
	if (mkdir(inner, 0700) < 0)
		abort();
	fd = open(inner, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = tar_reader_new(fd, "new");
	if (tar_reader_write(r, copy, len, &err) == 0)
		tar_reader_end(r, &err);
	tar_reader_free(r);
	close(fd);
	check_only(dir, "inner");
	check_only(inner, "new");
	if (fs_remove_tree(inner, NULL) < 0)
		abort();
	return 0;
}
