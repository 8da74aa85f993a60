/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever stands in a template, it is refused, or it makes a specification
 * that is the same after it was written down and read again.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "host/spec.h"
#include "host/yaml-doc.h"
#include "tests/fuzz/fuzz.h"

static void check_round_trip(const struct spec *s)
{
	autojson json_t *once = spec_to_json(s), *twice = NULL;
	autospec struct spec again;
	struct sb_err err;

	spec_init(&again);
	if (spec_from_json(once, &again, &err) < 0)
		abort();
	twice = spec_to_json(&again);
	if (!json_equal(once, twice))
		abort();
}

static void check_doc(const struct yaml_doc *doc)
{
	char field[SPEC_FIELD_LEN];
	struct sb_err err = { 0 };
	autospec struct spec s;

	spec_init(&s);
	if (spec_from_json_at(yaml_doc_json(doc), &s, field, &err) < 0) {
		yaml_doc_fail(doc, field, &err);
		return;
	}
	spec_check(&s, &err);
	check_round_trip(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoyaml struct yaml_doc *doc = NULL;
	autoclose int fd = memfd_create("template", MFD_CLOEXEC);
	struct sb_err err;
	char path[32];

	if (fd < 0 || fs_write_all(fd, data, size) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (yaml_doc_read(path, &doc, &err) == 0)
		check_doc(doc);
	return 0;
}
