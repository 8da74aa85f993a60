/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The file around a PNG picture.  Compression is libdeflate's. */

#include <stddef.h>
#include <stdint.h>

#include "common/util.h"

enum png_kind { PNG_RGB = 2, PNG_INDEXED = 3 }; /* 8 bits each */

struct png {
	unsigned int width, height;
	enum png_kind kind;
	/* Its rows, each after the number of its filter (0: none). */
	const uint8_t *rows;
	size_t len;
	/* Red, green, blue of each index. */
	const uint8_t (*palette)[3];
	size_t ncolours;
	int level; /* of compression, 1 to 12 */
};

void png_write(const struct png *p, struct buf *to);
