#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whoever is killed, sandboxd or QEMU: nothing is lost, nothing is left.
. "${0%/*}/functions.sh"

state() { sbctl info "$1" --json | json .state; }
is() { [ "$(state "$1")" = "$2" ]; }

# Kill the daemon in each phase of up: the up that waits must still succeed,
# or say that it did not and leave nothing.
for phase in creating booting 'waiting for the guest' personalising; do
	sbctl up phase --json >"$SANDBOX_STATE/up.json" 2>"$SANDBOX_STATE/up.err" &
	up=$!
	sock=$SANDBOX_STATE/run/sandboxd.sock
	wait_until 20 daemon_pid
	pid=$(daemon_pid)
	# Follow the events and kill as soon as the phase shows.
	curl -sN --unix-socket "$sock" http://localhost/v1/events |
		grep -m1 "$phase" >/dev/null && kill -9 "$pid"
	if wait "$up"; then
		eq "$(sbctl exec phase -- echo alive)" alive \
			"killed while '$phase': adopted, and it works"
		sbctl down phase
	else
		[ -s "$SANDBOX_STATE/up.err" ] || fail "up failed without a word"
		pass "killed while '$phase': $(tail -n 1 "$SANDBOX_STATE/up.err")"
		sbctl down phase 2>/dev/null || :
	fi
	wait_until 60 no_guests
	eq "$(sbctl ls -aq)" "" "nothing is left"
	eq "$(ls "$SANDBOX_STATE/sandboxes")" "" "no file either"
done

succeeds sbctl up demo
sbctl exec demo -- sh -c 'echo kept >kept'
kill -9 "$(daemon_pid)"
eq "$(state demo)" ready "the next sandboxd finds the sandbox again"
eq "$(sbctl exec demo -- cat kept)" kept "as it was"

qemu=$(guests)
kill -9 "$qemu"
wait_until 30 is demo failed
info=$(sbctl info demo --json)
contains "$(json .cause <<<"$info")" died "a killed QEMU has a cause"
[ "$(json '.serial_tail | length' <<<"$info")" -gt 0 ] ||
	fail "there are no serial lines"
pass "and its last serial lines"
contains "$(sbctl logs demo --source serial)" Linux \
	"the serial log can still be read"

# Killed together: the sandbox shows why, and down still works.
succeeds sbctl up demo
qemu=$(guests)
kill -9 "$(daemon_pid)" "$qemu"
wait_until 30 is demo failed
succeeds sbctl down demo
wait_until 60 test -z "$(ls "$SANDBOX_STATE/sandboxes")"
eq "$(sbctl ls -aq)" "" "nothing is left"

# A machine that no journal knows is ended.
succeeds sbctl up orphan
id=$(sbctl info orphan --json | json .id)
qemu=$(guests)
kill -9 "$(daemon_pid)"
mkdir "$SANDBOX_STATE/sandboxes/sb-00000000"
mv "$SANDBOX_STATE/sandboxes/$id/journal" "$SANDBOX_STATE/journal"
sbctl up other --no-wait >/dev/null
wait_until 60 gone "$qemu"
pass "an orphan is ended"
wait_until 60 test ! -e "$SANDBOX_STATE/sandboxes/$id"
pass "and its files are removed"
