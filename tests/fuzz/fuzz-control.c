/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the control channel, up to where it would be acted on. */
#include "config.h"

#include "common/json.h"
#include "guest/control.h"
#include "guest/message.h"
#include "tests/fuzz/fuzz.h"

static json_t *on_message(void *arg, const json_t *msg)
{
	struct message_personalise p;
	struct sb_err err;

	if (message_parse_personalise(msg, &p, &err) < 0)
		return message_error(&err);
	if (p.nentropy > MESSAGE_MAX_ENTROPY || p.nmounts > MESSAGE_MAX_MOUNTS)
		abort();
	message_personalise_done(&p);
	return json_object();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_t *j = control_answer((const char *)data, len, on_message, NULL);

	if (!j)
		abort();
	json_decref(j);
	return 0;
}
