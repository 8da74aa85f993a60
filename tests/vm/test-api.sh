#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sandboxd does what its OpenAPI document says.
. "${0%/*}/functions.sh"
requires /usr/bin/python3 -c 'import jsonschema'

succeeds sbctl daemon start
PYTHONPATH=$top_srcdir/tests/native PYTHONDONTWRITEBYTECODE=1 \
	succeeds /usr/bin/python3 "${0%/*}/conform-sandboxd.py" \
	"$SANDBOX_STATE/run/sandboxd.sock" api
wait_until 60 nothing_left
pass "nothing is left"
