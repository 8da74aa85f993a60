#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whoever is killed, sandboxd or QEMU: nothing is lost, nothing is left.
. "${0%/*}/functions.sh"

state() { sbctl info "$1" --json | json .state; }
is() { [ "$(state "$1")" = "$2" ]; }

# Kill the daemon in each phase of up: the up that waits must still succeed,
# or say that it did not and leave nothing.
for phase in creating booting 'waiting for the guest' personalising; do
	sbctl ls >/dev/null
	pid=$(daemon_pid)
	# The answer's head is there once no event can be missed.
	rm -f "$SANDBOX_STATE/head"
	exec 3< <(curl -sN -D "$SANDBOX_STATE/head" \
		--unix-socket "$SANDBOX_STATE/run/sandboxd.sock" \
		http://localhost/v1/events)
	wait_until 60 test -s "$SANDBOX_STATE/head"
	sbctl up phase --json >"$SANDBOX_STATE/up.json" \
		2>"$SANDBOX_STATE/up.err" &
	up=$!
	timeout 300 grep -m 1 "$phase" <&3 >/dev/null ||
		fail "'$phase' does not show: $(cat "$SANDBOX_STATE/up.err")"
	kill -9 "$pid"
	exec 3<&-
	if wait "$up"; then
		eq "$(sbctl exec phase -- echo alive)" alive \
			"killed while '$phase': adopted, and it works"
		sbctl down phase
	else
		[ -s "$SANDBOX_STATE/up.err" ] || fail "up failed without a word"
		pass "killed while '$phase': $(tail -n 1 "$SANDBOX_STATE/up.err")"
		sbctl down phase 2>/dev/null || :
	fi
	wait_until 60 nothing_left
	pass "nothing is left"
done

succeeds sbctl up demo
sbctl exec demo -- sh -c 'echo kept >kept'
kill -9 "$(daemon_pid)"
eq "$(state demo)" ready "the next sandboxd finds the sandbox again"
eq "$(sbctl exec demo -- cat kept)" kept "as it was"

sbctl exec -u root demo -- sh -c 'echo last words >/dev/ttyS0'
qemu=$(guests)
kill -9 "$qemu"
wait_until 30 is demo failed
info=$(sbctl info demo --json)
contains "$(json .cause <<<"$info")" died "a killed QEMU has a cause"
contains "$(json '.serial_tail | last' <<<"$info")" "last words" \
	"and its last serial lines"
contains "$(sbctl logs demo --source serial)" "last words" \
	"the serial log can still be read"
console() {
	curl -sf --max-time 10 --unix-socket "$SANDBOX_STATE/run/sandboxd.sock" \
		"http://localhost/v1/sandboxes/demo/console/screenshot$1"
}
contains "$(console '?format=text')" "last words" \
	"the dead machine's console can be looked at"
contains "$(console '' | file -)" "PNG image data, 800 x 480" "as a picture"

# Killed together: the sandbox shows why, and down still works.
succeeds sbctl up demo
qemu=$(guests)
kill -9 "$(daemon_pid)" "$qemu"
wait_until 30 is demo failed
succeeds sbctl down demo
wait_until 60 nothing_left
pass "nothing is left"

# A machine that no journal knows is ended.
succeeds sbctl up orphan
id=$(sbctl info orphan --json | json .id)
qemu=$(guests)
kill -9 "$(daemon_pid)"
mv "$SANDBOX_STATE/sandboxes/$id/journal" "$SANDBOX_STATE/journal"
sbctl ls >/dev/null
wait_until 60 gone "$qemu"
pass "an orphan is ended"
wait_until 60 test ! -e "$SANDBOX_STATE/sandboxes/$id"
pass "and its files are removed"
