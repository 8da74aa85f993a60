/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of any kind in JSON. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/base64.h"
#include "guest/text.h"

bool text_is_valid(const char *data, size_t len)
{
	autojson json_t *j = NULL;

	if (!len)
		return true;
	if (memchr(data, '\0', len))
		return false;
	j = json_stringn(data, len);
	return j != NULL;
}

size_t text_whole(const char *data, size_t len)
{
	for (size_t back = 1; back <= MIN(len, 3); back++) {
		unsigned char c = data[len - back];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) == 0x80)
			continue;
		return need > back ? len - back : len;
	}
	return len;
}

json_t *text_json(const char *data, size_t len, bool base64)
{
	autofree char *text = NULL;

	if (!len)
		return json_str("");
	if (!base64)
		return json_text(data, len);
	text = base64_encode(data, len);
	return json_str(text);
}

int text_decode(const char *text, const char *field, struct buf *ret,
		struct sb_err *err)
{
	size_t len;
	autofree char *data = base64_decode(text, strlen(text), &len);

	if (!data)
		return sb_fail(err, SB_INVALID, "'%s' is not base64", field);
	buf_add(ret, data, len);
	return 0;
}
