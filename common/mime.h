/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The MIME type that the end of a name stands for, without a charset;
 * "application/octet-stream" when it is not known. */
const char *mime_of_name(const char *name);
