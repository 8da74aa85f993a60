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
