#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Work inside a guest: exec, py, cp and attach through guestd, and SSH to the
# rescue.
. "${0%/*}/functions.sh"

# in_pty INPUT COMMAND: run it in a terminal of its own.
in_pty() { printf '%b' "$1" | SHELL=/bin/sh script -qec "$2" /dev/null; }
ctl=$top_builddir/run\ sandboxctl

succeeds sbctl up demo --env COLOUR=blue

for via in guestd ssh; do
	# shellcheck disable=SC2016 # for the guest
	eq "$(sbctl exec demo --via $via -e SIZE='a b' -- sh -c \
		'echo "$COLOUR $SIZE"; id -un; pwd; printf "<%s>" "$@"' \
		sh 'x y' '' '*' $'new\nline')" \
		$'blue a b\nuser\n/home/user/workspace\n<x y><><*><new\nline>' \
		"words, environment, user and folder over $via"
	eq "$(sbctl exec demo --via $via -- printf '%s' $'\xff\x01' |
		od -An -tx1)" ' ff 01' "bytes that are not UTF-8 over $via"
	fails_with 7 sbctl exec demo --via $via -- sh -c 'exit 7'
	# shellcheck disable=SC2016
	fails_with 143 sbctl exec demo --via $via -- sh -c 'kill -TERM $$'
	fails_with 127 sbctl exec demo --via $via -- nonesuch
	eq "$(sbctl exec demo --via $via -u root -w /etc -- sh -c 'id -un; pwd')" \
		$'root\n/etc' "another user and folder over $via"
	eq "$(sbctl py demo --via $via 'print(6 * 7)')" 42 "Python over $via"
	eq "$(sbctl exec demo --via $via --json -- sh -c 'echo out; echo err >&2' |
		json '.stdout + .stderr')" $'out\nerr' "an object over $via"
done
sbctl py demo 'x = 6 * 7'
eq "$(sbctl py demo x)" 42 "state between calls"

# Bytes, both ways.
blob=$SANDBOX_STATE/blob
head -c 5000000 /dev/urandom >"$blob"
sbctl exec demo -i -- cat <"$blob" >"$blob.back"
succeeds cmp "$blob" "$blob.back"

# A tree with odd names, there and back.
tree=$SANDBOX_STATE/tree
mkdir -p "$tree/a b/-n" "$tree/empty"
cp "$blob" "$tree/"
echo x >"$tree/a b/-n/"$'new\nline'
echo y >"$tree/"$'latin\xe4'
ln -s blob "$tree/link"
chmod 751 "$tree/blob"
for via in guestd ssh; do
	succeeds sbctl cp --via $via "$tree" demo:there-$via
	eq "$(sbctl exec demo -- stat -c '%a %U' there-$via/blob)" "751 user" \
		"mode and owner over $via"
	succeeds sbctl cp --via $via demo:there-$via "$tree-$via"
	succeeds diff -r "$tree" "$tree-$via"
done
eq "$(sbctl cp demo:there-ssh/a\ b/-n/$'new\nline' -)" x "a stream out"
echo z | sbctl cp - demo:z
eq "$(sbctl exec demo -- cat z)" z "a stream in"
fails_with 4 sbctl cp demo:nonesuch "$SANDBOX_STATE/x"
contains "$output" "no such file" "a missing file is named"

# Ctrl-C.
"$top_builddir/host/sandboxctl" exec demo -- \
	sh -c 'trap "echo caught; exit 9" INT; echo go; while :; do sleep 0.1; done' \
	>"$SANDBOX_STATE/out" &
pid=$!
wait_until 30 grep -q go "$SANDBOX_STATE/out"
kill -INT $pid
status=0
wait $pid || status=$?
eq "$status" 9 "a signal to us reaches the command"

# Terminals.
contains "$(in_pty '' "stty cols 101 rows 33; $ctl exec demo -t -- stty size")" \
	"33 101" "a terminal of our size"
status=0
in_pty '' "$ctl exec demo -t -- sh -c 'exit 6'" >/dev/null || status=$?
eq "$status" 6 "its exit status"
in_pty 'echo $((6 * 7)) >answer\n\x1d' "$ctl attach demo" \
	>"$SANDBOX_STATE/out" || fail "attach: $(cat "$SANDBOX_STATE/out")"
contains "$(cat "$SANDBOX_STATE/out")" "go back with" "detached"
answered() { [ "$(sbctl exec demo -- cat answer)" = 42 ]; }
wait_until 30 answered
id=$(sbctl attach demo --list --json |
	json '.terminals[] | select(.state == "running") | .id')
contains "$(sbctl attach demo --list)" "$id" "it is listed"
status=0
in_pty 'exit 3\n' "$ctl attach demo $id" >"$SANDBOX_STATE/out" || status=$?
eq "$status" 3 "we went back to it and ended it"
contains "$(cat "$SANDBOX_STATE/out")" "answer" "and saw what it had shown"

# No guestd: SSH to the rescue.
sbctl exec demo --via ssh -u root -- systemctl stop sandbox-guestd.service
eq "$(sbctl exec demo -- echo hi 2>"$SANDBOX_STATE/err")" hi \
	"exec without guestd"
contains "$(cat "$SANDBOX_STATE/err")" "using SSH" "and it says so"
succeeds sbctl cp "$blob" demo:rescued
fails_with 1 sbctl exec demo --via guestd -- true
