# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of guestd share.  Each test has a private folder, $dir, and
# ends every process that it started.
set -eu

guestd=${GUESTD:-../../guest/guestd}
dir=$(mktemp -d "${TMPDIR:-/tmp}/sandbox-native.XXXXXX")
cleanup=
guestd_pid=

fail()
{
	echo "FAIL: $*" >&2
	for f in "$dir"/err "$dir"/run/guestd.log; do
		[ -s "$f" ] && sed "s|^|${f##*/}: |" "$f" >&2
	done
	exit 1
}

# requires COMMAND...: skip the test when the command fails.
requires()
{
	"$@" >/dev/null 2>&1 || {
		echo "SKIP: needs '$*'" >&2
		exit 77
	}
}

# at_exit COMMAND...: run it when the test ends, last one first.
at_exit()
{
	cleanup="$*; $cleanup"
}

# wait_until SECONDS COMMAND...: until the command succeeds.
wait_until()
{
	wait_limit=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$wait_limit" ] || fail "gave up on: $*"
		sleep 0.05
	done
}

# Nothing of the account that runs the tests: its shell may start slowly.
# shellcheck disable=SC2034 # for test-code.sh
account_home=${HOME:-/}
HOME=$dir/home
export HOME
mkdir -p "$HOME"

# guestd must end cleanly on SIGTERM: in a sanitizer build, without a leak.
stop_guestd()
{
	[ -n "$guestd_pid" ] || return 0
	stop_pid=$guestd_pid
	guestd_pid=
	kill "$stop_pid" 2>/dev/null || :
	wait "$stop_pid" || {
		echo "FAIL: guestd ended with status $?: $(cat "$dir/err")" >&2
		return 1
	}
}

on_exit()
{
	status=$?
	trap - EXIT
	stop_guestd || status=1
	eval "$cleanup"
	rm -rf "$dir"
	exit $status
}
trap on_exit EXIT
trap 'exit 1' INT TERM HUP

is_listening()
{
	kill -0 "$guestd_pid" || fail "guestd did not start"
	grep -q '^listening' "$dir/out"
}

# start_guestd OPTION...: sets $port and $url.
start_guestd()
{
	: > "$dir/out"
	"$guestd" --port 0 --run-dir "$dir/run" "$@" \
		> "$dir/out" 2> "$dir/err" &
	guestd_pid=$!
	wait_until 20 is_listening
	port=$(sed -n 's/^listening .* port //p' "$dir/out")
	url=http://127.0.0.1:$port
}

# The desktop outlives guestd, but not a test.
end_desktop()
{
	[ -e "$dir/run/desktop.json" ] || return 0
	for end_pid in $(jq '.server.pid, .session.pid' "$dir/run/desktop.json"); do
		[ "$end_pid" -le 1 ] || kill "$end_pid" 2>/dev/null || :
	done
}

desktop_is()
{
	curl -sS -m 20 -H "Authorization: Bearer ${desktop_token:-none}" \
		"$url/v1/screen/info" | jq -e ".state == \"$1\"" >/dev/null
}

# start_desktop SIZE OPTION...: guestd with a desktop that is up.
start_desktop()
{
	desktop_size=$1
	shift
	requires Xvnc -version
	requires openbox --version
	requires jq --version
	at_exit end_desktop
	start_guestd --display "$desktop_size" \
		--share "${top_builddir:-../..}/guest/bundle/share" "$@"
	wait_until 60 desktop_is up
}

# request PATH CURL-OPTION...: body in $dir/body, head in $dir/head, sets $status.
request()
{
	request_path=$1
	shift
	status=$(curl -sS -m 20 -o "$dir/body" -D "$dir/head" \
		-w '%{http_code}' "$@" "$url$request_path") ||
		fail "curl: $request_path $*"
}

# expect STATUS [TEXT]: what the last request gave.
expect()
{
	[ "$status" = "$1" ] || fail "status $status, not $1: $(cat "$dir/body")"
	[ $# -lt 2 ] || grep -qF -- "$2" "$dir/body" ||
		fail "no '$2' in: $(cat "$dir/body")"
}

# start_port: a pty in place of the virtio port.  What the host says goes to
# descriptor 7, what guestd says comes to $dir/said.  A pty behaves like the
# port with a host connected; the comings and goings of a host are tested in
# tests/unit/test-control.c.
start_port()
{
	mkfifo "$dir/say"
	socat "PTY,link=$dir/port,rawer" "STDIO" \
		< "$dir/say" > "$dir/said" 2> "$dir/socat.err" &
	at_exit "kill $!"
	exec 7> "$dir/say"
	wait_until 10 test -e "$dir/port"
}

say()
{
	printf '%s\n' "$1" >&7
}

heard()
{
	grep -qF -- "$1" "$dir/said"
}

# Kernels outlive guestd, but not a test that fails.
end_kernels()
{
	for f in "$dir"/run/kernels/*.json; do
		[ ! -e "$f" ] || kill -9 "$(jq .pid "$f")" 2>/dev/null || :
	done
}

# bundle_kernels: what kernels of the build tree need.  A module with a
# sanitizer wants its runtime loaded before Python's memory.
bundle_kernels()
{
	at_exit end_kernels
	asan=$(ldd ../../guest/bundle/python/sandbox_kernel/_core.abi3.so |
		awk '/libasan/ { print $3 }')
	[ -n "$asan" ] || return 0
	mkdir -p "$dir/run"
	printf 'LD_PRELOAD=%s\nASAN_OPTIONS=%s\n' "$asan" \
		detect_leaks=0:quarantine_size_mb=1 > "$dir/run/env"
}

# a_workspace: "$dir/work", as if the host had named it, with $token.
a_workspace()
{
	mkdir -p "$dir/run" "$dir/work"
	printf '{"message": {"type": "personalise", "id": "sb-1", "token": "%s",
		"hostname": "demo", "workspace": "%s", "time_ms": 0,
		"entropy": "%064d"}, "receipt": {}}' "$token" "$dir/work" 0 \
		> "$dir/run/personal.json"
}
