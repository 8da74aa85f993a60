/* SPDX-License-Identifier: Apache-2.0 */
/* What processes are given to read. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "guest/process-private.h"

struct write {
	uv_write_t req;
	char data[];
};

static void on_written(uv_write_t *req, int status)
{
	uv_stream_t *s = req->handle;
	struct process *p = s->data;

	free(req->data);
	if (status < 0 || (p->stdin_ends && !uv_stream_get_write_queue_size(s)))
		process_close_pipe(p, PIPE_IN);
}

int process_write(struct process *p, const char *data, size_t len,
		  struct sb_err *err)
{
	uv_stream_t *s = (uv_stream_t *)&p->pipe[PIPE_IN];
	struct write *w;
	uv_buf_t buf;

	if (!p->open[PIPE_IN] || p->stdin_ends)
		return sb_fail(err, SB_CONFLICT, "process '%s' reads no stdin",
			       p->id);
	if (uv_stream_get_write_queue_size(s) + len > PROCESS_MAX_STDIN)
		return sb_fail(err, SB_BUSY,
			       "process '%s' has not read what it was given",
			       p->id);
	w = xmalloc(sizeof(*w) + len);
	memcpy(w->data, data, len);
	w->req.data = w;
	buf = uv_buf_init(w->data, len);
	if (uv_write(&w->req, s, &buf, 1, on_written) < 0) {
		free(w);
		process_close_pipe(p, PIPE_IN);
		return sb_fail(err, SB_CONFLICT, "process '%s' reads no stdin",
			       p->id);
	}
	return 0;
}

void process_close_stdin(struct process *p)
{
	p->stdin_ends = true;
	if (!uv_stream_get_write_queue_size((uv_stream_t *)&p->pipe[PIPE_IN]))
		process_close_pipe(p, PIPE_IN);
}
