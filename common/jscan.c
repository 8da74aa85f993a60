/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into JSON text without taking it apart. */
#include "config.h"

#include <string.h>

#include "common/jscan.h"

bool part_is(struct part a, const char *s)
{
	return part_equal(a, part_of(s));
}

bool part_equal(struct part a, struct part b)
{
	return a.len == b.len && (!a.len || memcmp(a.p, b.p, a.len) == 0);
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	return p;
}

/* p is at the opening quote; returns what follows the closing one, or NULL. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p == '\\' && ++p == end)
			return NULL;
	}
	return NULL;
}

static bool is_plain(char c)
{
	return c && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzEINTF", c);
}

/* An object or array: brackets must match, all else is taken as it comes. */
static const char *skip_nested(const char *p, const char *end)
{
	char closing[JSCAN_MAX_DEPTH];
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '{' || *p == '[') {
			if (depth == JSCAN_MAX_DEPTH)
				return NULL;
			closing[depth++] = *p == '{' ? '}' : ']';
		} else if (*p == '}' || *p == ']') {
			if (closing[--depth] != *p)
				return NULL;
			if (!depth)
				return p + 1;
		} else if (!is_plain(*p) && !strchr(" \t\r\n,:", *p)) {
			return NULL;
		} else if (!*p) {
			return NULL;
		}
		p++;
	}
	return NULL;
}

static const char *skip_value(const char *p, const char *end)
{
	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_nested(p, end);
	if (!is_plain(*p))
		return NULL;
	while (p < end && is_plain(*p))
		p++;
	return p;
}

bool jscan_is_object(struct part text)
{
	const char *end = text.p + text.len;
	const char *p = skip_space(text.p, end);

	if (p == end || *p != '{')
		return false;
	p = skip_nested(p, end);
	return p && skip_space(p, end) == end;
}

size_t jscan_values(struct part text)
{
	const char *p = text.p, *end = text.p + text.len;
	size_t n = 1;

	while (p && p < end) {
		n += *p == '{' || *p == '[' || *p == ',';
		p = *p == '"' ? skip_string(p, end) : p + 1;
	}
	return n;
}

/* One "key": value at p; returns what follows it, or NULL. */
static const char *next_member(const char *p, const char *end, struct part *key,
			       struct part *value)
{
	const char *start = p;

	if (p == end || *p != '"')
		return NULL;
	p = skip_string(p, end);
	if (!p)
		return NULL;
	*key = (struct part){ start + 1, p - start - 2 };
	p = skip_space(p, end);
	if (p == end || *p != ':')
		return NULL;
	start = skip_space(p + 1, end);
	p = skip_value(start, end);
	if (!p)
		return NULL;
	*value = (struct part){ start, p - start };
	return skip_space(p, end);
}

bool jscan_get(struct part object, const char *key, struct part *ret)
{
	const char *end = object.p + object.len;
	const char *p = skip_space(object.p, end);
	struct part name, value;

	if (p == end || *p != '{')
		return false;
	p = skip_space(p + 1, end);
	while ((p = next_member(p, end, &name, &value))) {
		if (part_is(name, key)) {
			*ret = value;
			return true;
		}
		if (p == end || *p != ',')
			return false;
		p = skip_space(p + 1, end);
	}
	return false;
}

bool jscan_str(struct part object, const char *key, struct part *ret)
{
	struct part value;

	if (!jscan_get(object, key, &value) || value.p[0] != '"')
		return false;
	*ret = (struct part){ value.p + 1, value.len - 2 };
	return true;
}
