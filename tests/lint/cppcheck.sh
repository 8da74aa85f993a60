#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cppcheck has nothing to say but what cppcheck.suppress explains.
set -euo pipefail
cd "${top_srcdir:?}"
command -v cppcheck git >/dev/null || exit 77
git ls-files '*.c' | grep -v '^tests/fuzz/' |
	cppcheck --file-list=- --quiet --std=c11 --error-exitcode=1 -j2 \
		--enable=warning,performance,portability --inline-suppr \
		--suppressions-list=tests/lint/cppcheck.suppress \
		--library=posix,gnu -I. -I"${top_builddir:?}" \
		--include=tests/lint/cppcheck-macros.h
