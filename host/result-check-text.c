/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of leaves in a result: numbers, names, UUIDs. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "host/result-check.h"

bool check_hex(const char *s, size_t len)
{
	size_t at = len && *s == '-';

	if (len < at + 3 || s[at] != '0' || s[at + 1] != 'x')
		return false;
	for (at += 2; at < len; at++)
		if (!strchr("0123456789abcdef", s[at]) || !s[at])
			return false;
	return true;
}

static size_t digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* "E+12": an exponent of more digits than any Decimal has is refused. */
static bool is_exponent(const char *s)
{
	size_t n;

	if (*s != 'E' && *s != 'e')
		return !*s;
	s++;
	s += *s == '+' || *s == '-';
	n = digits(s);
	return n && n <= 18 && !s[n];
}

bool check_decimal(const char *s)
{
	size_t whole, part = 0;

	s += *s == '-';
	if (strcmp(s, "Infinity") == 0)
		return true;
	if (*s == 's')
		s++;
	if (strncmp(s, "NaN", 3) == 0)
		return !s[3 + digits(s + 3)];
	whole = digits(s);
	s += whole;
	if (*s == '.') {
		part = digits(s + 1);
		s += part + 1;
	}
	return whole + part && is_exponent(s);
}

bool check_uuid(const char *s)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (strlen(s) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '-' ? s[i] != '-'
				   : !strchr("0123456789abcdef", s[i]))
			return false;
	return true;
}

bool check_name(const char *s, size_t len)
{
	if (!len || len > 256 || isdigit((unsigned char)*s))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x80 && c != '_' && !isalnum(c))
			return false;
	}
	return true;
}
