#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two sandboxes at once, several in a row, and several sandboxctl that all have
# to start the daemon.
. "${0%/*}/functions.sh"

for i in 1 2 3 4 5 6; do
	sbctl ls >"$SANDBOX_STATE/ls.$i" 2>&1 &
	pids[i]=$!
done
for i in 1 2 3 4 5 6; do
	wait "${pids[i]}" || fail "ls $i: $(cat "$SANDBOX_STATE/ls.$i")"
done
pass "six at once start one daemon"
eq "$(pgrep -fc "sandboxd" -g "$(ps -o pgid= "$(daemon_pid)" | tr -d ' ')")" 1 \
	"and one only"

sbctl up one >"$SANDBOX_STATE/up.1" 2>&1 &
first=$!
sbctl up two >"$SANDBOX_STATE/up.2" 2>&1 || fail "$(cat "$SANDBOX_STATE/up.2")"
wait "$first" || fail "$(cat "$SANDBOX_STATE/up.1")"
for name in one two; do
	sbctl exec $name -- sh -c "echo $name >/shared/who"
	share=$(sbctl info $name --json | json .share)
	eq "$(cat "$share/who")" $name "$name has a share of its own"
done
ports() { sbctl info "$1" --json | json '.ports[].host'; }
eq "$( (ports one; ports two) | sort | uniq -d)" "" "no port is used twice"
id() { sbctl exec "$1" -- cat /etc/machine-id; }
[ "$(id one)" != "$(id two)" ] || fail "both have the same machine-id"
pass "each has its own machine-id"
succeeds sbctl down --all
wait_until 60 no_guests

for i in 1 2 3 4 5 6 7 8 9 10; do
	sbctl up row >/dev/null 2>&1 || fail "up $i of a row"
	eq "$(sbctl exec row -- echo $i)" $i "sandbox $i of a row"
	sbctl down row
done
wait_until 60 no_guests
wait_until 60 test -z "$(ls "$SANDBOX_STATE/sandboxes")"
pid=$(daemon_pid)
fds=$(ls "/proc/$pid/fd" | wc -l)
[ "$fds" -lt 60 ] || fail "the daemon has $fds open files"
pass "the daemon has let go of their files"
