#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandboxctl py with a gateway that floods it, or says nothing in many bytes.
. "${srcdir:=.}/functions.sh"

requires /usr/bin/python3 --version
tool=$PWD/ctl-tool
limit=
# A sanitizer reserves more addresses than a limit leaves.
! ldd "$tool" | grep -q asan || limit=no-limit
export PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2086 # none, or one
/usr/bin/python3 "$srcdir/hostile-kernel.py" "$tool" $limit ||
	fail "hostile-kernel.py"
