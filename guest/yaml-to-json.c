/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml-to-json FILE: at build time, so that guests need no YAML library.
 */
#include "config.h"

#include <stdio.h>

#include "common/json.h"
#include "host/yaml-doc.h"

int main(int argc, char **argv)
{
	autoyaml struct yaml_doc *doc = NULL;
	autofree char *text = NULL;
	struct sb_err err;

	if (argc != 2) {
		fprintf(stderr, "usage: yaml-to-json FILE\n");
		return 2;
	}
	if (yaml_doc_read(argv[1], &doc, &err) < 0) {
		fprintf(stderr, "yaml-to-json: %s\n", err.msg);
		return 1;
	}
	text = json_print(yaml_doc_json(doc));
	return puts(text) < 0 || fflush(stdout) != 0;
}
