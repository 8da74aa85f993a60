/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of Jupyter's clients, in all framings. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "guest/gateway-frame.h"
#include "tests/fuzz/fuzz.h"

/* What can be read can be written in the older framing, and comes back. */
static void go_round(const char *data, size_t len)
{
	autobuf struct buf old = { 0 }, again = { 0 }, json = { 0 };
	struct frame f, g;
	bool text;

	if (frame_read(data, len, &f, NULL) < 0)
		return;
	if (frame_to_json(&f, 1, &json, NULL) < 0)
		return; /* not UTF-8 */
	if (frame_to_legacy(&f, &old, &text, NULL) < 0 ||
	    frame_from_legacy(text, old.p, old.len, &again, NULL) < 0 ||
	    frame_read(again.p, again.len, &g, NULL) < 0)
		abort();
	if (g.channel != f.channel || g.nbuffers != f.nbuffers)
		abort();
	for (size_t i = 0; i < f.nbuffers; i++)
		if (!part_equal(frame_buffer(&f, i), frame_buffer(&g, i)))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data + 1;
	autobuf struct buf v1 = { 0 };

	if (len < 2)
		return 0;
	if (data[0] % 3 == 0)
		go_round(text, len - 1);
	else if (frame_from_legacy(data[0] % 3 == 1, text, len - 1, &v1,
				   NULL) == 0)
		go_round(v1.p, v1.len);
	return 0;
}
