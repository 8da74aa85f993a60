# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For tests with real guests.  A test sources this first and is then in a
# world of its own: a private state folder with a private sandboxd, which end
# with the test.  Images are shared and only read.
#
#   . "${0%/*}/functions.sh"
#   sbctl up demo
#   eq "$(sbctl exec demo -- echo hi)" hi "a command's output"
#
# The first failed assertion ends the test.
set -euo pipefail

: "${top_builddir:?run this through make check-vm}"

exit_commands=()

# at_exit COMMAND...: run it when the test ends, the last one first.
at_exit() { exit_commands+=("$(printf '%q ' "$@")"); }

run_exit_commands() {
	local status=$? i
	trap '' INT TERM
	set +e
	for ((i = ${#exit_commands[@]} - 1; i >= 0; i--)); do
		eval "${exit_commands[i]}"
	done
	exit "$status"
}
trap run_exit_commands EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# fail TEXT: end the test.
fail() {
	printf 'not ok - %s\n' "$*"
	exit 1
}

pass() { printf 'ok - %s\n' "$*"; }

# requires COMMAND...: skip the test unless it succeeds.
requires() {
	"$@" >/dev/null 2>&1 || {
		printf 'skip - this fails: %s\n' "$*"
		exit 77
	}
}

# wait_until SECONDS COMMAND...: poll until it succeeds.
wait_until() {
	local limit=$1 end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "not within $limit s: $*"
		sleep 0.1
	done
}

# eq GOT WANT TEXT
eq() {
	[ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"
	pass "$3"
}

# contains GOT PART TEXT
contains() {
	[[ $1 == *"$2"* ]] || fail "$3: '$2' is not in '$1'"
	pass "$3"
}

# succeeds COMMAND...
succeeds() {
	"$@" || fail "status $?: $*"
	pass "$*"
}

# fails_with STATUS COMMAND...: its output is left in $output.
fails_with() {
	local want=$1 got=0
	shift
	output=$("$@" 2>&1) || got=$?
	[ "$got" -eq "$want" ] ||
		fail "status $got, want $want: $* (it said: $output)"
	pass "status $want: $*"
}

# sbctl ARG...: sandboxctl of the build tree.
sbctl() { "$top_builddir/run" sandboxctl "$@"; }

# json FILTER: jq over standard input.
json() { jq -er "$@"; }

# daemon_pid: of the sandboxd of this test; fails if none answers.
daemon_pid() { sbctl daemon status --json 2>/dev/null | json .pid; }

gone() { ! kill -0 "$1" 2>/dev/null; }

# stop_daemon: end all sandboxes of this test and its sandboxd.
stop_daemon() {
	daemon_pid >/dev/null || return 0
	sbctl down --all >/dev/null 2>&1
	wait_until 60 no_guests
	sbctl daemon stop
}

# guests: process ids of this test's QEMUs; their command lines name its
# private folder.
guests() { pgrep -f "qemu-system.*$SANDBOX_STATE/"; }

no_guests() { ! guests; }

# nothing_left: no sandbox is known, no machine runs, no file is there.
nothing_left() {
	no_guests && [ -z "$(sbctl ls -aq)" ] &&
		[ -z "$(ls -A "$SANDBOX_STATE/sandboxes" 2>/dev/null)" ]
}

# What there is to see when a test has failed.
show() {
	local pid log
	echo "--- the end of sandboxd.log:"
	tail -n 20 "$SANDBOX_STATE/sandboxd.log"
	echo "--- files of sandboxes:"
	ls "$SANDBOX_STATE"/sandboxes/* 2>/dev/null
	for log in "$SANDBOX_STATE"/sandboxes/*/vm/serial.log; do
		[ -e "$log" ] || continue
		echo "--- the end of $log:"
		tail -n 20 "$log"
	done
	for pid in $(guests); do
		echo "--- QEMU $pid:"
		tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c 1-400
		echo
	done
}

# Whatever happened, nothing of a test outlives it.
bury() {
	local pid
	[ "${status:-0}" -eq 0 ] || show
	stop_daemon
	for pid in $(guests); do
		kill -9 "$pid"
	done
	rm -rf "$SANDBOX_STATE"
}

# Short, because the path of a UNIX socket has at most 107 bytes.
SANDBOX_STATE=$(mktemp -d /tmp/sb-XXXXXX)
# QEMU may run as another user and has to reach its files.
chmod 711 "$SANDBOX_STATE"
export SANDBOX_STATE
unset SANDBOX_CONFIG
at_exit bury
