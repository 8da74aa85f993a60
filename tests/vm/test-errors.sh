#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be done is said clearly, and leaves nothing behind.
. "${0%/*}/functions.sh"

fails_with 2 sbctl up 'Bad_Name'
contains "$output" name "a bad name"
fails_with 2 sbctl up demo --memory 1000000G
contains "$output" memory "more memory than there is"
fails_with 4 sbctl up demo --mount "$SANDBOX_STATE/none:/data"
contains "$output" mkdir "a folder that is not there, with a remedy"
fails_with 4 sbctl up demo --image none
contains "$output" "image list" "an image that is not there"
fails_with 2 sbctl up demo --disk 1G
contains "$output" smaller "a disk that is too small"
fails_with 4 sbctl up demo --template none
fails_with 2 sbctl up demo -p 70000:80
fails_with 2 sbctl up demo --ttl soon
fails_with 4 sbctl down none
fails_with 4 sbctl exec none -- true
wait_until 60 nothing_left
pass "nothing is left"

python3 -u -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1]); time.sleep(600)' >"$SANDBOX_STATE/port" &
holder=$!
at_exit kill "$holder"
wait_until 30 test -s "$SANDBOX_STATE/port"
port=$(cat "$SANDBOX_STATE/port")
fails_with 5 sbctl up demo -p "$port:80"
contains "$output" "$port" "a port that is taken"
contains "$output" auto-ports "and what to do"
wait_until 60 nothing_left
pass "nothing is left"

# The next call starts another daemon, with the environment as it is then.
restart_daemon() {
	local pid
	pid=$(daemon_pid)
	kill "$pid"
	wait_until 30 gone "$pid"
}

mkdir "$SANDBOX_STATE/templates"
printf 'description: bad\ncpus: 1\nmemory: lots\n' \
	>"$SANDBOX_STATE/templates/bad.yaml"
cp "$top_srcdir/configs/default.yaml" "$SANDBOX_STATE/templates/"
restart_daemon
# shellcheck disable=SC2016 # for the inner shell
with_templates() {
	"$top_builddir/run" sh -c 'SANDBOX_TEMPLATES=$0 exec sandboxctl "$@"' \
		"$SANDBOX_STATE/templates" "$@"
}
fails_with 2 with_templates up demo --template bad
contains "$output" bad.yaml:3 "a mistake in a template has its line"
wait_until 60 nothing_left
pass "nothing is left"

# A disk that is full: a small one of our own.
mkdir -m 711 "$SANDBOX_STATE/full"
mount -t tmpfs -o size=64m,mode=711 full "$SANDBOX_STATE/full"
at_exit umount "$SANDBOX_STATE/full"
with_full_disk() { SANDBOX_STATE=$SANDBOX_STATE/full sbctl "$@"; }
fails_with 10 with_full_disk up demo
contains "$output" free "a full disk"
none_there() { [ -z "$(ls -A "$SANDBOX_STATE/full/sandboxes")" ]; }
wait_until 30 none_there
pass "leaves nothing there"
succeeds with_full_disk daemon stop

# A damaged image: a copy of the store's folder, cut short.
mkdir "$SANDBOX_STATE/images"
images=${SANDBOX_IMAGES:-$(sbctl image info base --json | json .path | xargs dirname)}
real=$(realpath "$images/base")
cp -a --reflink=auto "$real" "$SANDBOX_STATE/images/"
ln -s "${real##*/}" "$SANDBOX_STATE/images/base"
truncate -s -65536 "$SANDBOX_STATE/images/base/root.qcow2"
restart_daemon
export SANDBOX_IMAGES=$SANDBOX_STATE/images
fails_with 1 sbctl up demo
contains "$output" damaged "a damaged image"
contains "$output" --force "and what to do"
rm "$SANDBOX_STATE/images/base"
fails_with 9 sbctl up demo
contains "$output" "image build base" "an image that is not built"
wait_until 60 nothing_left
pass "nothing is left"
restart_daemon
unset SANDBOX_IMAGES

# Ctrl-C in the middle of an up.  The shell lets what it starts in the background
# ignore that signal.
env --default-signal=INT "$top_builddir/run" sandboxctl up demo \
	>"$SANDBOX_STATE/out" 2>&1 &
up=$!
wait_until 60 guests
kill -INT "$up"
status=0
wait "$up" || status=$?
eq "$status" 130 "an interrupted up"
wait_until 60 nothing_left
pass "nothing is left"

# down in each early state, without waiting for anything.
for state in creating booting; do
	sbctl up demo --no-wait >/dev/null
	[ $state = creating ] || wait_until 60 guests
	succeeds sbctl down demo
	wait_until 60 nothing_left
	pass "nothing is left"
done
