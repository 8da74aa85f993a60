#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A short run of every fuzz target, from its stored corpus.  To search longer:
#   ./fuzz-request -max_total_time=600 NEW-DIR corpus/fuzz-request
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for target in ${FUZZ_TARGETS:?}; do
	echo "$target"
	mkdir "$dir/$target"
	"./$target" -runs="${FUZZ_RUNS:-5000}" -seed=1 -max_len=16384 \
		-artifact_prefix="$PWD/$target-" -print_final_stats=0 \
		"$dir/$target" "${srcdir:=.}/corpus/$target"
done
