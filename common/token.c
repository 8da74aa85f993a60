/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison in constant time, and SHA-256 on OpenSSL's libcrypto. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/token.h"
#include "common/util.h"

bool token_equal(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	volatile unsigned char diff = na != nb;

	for (size_t i = 0; i < nb; i++)
		diff |= (unsigned char)(a[i < na ? i : 0] ^ b[i]);
	return !diff;
}

struct sha256 *sha256_new(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
		abort();
	return (struct sha256 *)ctx;
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	if (!EVP_DigestUpdate((EVP_MD_CTX *)s, data, len))
		abort();
}

int sha256_add_file(struct sha256 *s, const char *path, struct sb_err *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s': %m", path);
	while ((n = read(fd, block, sizeof(block))) > 0)
		sha256_add(s, block, n);
	if (n < 0)
		return sb_fail(err, SB_SYSTEM, "cannot read '%s': %m", path);
	return 0;
}

void sha256_finish(struct sha256 *s, char out[SHA256_HEX_LEN + 1])
{
	unsigned char md[SHA256_LEN];

	if (!EVP_DigestFinal_ex((EVP_MD_CTX *)s, md, NULL))
		abort();
	EVP_MD_CTX_free((EVP_MD_CTX *)s);
	hex_encode(out, md, sizeof(md));
}
