#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The desktop: screenshots beside scrot and ImageMagick's import, films beside
# ffmpeg's x11grab, typing beside xdotool, on one Xvnc in one run: printed, never
# asserted.  bench-desktop.py says what the environment changes.
# bench-desktop.sh --guest NAME measures a sandbox that runs, through the port of its
# guestd; there are no peers in it.
set -eu

here=$(dirname "$0")
top=${top_builddir:-../..}
guestd=${GUESTD:-$top/guest/guestd}
python=${PYTHON:-/usr/bin/python3}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/sandbox-bench.XXXXXX")
pids=()

fail() {
	echo "bench-desktop: $*" >&2
	exit 1
}

on_exit() {
	local pid
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || :; done
	if [ -e "$dir/run/desktop.json" ]; then
		kill "$(jq .server.pid "$dir/run/desktop.json")" 2>/dev/null || :
	fi
	wait
	rm -rf "$dir"
}
trap on_exit EXIT

needs() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || fail "needs '$tool' (packages.list)"
	done
}

wait_until() {
	local limit=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < limit)) || fail "gave up on: $*"
		sleep 0.05
	done
}

# measure URL TOKEN PID
measure() { "$python" -B "$here/bench-desktop.py" "$@" "$dir"; }

needs jq curl ffmpeg
if [ "${1:-}" = --guest ]; then
	"$top/run" sandboxctl info "$2" --json >"$dir/info"
	token=$(cat "$(jq -r .token_file "$dir/info")")
	echo "In the guest '$2', where no peers are:"
	measure "$(jq -r .url "$dir/info")" "$token" guest
	exit
fi

needs Xvnc openbox xterm scrot import xdotool
HOME=$dir "$guestd" --no-auth --port 0 --run-dir "$dir/run" --display 1280x800 \
	--share "$top/guest/bundle/share" >"$dir/out" 2>&1 &
guestd_pid=$!
pids+=("$guestd_pid")
wait_until 20 grep -q '^listening' "$dir/out"
url=http://127.0.0.1:$(sed -n 's/^listening .* port //p' "$dir/out")

is_up() { curl -s "$url/v1/screen/info" | grep -q '"up"'; }
wait_until 60 is_up
DISPLAY=$(curl -s "$url/v1/screen/info" | jq -r .display)
XAUTHORITY=$dir/run/desktop/Xauthority
export DISPLAY XAUTHORITY

measure "$url" "" "$guestd_pid"
