/* SPDX-License-Identifier: Apache-2.0 */
/* MIME types by name. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "common/util.h"
#include "common/mime.h"

const char *mime_of_name(const char *name)
{
	static const char *const types[][2] = {
		/* clang-format off */
		{ ".css",     "text/css" },
		{ ".csv",     "text/csv" },
		{ ".gif",     "image/gif" },
		{ ".gz",      "application/gzip" },
		{ ".htm",     "text/html" },
		{ ".html",    "text/html" },
		{ ".ico",     "image/x-icon" },
		{ ".ipynb",   "application/x-ipynb+json" },
		{ ".jpeg",    "image/jpeg" },
		{ ".jpg",     "image/jpeg" },
		{ ".js",      "text/javascript" },
		{ ".json",    "application/json" },
		{ ".log",     "text/plain" },
		{ ".md",      "text/markdown" },
		{ ".mjs",     "text/javascript" },
		{ ".mp3",     "audio/mpeg" },
		{ ".mp4",     "video/mp4" },
		{ ".oga",     "audio/ogg" },
		{ ".parquet", "application/vnd.apache.parquet" },
		{ ".pdf",     "application/pdf" },
		{ ".png",     "image/png" },
		{ ".py",      "text/x-python" },
		{ ".sh",      "text/x-shellscript" },
		{ ".svg",     "image/svg+xml" },
		{ ".tar",     "application/x-tar" },
		{ ".tsv",     "text/tab-separated-values" },
		{ ".txt",     "text/plain" },
		{ ".wasm",    "application/wasm" },
		{ ".wav",     "audio/wav" },
		{ ".webm",    "video/webm" },
		{ ".webp",    "image/webp" },
		{ ".woff",    "font/woff" },
		{ ".woff2",   "font/woff2" },
		{ ".xml",     "application/xml" },
		{ ".yaml",    "application/yaml" },
		{ ".yml",     "application/yaml" },
		{ ".zip",     "application/zip" },
		/* clang-format on */
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(types); i++)
		if (strcasecmp(dot, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}
