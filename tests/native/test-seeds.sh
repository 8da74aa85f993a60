#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every request that the systems document from which our users come works as
# they document it, or is known to come with a later issue (seed-commands.txt).
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
requires python3 --version
start_desktop 640x480 --no-auth \
	--languages "${top_builddir:-../..}/guest/languages.json"
f=$dir/files
mkdir "$f"

works()
{
	if [ "$3" = - ]; then
		request "$2" -X "$1"
	else
		request "$2" -X "$1" -H "Content-Type: application/json" -d "$3"
	fi
	case $status in
	20[01]) ;;
	*) fail "$1 $2: $status: $(cat "$dir/body")" ;;
	esac
	case $4 in
	image/* | video/* | text/*)
		grep -qi "^content-type: $4" "$dir/head" || fail "$1 $2: not $4"
		return
		;;
	esac
	jq -e "$4" "$dir/body" > /dev/null ||
		fail "$1 $2: not '$4': $(cat "$dir/body")"
}

is_to_come()
{
	request "$2" -X "$1"
	[ "$status" = 404 ] ||
		fail "$1 $2 is here now: say in seed-commands.txt what it answers"
	grep -qi '^content-type: application/problem+json' "$dir/head" ||
		fail "$1 $2: $(cat "$dir/head")"
	expect 404 '"remediation"'
}

tab=$(printf '\t')
n=0
sed "/^#/d; s|FILE|$f|g" "$srcdir/seed-commands.txt" > "$dir/commands"
while IFS=$tab read -r when method path body filter; do
	case $when in
	ok) works "$method" "$path" "$body" "$filter" ;;
	issue* | later) is_to_come "$method" "$path" ;;
	*) fail "seed-commands.txt: '$when'" ;;
	esac
	n=$((n + 1))
done < "$dir/commands"
[ "$n" -eq "$(grep -c . "$dir/commands")" ] || fail "only $n were tried"

# Kernels outlive guestd.
request /api/kernels
id=$(jq -r '.[0].id' "$dir/body")
request "/api/kernels/$id" -X DELETE
expect 204

# As events, under both names, with the output in them.
for path in /shell/stream /v1/bash/exec/stream; do
	request $path -N -H "Content-Type: application/json" \
		-d '{"command": "echo hello"}'
	expect 200 '"data":"hello\n"'
	grep -qi '^content-type: text/event-stream' "$dir/head" || fail "$path"
	grep -q '^event: exit' "$dir/body" || fail "$path: no exit"
done

# A form with a file in it.
echo content > "$dir/local.txt"
request /file/upload -F "path=$f/up.txt" -F "file=@$dir/local.txt"
expect 200
cmp "$dir/local.txt" "$f/up.txt" || fail "upload"
