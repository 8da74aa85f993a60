#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Results of cells, from the kernel's encoder through both decoders; and what a
# hostile guest would send.
. "${srcdir:-.}/kernel/setup.sh"

choose_python numpy pandas
here=$(cd "${srcdir:-.}" && pwd)
tool=$PWD/result-tool
limit=limit
# A sanitizer reserves more addresses than a limit leaves.
! ldd "$tool" | grep -q asan || limit=no-limit

# One thread for each core would take the addresses that the limit leaves.
OPENBLAS_NUM_THREADS=1
PYTHONPATH=$client:$(dirname "$kernel"):$here
export OPENBLAS_NUM_THREADS PYTHONPATH
(cd "$dir" && timeout 600 "$python" -W ignore "$here/results.py" "$tool" \
	"$limit") || fail results
