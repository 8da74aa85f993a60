#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guestd explains itself, and what is wrong with its options.
. "${srcdir:=.}/functions.sh"

"$guestd" --version | grep -q '^guestd [0-9]' || fail "--version"
for o in listen port token-file no-auth control run-dir log jupyterlab jupyter-port \
	max-kernels cull-idle warm-kernel display display-of origin; do
	"$guestd" --help | grep -q -- "--$o" || fail "--help lacks --$o"
done

# wrong STATUS TEXT OPTION...: it ends with that status and text.
wrong()
{
	want=$1 text=$2
	shift 2
	got=0
	"$guestd" --run-dir "$dir/run" "$@" > "$dir/out" 2> "$dir/err" || got=$?
	[ "$got" = "$want" ] || fail "status $got, not $want: $*"
	grep -qF -- "$text" "$dir/err" || fail "no '$text': $(cat "$dir/err")"
}

wrong 2 'to 65535' --port 70000
wrong 2 'to 65535' --jupyter-port x
wrong 2 'from 1 to 1000' --max-kernels 0
wrong 2 'wants a time' --cull-idle soon
wrong 2 'exclude each other' --no-auth --token-file x
wrong 2 'exclude each other' --no-auth --display none --display-of :0
wrong 2 'not a size of a screen' --display 10x10
wrong 2 'not a size of a screen' --display 1280x800x24
wrong 2 'not a size of a screen' --display ' 1280x800'
wrong 2 'wants what browsers send' --no-auth --origin https://lab.example/
wrong 2 'wants what browsers send' --no-auth --origin lab.example
wrong 2 'does not go with' --no-auth --control x
wrong 2 'no arguments' --no-auth extra
wrong 1 'no-such-file' --token-file "$dir/no-such-file"
wrong 1 'is not an IP address' --no-auth --listen example.com
: > "$dir/empty"
wrong 1 'is empty' --token-file "$dir/empty"
start_guestd --no-auth
wrong 1 "port $port" --no-auth --port "$port"
