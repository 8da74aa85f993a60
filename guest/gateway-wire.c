/* SPDX-License-Identifier: Apache-2.0 */
/* Signed messages between gateway and kernel. */
#include "config.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <string.h>

#include "common/token.h"
#include "guest/gateway-wire.h"

void wire_sign(const char *key, const struct frame *f,
	       char out[WIRE_SIGNATURE_LEN + 1])
{
	struct part all = frame_signed(f);
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)all.p,
	     all.len, mac, &len);
	hex_encode(out, mac, WIRE_SIGNATURE_LEN / 2);
}

int wire_read(const char *key, enum frame_channel c, const struct part *parts,
	      size_t n, struct buf *out, struct frame *ret, struct sb_err *err)
{
	char signature[WIRE_SIGNATURE_LEN + 1];
	size_t start = out->len;

	if (n < 1 + FRAME_NPARTS || n > 1 + FRAME_NPARTS + FRAME_MAX_BUFFERS)
		return sb_fail(err, SB_INVALID,
			       "a message has the wrong number of parts");
	frame_write(out, c, parts + 1, parts + 1 + FRAME_NPARTS,
		    n - 1 - FRAME_NPARTS);
	if (frame_read(out->p + start, out->len - start, ret, err) < 0)
		return -1;
	wire_sign(key, ret, signature);
	if (parts[0].len != WIRE_SIGNATURE_LEN ||
	    CRYPTO_memcmp(parts[0].p, signature, WIRE_SIGNATURE_LEN) != 0)
		return sb_fail(err, SB_INVALID, "a message is not signed");
	return 0;
}

struct part *wire_parts(const struct frame *f, struct part signature,
			size_t *ret_n)
{
	size_t n = 1 + FRAME_NPARTS + f->nbuffers;
	struct part *parts = xcalloc(n, sizeof(*parts));

	parts[0] = signature;
	memcpy(parts + 1, f->part, sizeof(f->part));
	for (size_t i = 0; i < f->nbuffers; i++)
		parts[1 + FRAME_NPARTS + i] = frame_buffer(f, i);
	*ret_n = n;
	return parts;
}
