/* SPDX-License-Identifier: Apache-2.0 */
/* How an HTTP connection becomes a WebSocket. */
#include "config.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/token.h"
#include "common/ws.h"

#define KEY_BYTES 16
#define SHA1_LEN 20
#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, 1.3 */

void ws_new_key(char out[WS_KEY_LEN + 1])
{
	unsigned char key[KEY_BYTES];

	random_bytes(key, sizeof(key));
	EVP_EncodeBlock((unsigned char *)out, key, sizeof(key));
}

void ws_accept_key(const char *key, char out[WS_ACCEPT_LEN + 1])
{
	autofree char *text = xasprintf("%s" GUID, key);
	unsigned char md[SHA1_LEN];

	if (!EVP_Digest(text, strlen(text), md, NULL, EVP_sha1(), NULL))
		abort();
	EVP_EncodeBlock((unsigned char *)out, md, sizeof(md));
}

static bool key_is_good(const char *key)
{
	autofree char *bytes = NULL;
	size_t len = 0;

	if (!key)
		return false;
	bytes = base64_decode(key, strlen(key), &len);
	return bytes && len == KEY_BYTES;
}

int ws_check_request(const struct http1_head *h, struct sb_err *err)
{
	const char *version = http1_get(h, "sec-websocket-version");

	if (h->minor < 1 || strcmp(h->method, "GET") != 0 ||
	    !http1_has_token(h, "upgrade", "websocket")) {
		sb_fail(err, SB_UPGRADE, "this route speaks WebSocket only");
		return sb_hint(err, "connect with a WebSocket client "
				    "(ws://HOST:PORT/PATH)");
	}
	if (!http1_has_token(h, "connection", "upgrade"))
		return sb_fail(err, SB_INVALID,
			       "'Connection: Upgrade' is missing");
	if (!version || strcmp(version, WS_VERSION) != 0)
		return sb_fail(err, SB_INVALID,
			       "Sec-WebSocket-Version must be " WS_VERSION);
	if (!key_is_good(http1_get(h, "sec-websocket-key")))
		return sb_fail(err, SB_INVALID,
			       "Sec-WebSocket-Key must be the base64 of %d "
			       "bytes",
			       KEY_BYTES);
	return 0;
}

int ws_check_reply(const struct http1_head *h, const char *key,
		   struct sb_err *err)
{
	const char *accept = http1_get(h, "sec-websocket-accept");
	char want[WS_ACCEPT_LEN + 1];

	if (h->status != 101)
		return sb_fail(err, SB_GUEST,
			       "the server answered %d to a WebSocket request",
			       h->status);
	ws_accept_key(key, want);
	if (!http1_has_token(h, "upgrade", "websocket") ||
	    !http1_has_token(h, "connection", "upgrade") || !accept ||
	    strcmp(accept, want) != 0 ||
	    http1_get(h, "sec-websocket-extensions"))
		return sb_fail(err, SB_GUEST,
			       "the server's WebSocket handshake is wrong");
	return 0;
}
