#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An image is a thin layer on another one; an interrupted build leaves nothing.
. "${0%/*}/functions.sh"

images=$(sbctl image info base --json | json .path | xargs dirname)
listing() { find "$images" -maxdepth 1 -name '.tmp-*'; }

# What a run before this one may have left.
sbctl image rm tests-layer >/dev/null 2>&1 || :
sbctl image build tests-layer >"$SANDBOX_STATE/build" 2>&1 &
build=$!
begun() { [ -n "$(listing)" ]; }
wait_until 60 begun
kill -INT "$build"
wait "$build" || :
ended() { [ -z "$(listing)" ]; }
wait_until 60 ended
pass "an interrupted build leaves nothing"

succeeds sbctl image build tests-layer
layer=$(sbctl image info tests-layer --json)
base=$(sbctl image info base --json)
[ "$(stat -c %s "$(json .path <<<"$layer")/root.qcow2")" -lt \
	$(($(stat -c %s "$(json .path <<<"$base")/root.qcow2") / 4)) ] ||
	fail "the layer is not thin"
pass "a layer is thin"
fails_with 5 sbctl image rm base
contains "$output" "is built on 'base'" "a base that is built upon stays"

succeeds sbctl up demo --image tests-layer
eq "$(sbctl exec demo -- hello)" "Hello, world!" "the layer's package works"
fails_with 5 sbctl image rm tests-layer
contains "$output" demo "an image that is in use stays"
succeeds sbctl down demo
missing() { ! sbctl info demo; }
wait_until 60 missing
succeeds sbctl image rm tests-layer
eq "$(sbctl image info tests-layer --json | json .state)" "not built" \
	"it is removed"
