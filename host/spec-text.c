/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts in a specification may look like. */
#include "config.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/http1.h"
#include "common/util.h"
#include "host/spec-text.h"
#include "host/spec.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"

/* One to max characters of rest, the first of them of first. */
static bool made_of(const char *s, const char *first, const char *rest,
		    size_t max)
{
	size_t n = strlen(s);

	return n && n <= max && strchr(first, s[0]) && strspn(s, rest) == n;
}

bool spec_name_ok(const char *name)
{
	return made_of(name, LOWER DIGIT, LOWER DIGIT "-", SPEC_NAME_LEN);
}

const char *spec_text_name(const char *s)
{
	if (spec_name_ok(s))
		return NULL;
	return "is not a name (1 to 63 of a-z, 0-9 and -, not - first)";
}

const char *spec_text_user(const char *s)
{
	if (made_of(s, LOWER "_", LOWER DIGIT "_-", 32))
		return NULL;
	return "is not a user name";
}

const char *spec_text_address(const char *s)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, s, &addr) == 1)
		return NULL;
	return "is not an IPv4 address (example: 127.0.0.1)";
}

const char *spec_text_display(const char *s)
{
	unsigned int width, height;
	char rest;

	if (strcmp(s, "none") == 0)
		return NULL;
	if (made_of(s, DIGIT, DIGIT "x", 9) &&
	    sscanf(s, "%4ux%4u%c", &width, &height, &rest) == 2 &&
	    width >= 320 && width <= 7680 && height >= 200 && height <= 4320)
		return NULL;
	return "is not a size of a screen, 320x200 to 7680x4320, nor none (example: 1280x800)";
}

const char *spec_text_origin(const char *s)
{
	if (strcmp(s, "*") == 0 || http1_is_origin(s))
		return NULL;
	return "is not a web origin as browsers send it, nor * (example: https://lab.example)";
}

const char *spec_text_file(const char *s)
{
	if (made_of(s, LOWER UPPER DIGIT, LOWER UPPER DIGIT "._-", 64))
		return NULL;
	return "is not a plain file name (example: guestd.log)";
}

const char *spec_text_host_path(const char *s)
{
	return s[0] == '/' ? NULL : "is not an absolute path";
}

const char *spec_text_guest_path(const char *s)
{
	const char *p = s;

	while (*p == '/') {
		size_t n = strcspn(++p, "/");

		if ((n == 0 && p != s + 1) || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			break;
		p += n;
	}
	if (*s && !*p && (s[1] == '\0' || p[-1] != '/'))
		return NULL;
	return "is not an absolute path without '.', '..' and doubled or trailing '/'";
}

const char *spec_text_env_name(const char *s)
{
	if (made_of(s, LOWER UPPER "_", LOWER UPPER DIGIT "_", 128))
		return NULL;
	return "is not a variable's name (letters, digits and _, no digit first)";
}

const char *spec_text_label_name(const char *s)
{
	if (made_of(s, LOWER UPPER DIGIT, LOWER UPPER DIGIT "._/-", 63))
		return NULL;
	return "is not a label's name (1 to 63 letters, digits, '.', '_', '/', '-')";
}

const char *spec_text_plain(const char *s, size_t len)
{
	if (len >= PATH_MAX)
		return "longer than 4095 bytes";
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\t') ||
		    s[i] == '\x7f')
			return "holds a newline or another control character";
	return NULL;
}

const char *spec_text_size(unsigned long long bytes, char out[SPEC_SIZE_LEN])
{
	static const char units[] = "KMGT";
	size_t u = 0;

	if (!bytes || bytes % 1024) {
		snprintf(out, SPEC_SIZE_LEN, "%llu", bytes);
		return out;
	}
	for (bytes /= 1024; bytes % 1024 == 0 && units[u + 1]; u++)
		bytes /= 1024;
	snprintf(out, SPEC_SIZE_LEN, "%llu%c", bytes, units[u]);
	return out;
}
