/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of cells, one JSON text on each line of the input, as sandboxctl
 * shows them: for each, one line with a JSON object of what came out.
 *   result-tool [MAX-BYTES]
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/result.h"

static json_t *look(const char *text, size_t len, size_t max)
{
	autojson json_t *typed = NULL;
	autoresult struct result *r = NULL;
	autobuf struct buf b = { 0 };
	json_t *answer = json_object();
	struct sb_err err = { 0 };

	if (json_parse(text, len, &typed, &err) < 0 ||
	    result_parse(typed, &r, &err) < 0) {
		json_put(answer, "error", json_str(err.msg));
		return answer;
	}
	result_show(r, &b, max);
	json_put(answer, "show", json_text(b.p ? b.p : "", b.len));
	json_put(answer, "plain", result_plain(r));
	return answer;
}

int main(int argc, char **argv)
{
	long long max = 65536;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (argc > 1 && parse_num(argv[1], 1, 1 << 30, &max) < 0)
		return 2;
	while ((len = getline(&line, &cap, stdin)) > 0) {
		autojson json_t *answer = look(line, (size_t)len, (size_t)max);
		autofree char *text = json_print(answer);

		puts(text);
		fflush(stdout);
	}
	free(line);
	return 0;
}
