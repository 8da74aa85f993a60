/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The entry point that libFuzzer calls. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
