/* SPDX-License-Identifier: Apache-2.0 */
/* Range and If-None-Match. */
#include "config.h"

#include <string.h>

#include "common/range.h"
#include "common/util.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autofree char *text = xstrndup((const char *)data, len);
	uint64_t size, offset, length;

	if (len < sizeof(size))
		return 0;
	memcpy(&size, data + len - sizeof(size), sizeof(size));
	if (range_parse(text, size, &offset, &length) == RANGE_PART &&
	    (!length || offset >= size || length > size - offset))
		abort();
	etag_listed(text, "\"1-2-3\"");
	return 0;
}
