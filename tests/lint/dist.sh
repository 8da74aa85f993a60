#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every tracked file is in the tarball, but for what only a clone needs.
set -euo pipefail
cd "${top_builddir:?}"
dir=tests/lint/dist
rm -rf "$dir"
mkdir "$dir"
trap 'rm -rf "$dir"' EXIT
(cd "${top_srcdir:?}" && git ls-files) |
	grep -Ev '^\.(ci/|clang-format|editorconfig|gitignore)' |
	sort >"$dir/tracked"
# Our own make was told TESTS, and would tell this one.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES
make distdir distdir="$dir/tree" top_distdir="$dir/tree" >"$dir/log" 2>&1 || {
	cat "$dir/log"
	exit 1
}
(cd "$dir/tree" && find . -type f -printf '%P\n') | sort >"$dir/packed"
missing=$(comm -23 "$dir/tracked" "$dir/packed")
[ -z "$missing" ] || {
	printf 'not in the tarball:\n%s\n' "$missing"
	exit 1
}
