/* SPDX-License-Identifier: Apache-2.0 */
/* Jupyter messages as frames: split, sign, verify, refuse what was seen. */
#include "config.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "guest/kernel/wire.h"

/* Half of a digest tells messages apart as well as the whole. */
#define SEEN_BYTES 16
#define SEEN_MAX 32768 /* entries of one generation; a power of two */

struct seen_set {
	unsigned char (*slots)[SEEN_BYTES];
	size_t nslots, n;
};

/* Two generations: when the young one is full, the old one is forgotten. */
struct wire_seen {
	struct seen_set young, old;
};

struct wire_seen *wire_seen_new(void)
{
	return xcalloc(1, sizeof(struct wire_seen));
}

void wire_seen_free(struct wire_seen *seen)
{
	if (!seen)
		return;
	free(seen->young.slots);
	free(seen->old.slots);
	free(seen);
}

/* The slot that holds digest, or the free one where it belongs. */
static unsigned char *seen_slot(const struct seen_set *set,
				const unsigned char *digest)
{
	static const unsigned char empty[SEEN_BYTES];
	size_t i;

	memcpy(&i, digest, sizeof(i));
	for (;; i++) {
		unsigned char *slot = set->slots[i & (set->nslots - 1)];

		if (memcmp(slot, digest, SEEN_BYTES) == 0 ||
		    memcmp(slot, empty, SEEN_BYTES) == 0)
			return slot;
	}
}

static bool seen_has(const struct seen_set *set, const unsigned char *digest)
{
	return set->nslots &&
	       memcmp(seen_slot(set, digest), digest, SEEN_BYTES) == 0;
}

/* Make room for twice as many; less than half of the slots are ever used. */
static void seen_grow(struct seen_set *set)
{
	struct seen_set more = { .nslots = set->nslots ? set->nslots * 2 : 64,
				 .n = set->n };

	more.slots = xcalloc(more.nslots, SEEN_BYTES);
	for (size_t i = 0; i < set->nslots; i++)
		if (!sodium_is_zero(set->slots[i], SEEN_BYTES))
			memcpy(seen_slot(&more, set->slots[i]), set->slots[i],
			       SEEN_BYTES);
	free(set->slots);
	*set = more;
}

static void seen_add(struct wire_seen *seen, const unsigned char *digest)
{
	if (seen->young.n == SEEN_MAX) {
		free(seen->old.slots);
		seen->old = seen->young;
		seen->young = (struct seen_set){ 0 };
	}
	if (seen->young.n * 2 >= seen->young.nslots)
		seen_grow(&seen->young);
	memcpy(seen_slot(&seen->young, digest), digest, SEEN_BYTES);
	seen->young.n++;
}

int wire_init(struct sb_err *err)
{
	if (sodium_init() < 0)
		return sb_fail(err, SB_SYSTEM, "libsodium does not start");
	return 0;
}

int wire_split(const struct slice *frames, size_t n, struct wire_msg *ret,
	       struct sb_err *err)
{
	size_t at = 0;
	struct wire_msg m;

	if (n > WIRE_MAX_FRAMES)
		return sb_fail(err, SB_LIMIT, "more than %d frames",
			       WIRE_MAX_FRAMES);
	while (at < n && (frames[at].len != sizeof(WIRE_DELIMITER) - 1 ||
			  memcmp(frames[at].p, WIRE_DELIMITER,
				 sizeof(WIRE_DELIMITER) - 1) != 0))
		at++;
	if (at == n)
		return sb_fail(err, SB_INVALID, "no " WIRE_DELIMITER " frame");
	if (at > WIRE_MAX_IDS)
		return sb_fail(err, SB_LIMIT, "more than %d identities",
			       WIRE_MAX_IDS);
	if (n - at < 6)
		return sb_fail(err, SB_INVALID,
			       "only %zu frames after the identities", n - at);
	m = (struct wire_msg){
		.ids = frames,
		.nids = at,
		.sig = frames[at + 1],
		.header = frames[at + 2],
		.parent = frames[at + 3],
		.metadata = frames[at + 4],
		.content = frames[at + 5],
		.buffers = frames + at + 6,
		.nbuffers = n - at - 6,
	};
	if (m.header.len > WIRE_MAX_JSON || m.parent.len > WIRE_MAX_JSON ||
	    m.metadata.len > WIRE_MAX_JSON || m.content.len > WIRE_MAX_JSON)
		return sb_fail(err, SB_LIMIT, "a part of more than %d bytes",
			       WIRE_MAX_JSON);
	*ret = m;
	return 0;
}

static void digest(const struct wire_key *key, const struct wire_msg *m,
		   unsigned char ret[crypto_auth_hmacsha256_BYTES])
{
	crypto_auth_hmacsha256_state st;
	const struct slice *parts[] = { &m->header, &m->parent, &m->metadata,
					&m->content };

	crypto_auth_hmacsha256_init(&st, key->bytes, key->len);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		crypto_auth_hmacsha256_update(
			&st, (const unsigned char *)parts[i]->p, parts[i]->len);
	crypto_auth_hmacsha256_final(&st, ret);
	sodium_memzero(&st, sizeof(st));
}

void wire_sign(const struct wire_key *key, const struct wire_msg *m,
	       char ret[WIRE_SIG_LEN + 1])
{
	unsigned char mac[crypto_auth_hmacsha256_BYTES];

	ret[0] = '\0';
	if (!key->len)
		return;
	digest(key, m, mac);
	sodium_bin2hex(ret, WIRE_SIG_LEN + 1, mac, sizeof(mac));
}

int wire_verify(const struct wire_key *key, struct wire_seen *seen,
		const struct wire_msg *m, struct sb_err *err)
{
	unsigned char mac[crypto_auth_hmacsha256_BYTES], got[sizeof(mac)];
	size_t len = 0;

	if (!key->len)
		return 0;
	if (m->sig.len != WIRE_SIG_LEN ||
	    sodium_hex2bin(got, sizeof(got), m->sig.p, m->sig.len, NULL, &len,
			   NULL) < 0 ||
	    len != sizeof(got))
		return sb_fail(err, SB_AUTH, "the signature is malformed");
	digest(key, m, mac);
	if (sodium_memcmp(mac, got, sizeof(mac)) != 0)
		return sb_fail(err, SB_AUTH, "the signature is wrong");
	if (seen_has(&seen->young, mac) || seen_has(&seen->old, mac))
		return sb_fail(err, SB_AUTH, "the signature was used before");
	seen_add(seen, mac);
	return 0;
}
