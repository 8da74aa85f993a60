#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What sandboxctl cp does, with a guestd that runs here.
. "${0%/*}/functions.sh"

tool=${top_builddir:-../..}/tests/native/ctl-tool

start_guestd --no-auth
printf '{"url": "%s", "token_file": "%s"}' "$url" "$dir/token" >"$dir/box"
echo token >"$dir/token"
mkdir "$dir/host" "$dir/guest"

copy()
{
	"$tool" "$dir/box" "$@"
}

# refused STATUS TEXT put|get FROM TO
refused()
{
	want=$1 text=$2 got=0
	shift 2
	copy "$@" >"$dir/said" 2>&1 || got=$?
	[ "$got" = "$want" ] || fail "status $got, not $want: $*"
	grep -qF -- "$text" "$dir/said" || fail "no '$text': $(cat "$dir/said")"
}

# A tree with odd names, there and back.
tree=$dir/host/tree
mkdir -p "$tree/a b/-n" "$tree/empty"
head -c 20000000 /dev/urandom >"$tree/blob"
echo x >"$tree/a b/-n/$(printf 'new\nline')"
echo y >"$tree/$(printf 'latin\344')"
: >"$tree/nothing"
ln -s blob "$tree/link"
chmod 751 "$tree/blob"
copy put "$tree" "$dir/guest/there"
diff -r "$tree" "$dir/guest/there" || fail "the tree changed on its way in"
[ "$(stat -c %a "$dir/guest/there/blob")" = 751 ] || fail "mode"
copy get "$dir/guest/there" "$dir/host/back"
diff -r "$tree" "$dir/host/back" || fail "the tree changed on its way out"
[ "$(readlink "$dir/host/back/link")" = blob ] || fail "symlink"
[ -z "$(find "$dir/guest" "$dir/host" -name '.sandbox-*')" ] || fail "remains"

# Into a folder that exists the copy gets its own name.
copy put "$tree/blob" "$dir/guest"
cmp "$tree/blob" "$dir/guest/blob" || fail "into a folder"
mkdir "$dir/host/in"
copy get "$dir/guest/blob" "$dir/host/in"
cmp "$tree/blob" "$dir/host/in/blob" || fail "out into a folder"
"$tool" -j "$dir/box" put "$tree/nothing" "$dir/guest" >"$dir/j"
[ "$(jq -r .to "$dir/j")" = "$dir/guest/nothing" ] || fail "$(cat "$dir/j")"

refused 4 "no such file or folder in the guest" get "$dir/none" "$dir/host/x"
refused 4 "cannot read" put "$dir/none" "$dir/guest/x"
refused 5 "exists" put "$tree" "$dir/guest/there/empty/../blob"
[ ! -e "$dir/host/x" ] || fail "a failed copy left something"

# A guest's tar may not leave its place: this one has an absolute symlink.
mkdir "$dir/guest/evil"
ln -s /etc/passwd "$dir/guest/evil/out"
got=0
copy get "$dir/guest/evil" "$dir/host/evil" 2>"$dir/said" || got=$?
[ "$got" != 0 ] || [ ! -e "$dir/host/evil/out" ] || fail "a symlink leads out"

# Interrupted: nothing is left, on either side.
"$tool" "$dir/box" put "$dir/host/huge" "$dir/guest/huge" 2>/dev/null && fail "huge"
truncate -s 100G "$dir/host/huge"
"$tool" "$dir/box" put "$dir/host/huge" "$dir/guest/huge" 2>"$dir/said" &
pid=$!
wait_until 20 sh -c "ls -A '$dir/guest' | grep -q sandbox-put"
kill -TERM $pid
got=0
wait $pid || got=$?
[ $got = 143 ] || fail "status $got after SIGTERM: $(cat "$dir/said")"
wait_until 20 sh -c "! ls -A '$dir/guest' | grep -q sandbox-put"
[ ! -e "$dir/guest/huge" ] || fail "an interrupted copy is there"
