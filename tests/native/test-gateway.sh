#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel gateway: REST, all framings, several clients, nothing lost.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import ipykernel, websocket'
requires jq --version

token=0123456789abcdef
echo "$token" > "$dir/token"

gateway()
{
	"$python" "$srcdir/gateway.py" "$url" "$token" "$@" > "$dir/case" 2>&1 || {
		cat "$dir/case" >&2
		fail "case $*"
	}
}

# Kernels outlive guestd, but not a test that fails.
end_kernels()
{
	for f in "$dir"/run/kernels/*.json; do
		[ ! -e "$f" ] || kill -9 "$(jq .pid "$f")" 2>/dev/null || :
	done
}
at_exit end_kernels

# A module with a sanitizer wants its runtime loaded before Python's memory.
asan=$(ldd ../../guest/bundle/python/sandbox_kernel/_core.abi3.so |
	awk '/libasan/ { print $3 }')
if [ -n "$asan" ]; then
	mkdir -p "$dir/run"
	printf 'LD_PRELOAD=%s\nASAN_OPTIONS=%s\n' "$asan" \
		detect_leaks=0:quarantine_size_mb=1 > "$dir/run/env"
fi
start_guestd --share ../../guest/bundle/share --token-file "$dir/token"
for case in rest auth framings routing many output reconnect slow death \
	run sessions; do
	gateway "$case"
done

# The kernel goes on while there is no guestd.
gateway leave
kid=$(cat "$dir/case")
stop_guestd
start_guestd --share ../../guest/bundle/share --token-file "$dir/token"
gateway found "$kid"
stop_guestd

start_guestd --share ../../guest/bundle/share --token-file "$dir/token" --origin https://lab.example
gateway cors
stop_guestd

start_guestd --share ../../guest/bundle/share --token-file "$dir/token" --max-kernels 1 --warm-kernel \
	--cull-idle 1
gateway limits
