/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a guest sends as a picture, nothing reaches the terminal but one
 * Sixel sequence without controls in it.
 */
#include "config.h"

#include "host/ctl-sixel.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autobuf struct buf out = { 0 };
	struct sb_err err;
	struct ppm p;

	if (ppm_read(data, len, &p, &err) < 0)
		return 0;
	sixel_encode(&p, &out);
	if (out.len < 4 || out.p[0] != '\033' || out.p[1] != 'P' ||
	    out.p[out.len - 2] != '\033' || out.p[out.len - 1] != '\\')
		abort();
	for (size_t i = 1; i < out.len - 2; i++)
		if (out.p[i] < ' ' || out.p[i] > '~')
			abort();
	return 0;
}
