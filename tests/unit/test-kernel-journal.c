/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a kernel: memory, files, and what is forgotten. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/kernel-journal.h"
#include "tap.h"

#define SIZE 100000

static void fill(char *p, uint64_t seq)
{
	memset(p, 'a' + (int)(seq % 26), SIZE);
	snprintf(p, 32, "%llu", (unsigned long long)seq);
}

static bool has(struct kernel_journal *j, uint64_t seq)
{
	char want[SIZE];
	const char *data;
	size_t len;
	struct sb_err err;

	fill(want, seq);
	return kernel_journal_get(j, seq, &data, &len, &err) == 0 &&
	       len == SIZE && memcmp(data, want, SIZE) == 0 &&
	       kernel_journal_size(j, seq) == SIZE;
}

/* A folder that is gone takes no more files, as a full disk does. */
static void test_full_disk(void)
{
	char dir[] = "/var/tmp/sandbox-test-XXXXXX", data[SIZE];
	bool good = mkdtemp(dir);
	struct kernel_journals *all = kernel_journals_new(dir, 1 << 30);
	struct kernel_journal *j = kernel_journal_new(all, 1 << 20, 20 << 20);

	for (uint64_t i = 1; i <= 200; i++) {
		fill(data, i);
		kernel_journal_add(j, data, SIZE);
		if (i == 100)
			good = good && kernel_journal_first(j) == 1 &&
			       rmdir(dir) == 0;
	}
	for (uint64_t i = kernel_journal_first(j); i <= 200; i++)
		good = good && has(j, i);
	ok(good && kernel_journal_first(j) > 1 &&
		   kernel_journal_first(j) <= 200,
	   "on a full disk the oldest go, and there is no hole");
	kernel_journal_free(j);
	kernel_journals_free(all);
}

static void add(struct kernel_journal *j, int n)
{
	char data[SIZE];

	while (n--) {
		fill(data, kernel_journal_next(j));
		kernel_journal_add(j, data, SIZE);
	}
}

/* Whether all from its first on are there, and how many that are. */
static bool is_whole(struct kernel_journal *j, uint64_t min, uint64_t max)
{
	uint64_t first = kernel_journal_first(j), n = kernel_journal_next(j);

	for (uint64_t i = first; i < n; i++)
		if (!has(j, i))
			return false;
	return n - first >= min && n - first <= max;
}

/* Three kernels, of which one says little, and room for two. */
static void test_total(void)
{
	struct kernel_journals *all = kernel_journals_new("/var/tmp", 20 << 20);
	struct kernel_journal *j[3];
	bool good = true;

	for (int i = 0; i < 3; i++)
		j[i] = kernel_journal_new(all, 1 << 20, 16 << 20);
	add(j[0], 50);
	for (int i = 0; i < 40; i++) {
		add(j[1], 10);
		add(j[2], 10);
		good = good && kernel_journals_len(all) <= 20 << 20;
	}
	ok(good && kernel_journals_len(all) > 18 << 20,
	   "all together have no more in files than they may");
	ok(is_whole(j[0], 50, 50), "who says little keeps it all");
	ok(is_whole(j[1], 75, 100) && is_whole(j[2], 75, 100),
	   "the others share what is left");
	add(j[1], 400);
	ok(is_whole(j[0], 50, 50) && is_whole(j[1], 75, 100) &&
		   is_whole(j[2], 75, 100),
	   "one that goes on makes room by itself");
	kernel_journal_free(j[1]);
	kernel_journal_free(j[2]);
	add(j[0], 100);
	ok(is_whole(j[0], 150, 150), "those that are gone leave their room");
	kernel_journal_free(j[0]);
	ok(kernel_journals_len(all) == 0, "and then there is nothing");
	kernel_journals_free(all);
}

/* One message that is larger than all may be takes nothing from others. */
static void test_huge(void)
{
	struct kernel_journals *all = kernel_journals_new("/var/tmp", 4 << 20);
	struct kernel_journal *a = kernel_journal_new(all, 1 << 20, 64 << 20);
	struct kernel_journal *b = kernel_journal_new(all, 1 << 20, 64 << 20);
	char *huge = xcalloc(1, 5 << 20);

	add(a, 30);
	kernel_journal_add(b, huge, 5 << 20);
	add(b, 1);
	ok(is_whole(a, 30, 30) && has(b, 2) && !kernel_journal_size(b, 1),
	   "what is too large is forgotten without harm to others");
	kernel_journal_free(a);
	kernel_journal_free(b);
	kernel_journals_free(all);
	free(huge);
}

int main(void)
{
	struct kernel_journals *all = kernel_journals_new("/var/tmp", 1 << 30);
	struct kernel_journal *j = kernel_journal_new(all, 2 << 20, 20 << 20);
	char data[SIZE];
	const char *p;
	size_t len;
	bool good = true;
	struct sb_err err;

	ok(kernel_journal_first(j) == 1 && kernel_journal_next(j) == 1 &&
		   kernel_journal_get(j, 1, &p, &len, &err) < 0 &&
		   err.code == SB_NOTFOUND,
	   "it is empty");
	for (uint64_t i = 1; i <= 100; i++) {
		fill(data, i);
		good = good && kernel_journal_add(j, data, SIZE) == i;
	}
	for (uint64_t i = 100; i >= 1; i--)
		good = good && has(j, i);
	ok(good && kernel_journal_first(j) == 1,
	   "10 MB are kept, most of them in files");
	for (uint64_t i = 101; i <= 1000; i++) {
		fill(data, i);
		kernel_journal_add(j, data, SIZE);
	}
	ok(kernel_journal_first(j) > 700 && kernel_journal_first(j) < 850 &&
		   kernel_journal_next(j) == 1001,
	   "of 100 MB the last 20 are kept");
	good = !has(j, 1) && !has(j, kernel_journal_first(j) - 1) &&
	       !has(j, 1001);
	for (uint64_t i = kernel_journal_first(j); i <= 1000; i++)
		good = good && has(j, i);
	ok(good, "and can be read");
	for (uint64_t i = 1001; i <= 1200; i++) {
		fill(data, i);
		kernel_journal_add(j, data, SIZE);
		if (i % 2)
			kernel_journal_mark(j, &i, sizeof(i));
	}
	kernel_journal_mark(j, data, SIZE);
	good = true;
	for (uint64_t i = 1073; i < 1200; i += 2)
		good = good &&
		       kernel_journal_marked(j, i - 1, 1200, &p, &len) == i &&
		       len == sizeof(i) && memcmp(p, &i, len) == 0;
	ok(good && kernel_journal_marked(j, 1, 2000, &p, &len) == 1073 &&
		   !kernel_journal_marked(j, 1200, 2000, &p, &len) &&
		   !kernel_journal_marked(j, 1, 1073, &p, &len),
	   "the last 64 that are marked and small are kept apart");
	kernel_journal_free(j);
	kernel_journals_free(all);
	all = kernel_journals_new("/nonexistent", 1 << 30);
	j = kernel_journal_new(all, 1 << 20, 20 << 20);
	for (uint64_t i = 1; i <= 100; i++) {
		fill(data, i);
		kernel_journal_add(j, data, SIZE);
	}
	ok(has(j, 100) && !has(j, 1), "without files the newest are kept");
	kernel_journal_free(j);
	kernel_journals_free(all);
	test_full_disk();
	test_total();
	test_huge();
	return tap_done();
}
