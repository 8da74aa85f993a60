/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Files for the routes of api-files.c: what each does, without HTTP.  The
 * operations block and so run on a thread of the pool, as the sandbox's user
 * (files_enter()).
 */

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "common/err.h"

/* More than this in one answer is a download. */
#define FILES_MAX_READ (8 * 1024 * 1024)
#define FILES_MAX_DEPTH 64 /* of a list */
#define FILES_MAX_LIST 10000
#define FILES_MAX_FOUND 10000 /* by glob and grep */
#define FILES_MAX_CONTEXT 20  /* lines around one */
#define FILES_MAX_SECONDS 300 /* that a search may take */

/* What an operation is asked to do. */
struct file_call {
	char *path;   /* absolute */
	char *target; /* of a copy or a move, absolute */
	json_t *args; /* a GET has all its values as strings */
	bool as_root; /* not as the user */
};

/* An operation: fills *ret with the answer. */
typedef int (*file_op)(const struct file_call *c, json_t **ret,
		       struct sb_err *err);

/* files-read.c */
int files_read(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_stat(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_exists(const struct file_call *c, json_t **ret, struct sb_err *err);
/* files-list.c */
int files_list(const struct file_call *c, json_t **ret, struct sb_err *err);
/* files-write.c */
int files_write(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_edit(const struct file_call *c, json_t **ret, struct sb_err *err);
/* files-find.c */
int files_glob(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_grep(const struct file_call *c, json_t **ret, struct sb_err *err);
/* files-manage.c */
int files_mkdir(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_delete(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_move(const struct file_call *c, json_t **ret, struct sb_err *err);
int files_copy(const struct file_call *c, json_t **ret, struct sb_err *err);

/*
 * Act as the sandbox's user on this thread, so that the kernel decides what
 * may be touched and new files are the user's; files_leave() ends it.  Nothing
 * changes when we are not root, or there is no such user.
 */
void files_enter(bool as_root);
void files_leave(void);

/* Arguments; a string is taken for a number or truth where one is wanted. */
int files_arg_int(const json_t *args, const char *key, long long min,
		  long long max, long long *ret, struct sb_err *err);
int files_arg_bool(const json_t *args, const char *key, bool *ret,
		   struct sb_err *err);
/* The string under the first of two keys that is there (alias may be NULL). */
int files_arg_str(const json_t *args, const char *key, const char *alias,
		  const char **ret, struct sb_err *err);

/* Fill err for errno: "cannot VERB 'PATH': …". */
int files_fail(struct sb_err *err, const char *verb, const char *path);

/*
 * Open a regular file for reading, without waiting for a FIFO or waking a
 * device; SB_INVALID for all that is not a regular file.
 */
int files_open(const char *path, int *ret_fd, struct stat *ret_st,
	       struct sb_err *err);

/*
 * A new file beside path that is to replace it; parents are made, and the mode
 * and owner of an existing file are kept.  A symlink at path is followed.
 */
struct file_new {
	int fd;
	char *path; /* which it will replace */
	char *tmp;  /* NULL: there is nothing to give up */
};
int file_new_open(struct file_new *f, const char *path, long long mode,
		  struct sb_err *err);
int file_new_commit(struct file_new *f, struct sb_err *err);
/* Closes; removes it unless it was committed. */
void file_new_done(struct file_new *f);

/* Make the missing folders above path. */
int files_make_parents(const char *path, struct sb_err *err);

/* "path": value, and "path_base64" where the bytes are not UTF-8. */
void files_put_name(json_t *obj, const char *key, const char *value);
/* name, path, type, size, mode, mtime, … of one entry. */
json_t *files_entry(const char *path, const struct stat *st);
