#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# POST /v1/run: state, output, typed results, time, files, and their bounds.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import ipykernel, matplotlib, numpy'
requires jq --version

token=0123456789abcdef0123456789abcdef
a_workspace
bundle_kernels
start_guestd --share ../../guest/bundle/share \
	--languages ../../guest/languages.json
run()
{
	"$python" "$srcdir/run.py" "$url" "$token" "$dir/work" "$1" \
		> "$dir/case" 2>&1 || {
		cat "$dir/case" >&2
		fail "case $1"
	}
}

for case in state errors stream timeout busy left outputs results decoder hostile other \
	kernels text files globs links many code death together gone leave; do
	run "$case"
done

# The next guestd finds the shared kernels again.
stop_guestd
start_guestd --share ../../guest/bundle/share
run found
