/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the routes that run something share: fields, start, answers, events. */

#include "common/httpd.h"
#include "guest/guestd.h"
#include "guest/process.h"

#define RUN_MAX_OUTPUT (16 * 1024 * 1024)

/* The fields of the body that say how to run; strings are the body's. */
struct run_params {
	const char *cwd, *user, *stdin_text;
	const json_t *env;
	int64_t timeout_ms; /* 0: none */
	size_t max_output;
	bool background, open_stdin, attached;
};

/* What these fields are, for the tables of routes; and the answers. */
extern const struct http_field run_fields[];
extern const struct http_field run_status_fields[];
extern const struct http_field run_result_fields[];
extern const struct http_field run_started_fields[];
/* The events of run_follow(). */
extern const struct http_event run_events[];

/* Only the field "env". */
int run_parse_env(const json_t *body, const json_t **ret, struct sb_err *err);
int run_parse(const json_t *body, struct run_params *ret, struct sb_err *err);

/* Whom to run as, with the environment that the fields ask for. */
int run_as(struct guestd *g, const struct run_params *r, struct spawn_as **ret,
	   struct sb_err *err);

/* Where programs run unless they are told otherwise. */
const char *run_workspace(const struct guestd *g);

/* Start argv[]; *ret is the caller's to process_unref(). */
int run_start(struct guestd *g, const struct run_params *r,
	      const struct spawn_as *as, const char *const argv[],
	      const char *command, struct process **ret, struct sb_err *err);

/*
 * Answer with the result when p has ended, or with 202 at once in the
 * background.  extra (may be NULL) is an object to add to the answer.
 */
void run_reply(struct http_req *req, const struct run_params *r,
	       struct process *p, json_t *extra /* takes */);

/* Whether the query asks for frames (common/frame.h) in place of events. */
int run_parse_format(const struct http_req *req, bool *ret_frames,
		     struct sb_err *err);

/* Answer with either, from an offset of a stream on, until p has ended. */
void run_follow(struct http_req *req, struct process *p,
		enum output_stream stream, uint64_t offset, bool frames);

/* How p stands: exit_code, signal, timed_out, truncated, duration_ms. */
void run_put_status(json_t *j, const struct process *p);
