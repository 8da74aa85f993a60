#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All C is formatted as .clang-format says.
set -euo pipefail
cd "${top_srcdir:?}"
command -v clang-format git >/dev/null || exit 77
git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror
