/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * WebSocket (RFC 6455) as bytes, for server and client alike: frames and the
 * two halves of the handshake.  Nothing here touches a socket.  Every byte
 * that is read is foreign: sizes are checked before anything is allocated, and
 * what is allocated grows with what has come, never with what was announced.
 * There are no extensions.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/http1.h"
#include "common/util.h"

enum ws_opcode {
	WS_MORE = 0x0, /* of a message that has begun */
	WS_TEXT = 0x1,
	WS_BINARY = 0x2,
	WS_CLOSE = 0x8,
	WS_PING = 0x9,
	WS_PONG = 0xa,
};

/* Why a connection ends; 3000 to 4999 are free for applications. */
enum ws_code {
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_PROTOCOL = 1002,
	WS_UNSUPPORTED = 1003,
	WS_NO_CODE = 1005, /* never sent: the peer gave none */
	WS_NOT_UTF8 = 1007,
	WS_POLICY = 1008,
	WS_TOO_BIG = 1009,
	WS_FAILED = 1011,
};

#define WS_MAX_CONTROL 125 /* bytes in a ping, a pong or a close */
#define WS_MAX_HEAD 14

/* Reads what the peer sends; starts as all zero but for the first two. */
struct ws_reader {
	bool client;	    /* we are: what we read must not be masked */
	size_t max_message; /* bytes; more is WS_TOO_BIG */

	uint8_t head[WS_MAX_HEAD]; /* of the frame that is being read */
	size_t head_len;
	bool in_frame; /* the head is whole */
	uint64_t left; /* of the frame's bytes */
	size_t mask_at;
	char control[WS_MAX_CONTROL + 1];
	size_t control_len;
	enum ws_opcode kind; /* of the message, 0 between messages */
	struct buf message;
	enum ws_code failed; /* what to close with after -1 */
};

/* What has come whole.  data is the reader's, NUL-terminated. */
struct ws_event {
	enum ws_opcode op; /* WS_MORE: nothing is whole yet */
	const char *data;  /* of WS_CLOSE: the reason */
	size_t len;
	int code; /* of WS_CLOSE */
};

/*
 * Read on up to the end of a message or control frame; returns how many bytes
 * were used, which may be fewer than len.  -1 when the peer broke the rules:
 * close with r->failed then.  The event's data is gone with the next call.
 */
ssize_t ws_read(struct ws_reader *r, const char *data, size_t len,
		struct ws_event *ret, struct sb_err *err);
/* Let go of the memory of the last message. */
void ws_reader_rest(struct ws_reader *r);
void ws_reader_done(struct ws_reader *r);

/*
 * Add a whole frame to out.  A client's frames are masked, a server's are not;
 * end is false for all but the last frame of a message in parts.
 */
void ws_put_frame(struct buf *out, enum ws_opcode op, bool end, bool mask,
		  const void *data, size_t len);
static inline void ws_put(struct buf *out, enum ws_opcode op, bool mask,
			  const void *data, size_t len)
{
	ws_put_frame(out, op, true, mask, data, len);
}
/* reason may be NULL and is cut to what fits; WS_NO_CODE sends none. */
void ws_put_close(struct buf *out, int code, const char *reason, bool mask);

/*
 * The handshake.  The client sends a key with
 *	GET /path HTTP/1.1, Host: …, Upgrade: websocket, Connection: Upgrade,
 *	Sec-WebSocket-Version: 13, Sec-WebSocket-Key: KEY
 * and the server proves with 101 and Sec-WebSocket-Accept that it understood.
 */
#define WS_VERSION "13"
#define WS_KEY_LEN 24
#define WS_ACCEPT_LEN 28
void ws_new_key(char out[WS_KEY_LEN + 1]);
void ws_accept_key(const char *key, char out[WS_ACCEPT_LEN + 1]);

/* The server: whether this asks for a WebSocket.  SB_UPGRADE when it does not,
 * SB_INVALID when it does it wrongly. */
int ws_check_request(const struct http1_head *h, struct sb_err *err);
/* The client: whether this head answers the request that had the key. */
int ws_check_reply(const struct http1_head *h, const char *key,
		   struct sb_err *err);
