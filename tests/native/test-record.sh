#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Films of the screen: every picture is there, and nothing is left behind.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires ffprobe -version
requires curl --version

start_guestd --no-auth
request /v1/screen/record/start -X POST
expect 424 'there is no desktop'
stop_guestd

start_desktop 640x480 --no-auth
"$python" "$srcdir/record.py" "$port" "$dir/run" "$HOME" || fail "record.py"

# Whoever ends guestd ends its films, and they are whole.
wait_until 60 desktop_is up
request /v1/screen/record/start -X POST -d '{"name": "orphan"}'
expect 200 recording
kill -9 "$guestd_pid"
wait "$guestd_pid" || :
guestd_pid=
is_joined()
{
	ffprobe -v error -show_format "$HOME/recordings/orphan.mp4" \
		2>/dev/null | grep -q '^duration=[0-9]' &&
		! grep -q moof "$HOME/recordings/orphan.mp4"
}
wait_until 30 is_joined

# What a recorder left that was killed meanwhile goes with the next guestd; what
# one is at stays.
part=$HOME/recordings/orphan.mp4.part
for f in "$part" "$HOME/recordings/busy.mp4.part" "$HOME/recordings/my.part"; do
	echo half > "$f"
done
mkfifo "$dir/hold"
flock "$HOME/recordings/busy.mp4.part" cat "$dir/hold" &
exec 8> "$dir/hold"
start_guestd --no-auth
[ ! -e "$part" ] || fail "half a film is left"
[ -e "$HOME/recordings/busy.mp4.part" ] || fail "a film was taken from its recorder"
[ -e "$HOME/recordings/my.part" ] || fail "a file of the user's is gone"
exec 8>&-
