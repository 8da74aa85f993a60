#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user needs neither root nor a daemon of the system's.
. "${0%/*}/functions.sh"
requires test "$(id -u)" -eq 0

uid=31415
home=$(mktemp -d /tmp/sbu-XXXXXX)
at_exit rm -rf "$home"
# The build tree may be out of that user's reach: a copy is not.
cp -r "$top_builddir/host/sandboxctl" "$top_builddir/host/sandboxctl-ssh" \
	"$top_builddir/host/sandboxd" \
	"$top_builddir/guest/bundle" "$top_srcdir/images" "$top_srcdir/configs" \
	"$home"
images=$(sbctl image info base --json | json .path | xargs dirname)
chown -R $uid:$uid "$home"

as_user() {
	setpriv --reuid $uid --regid $uid --clear-groups env -i \
		PATH="$PATH" HOME="$home" SANDBOX_STATE="$home/s" \
		SANDBOXD="$home/sandboxd" SANDBOX_BUNDLE="$home/bundle" \
		SANDBOX_RECIPES="$home/images" SANDBOX_TEMPLATES="$home/configs" \
		SANDBOX_IMAGES="$images" "$home/sandboxctl" "$@"
}
user_guests() { pgrep -u $uid -f "qemu-system.*$home/s/"; }
no_user_guests() { ! user_guests; }
end_user_daemon() {
	local pid
	as_user down --all --purge
	pid=$(as_user daemon status --json | json .pid) || return 0
	kill "$pid"
	wait_until 30 gone "$pid"
}
at_exit end_user_daemon

succeeds as_user up mine
eq "$(as_user exec mine -- sh -c 'echo $((6 * 7))')" 42 "a command"
eq "$(ps -o uid= -p "$(user_guests)" | tr -d ' ')" $uid "QEMU is the user's"
as_user exec mine -- touch /shared/made
share=$(as_user info mine --json | json .share)
eq "$(stat -c %u "$share/made")" $uid "and so are the files in the share"
eq "$(stat -c %a "$home/s/run/sandboxd.sock")" 600 "the socket is private"
succeeds as_user down mine
wait_until 60 no_user_guests
none_listed() { [ -z "$(as_user ls -aq)" ]; }
wait_until 60 none_listed
pass "nothing is left"
