/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which programming languages are installed, without starting any of them. */

#include <jansson.h>

/* [{"name":"python","program":"/usr/bin/python3","version":"3.11.2"},…] */
json_t *languages_find(void);
