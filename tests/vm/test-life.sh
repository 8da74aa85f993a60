#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pausing, stopping, booting again, rebooting, restarting, and running out of
# time.
. "${0%/*}/functions.sh"

state() { sbctl info "$1" --json | json .state; }
is() { [ "$(state "$1")" = "$2" ]; }
missing() { ! sbctl info "$1"; }

succeeds sbctl up keeper --preserve
sbctl exec keeper -- sh -c 'echo kept >kept; mkdir /tmp/a /tmp/.b; >/tmp/..c'
succeeds sbctl pause keeper
eq "$(state keeper)" paused "paused"
succeeds sbctl resume keeper
eq "$(sbctl exec keeper -- cat kept)" kept "and resumed as it was"

# A reboot from inside: the guest comes back as the same sandbox.
boot=$(sbctl exec keeper -- cat /proc/sys/kernel/random/boot_id)
sbctl exec -u root keeper -- systemctl reboot --force || :
wait_until 60 is keeper booting
wait_until 120 is keeper ready
rebooted() {
	local now
	now=$(sbctl exec keeper -- cat /proc/sys/kernel/random/boot_id)
	[ "$now" != "$boot" ]
}
wait_until 60 rebooted
pass "it rebooted"
eq "$(sbctl exec keeper -- hostname)" keeper "and was personalised again"

succeeds sbctl down keeper
wait_until 60 is keeper stopped
no_guests || fail "a stopped sandbox still runs"
succeeds sbctl up keeper
eq "$(sbctl exec keeper -- cat kept)" kept "its disk was kept"
eq "$(sbctl exec keeper -- ls -d /tmp/a /tmp/.b /tmp/..c 2>/dev/null)" "" \
	"but /tmp was emptied"

# A guest that powers itself off.
sbctl exec -u root keeper -- systemctl poweroff --force || :
wait_until 60 is keeper stopped
contains "$(sbctl info keeper --json | json .cause)" "powered off" "its cause"
succeeds sbctl down --purge keeper
wait_until 60 missing keeper
eq "$(ls "$SANDBOX_STATE/sandboxes")" "" "a purge removes it"

succeeds sbctl up phoenix --restart always
qemu=$(guests)
kill -9 "$qemu"
wait_until 30 is phoenix booting
wait_until 120 is phoenix ready
eq "$(sbctl exec phoenix -- echo back)" back "a restart policy restarts it"
succeeds sbctl ttl phoenix 1s
wait_until 60 missing phoenix
no_guests || fail "it still runs"
pass "its time was up"
