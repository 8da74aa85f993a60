/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the routes for files answer with. */

#include "common/httpd-doc.h"

extern const struct http_answer files_done_out[];
extern const struct http_answer files_download_out[];
extern const struct http_answer files_edit_out[];
extern const struct http_answer files_exists_out[];
extern const struct http_answer files_glob_out[];
extern const struct http_answer files_grep_out[];
extern const struct http_answer files_list_out[];
extern const struct http_answer files_read_out[];
extern const struct http_answer files_stat_out[];
extern const struct http_answer files_upload_out[];
extern const struct http_answer files_watch_out[];
extern const struct http_answer files_write_out[];
