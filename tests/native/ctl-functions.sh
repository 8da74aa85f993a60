# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests share in which sandboxctl has a host with one sandbox, "demo",
# whose guestd runs here.  For after functions.sh.
requires jq --version
: "${top_builddir:=../..}" "${dir:?}"
# Tests change the folder.
top_builddir=$(cd "$top_builddir" && pwd)
srcdir=$(cd "$srcdir" && pwd)

# box STATE [MORE]: what the host says of the sandbox.
box()
{
	printf '{"id": "sb-1", "name": "demo", "state": "%s", "url": "%s",
		"ssh": {}, "token_file": "%s" %s}' \
		"$1" "$url" "$host_token" "${2:-}" > "$dir/box.new"
	mv "$dir/box.new" "$dir/box.json"
}

# start_host TOKEN-FILE
start_host()
{
	host_token=$1
	# A socket's path has at most 107 bytes: $TMPDIR may be too deep.
	SANDBOX_STATE=$(mktemp -d /tmp/sb-XXXXXX)
	export SANDBOX_STATE
	at_exit rm -rf "$SANDBOX_STATE"
	mkdir "$SANDBOX_STATE/run"
	box ready
	/usr/bin/python3 "$srcdir/host.py" \
		"$SANDBOX_STATE/run/sandboxd.sock" "$dir/box.json" \
		"$(ctl version --json | jq -r .version)" 2> "$dir/host.err" &
	at_exit "kill $!"
	wait_until 20 test -S "$SANDBOX_STATE/run/sandboxd.sock"
}

# start_lies: from now on the sandbox's guestd says what is in $dir/lies.
start_lies()
{
	mkdir "$dir/lies"
	/usr/bin/python3 "$srcdir/hostile-guestd.py" "$dir/lies" \
		> "$dir/lies.port" &
	at_exit "kill $!"
	wait_until 20 test -s "$dir/lies.port"
	url=http://127.0.0.1:$(cat "$dir/lies.port")
	box ready
}

ctl()
{
	"$top_builddir/host/sandboxctl" "$@"
}

is()
{
	[ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"
}

# refused STATUS TEXT ARG...
refused()
{
	refused_want=$1 refused_text=$2 refused_got=0
	shift 2
	ctl "$@" > "$dir/said" 2> "$dir/why" || refused_got=$?
	is "$refused_got" "$refused_want" "the status of $*: $(cat "$dir/why")"
	grep -qF -- "$refused_text" "$dir/why" ||
		fail "$*: no '$refused_text': $(cat "$dir/why")"
}
