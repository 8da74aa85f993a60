#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest whose guestd is another than ours gets ours over SSH, once.
. "${0%/*}/functions.sh"

# Another bundle than the one that is baked into the image.
cp -a "$top_builddir/guest/bundle" "$SANDBOX_STATE/bundle"
echo changed >"$SANDBOX_STATE/bundle/note"
"$top_builddir/ssh/bundle-hash" "$SANDBOX_STATE/bundle" \
	>"$SANDBOX_STATE/bundle/.hash"
# shellcheck disable=SC2016 # for the inner shell
sbctl() {
	"$top_builddir/run" sh -c 'SANDBOX_BUNDLE=$0 exec sandboxctl "$@"' \
		"$SANDBOX_STATE/bundle" "$@"
}

succeeds sbctl up demo --preserve
eq "$(sbctl exec demo -- cat /opt/sandbox/note)" changed "it was installed"
contains "$(cat "$SANDBOX_STATE/sandboxes"/*/journal)" installing \
	"by way of the state 'installing'"
started() { sbctl exec demo -- stat -c %Y /opt/sandbox; }
first=$(started)
succeeds sbctl down demo
stopped() { [ "$(sbctl info demo --json | json .state)" = stopped ]; }
wait_until 60 stopped
succeeds sbctl up demo
eq "$(started)" "$first" "the second time nothing is installed"
succeeds sbctl down --purge demo
