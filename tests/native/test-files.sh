#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files through guestd: read, write, list, manage; good names and bad ones.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
start_guestd --no-auth
# guestd may act as another user here.
chmod 755 "$dir"
f=$dir/files
mkdir "$f"
chmod 777 "$f"

# post ROUTE JSON
post()
{
	request "$1" -H 'Content-Type: application/json' --data-binary "$2"
}

# get ROUTE [NAME=VALUE...]
get()
{
	get_route=$1
	shift
	for pair in "$@"; do
		set -- "$@" --data-urlencode "$pair"
		shift
	done
	request "$get_route" -G "$@"
}

# is JQ-FILTER VALUE: of the last answer.
is()
{
	got=$(jq -r "$1" "$dir/body") || fail "not JSON: $(cat "$dir/body")"
	[ "$got" = "$2" ] || fail "$1 is '$got', not '$2'"
}

# Write and read, under each name of route and parameter.
post /v1/file/write "{\"path\":\"$f/a/b/hello.txt\",\"content\":\"Hello\\nWorld\\n\"}"
expect 200 '"success":true'
is .bytes_written 12
post /file/write "{\"file\":\"$f/second.txt\",\"content\":\"x\",\"mode\":\"600\"}"
expect 200
[ "$(stat -c %a "$f/second.txt")" = 600 ] || fail "mode"
get /file/read "path=$f/a/b/hello.txt"
expect 200
is .content "Hello
World"
is .encoding utf-8
post /v1/file/read "{\"file\":\"$f/a/b/hello.txt\"}"
expect 200 'Hello\nWorld\n'
post /v1/file/write "{\"path\":\"$f/second.txt\",\"content\":\"y\",\"append\":true}"
expect 200
[ "$(cat "$f/second.txt")" = xy ] || fail "append"
post /v1/file/write "{\"path\":\"$f/second.txt\",\"content\":\"z\"}"
[ "$(stat -c %a "$f/second.txt")" = 600 ] || fail "the mode was not kept"
[ "$(cat "$f/second.txt")" = z ] || fail "not replaced"
ln -s second.txt "$f/link"
post /v1/file/write "{\"path\":\"$f/link\",\"content\":\"through\"}"
expect 200
[ -L "$f/link" ] && [ "$(cat "$f/second.txt")" = through ] ||
	fail "a symlink was replaced"
[ -z "$(find "$f" -name '.sandbox-*')" ] || fail "temporary files are left"

# Parts.
seq 1 100000 > "$f/lines"
get /v1/file/read "path=$f/lines" start_line=2 end_line=3
expect 200 '"content":"2\n3\n"'
is .truncated true
get /v1/file/read "path=$f/lines" start_line=99999
expect 200 '"content":"99999\n100000\n"'
is .truncated false
get /v1/file/read "path=$f/lines" offset=2 limit=4
expect 200 '"content":"2\n3\n"'
get /v1/file/read "path=$f/lines" offset=2 start_line=4
expect 400
get /v1/file/read "path=$f/lines" start_line=4 end_line=3
expect 400
get /v1/file/read "path=$f/lines" start_line=-1
expect 400
truncate -s 9M "$f/huge"
get /v1/file/read "path=$f/huge"
expect 413 download
rm "$f/huge"

# Bytes that are not text.
printf 'a\377\000b' > "$f/binary"
get /v1/file/read "path=$f/binary"
is .encoding base64
is .content Yf8AYg==
get /v1/file/read "path=$f/binary" encoding=utf-8
is .encoding utf-8
post /v1/file/write "{\"path\":\"$f/copy\",\"content\":\"Yf8AYg==\",\"encoding\":\"base64\"}"
expect 200
cmp "$f/binary" "$f/copy" || fail "base64"
post /v1/file/write "{\"path\":\"$f/copy\",\"content\":\"Yf8A\\nYg=\",\"encoding\":\"base64\"}"
expect 400 base64
rm "$f/copy" "$f/binary"

# A file of the kernel has no size, but has content.
get /v1/file/read path=/proc/version
expect 200 'Linux version'

# Bad requests.
get /v1/file/read
expect 400 "'path' is missing"
get /v1/file/read path=
expect 400
get /v1/file/read "path=$f/nothing"
expect 404
get /v1/file/read "path=$f"
expect 400 'is a folder'
get /v1/file/read "path=$f/lines/x"
expect 400
request "/v1/file/read?path=$f/a%00b"
expect 400
post /v1/file/read "{\"path\":\"$f/a\\u0000b\"}"
expect 400
post /v1/file/read '{"path":7}'
expect 400
post /v1/file/write "{\"path\":\"$f/x\"}"
expect 400 content
post /v1/file/write "{\"path\":\"$f/x\",\"content\":\"\",\"mode\":\"9\"}"
expect 400 mode
post /v1/file/write "{\"path\":\"$f\",\"content\":\"\"}"
expect 400
get /v1/file/read "path=$f/$(printf '%0300d' 0)"
expect 400
ln -s loop "$f/loop"
get /v1/file/read "path=$f/loop"
expect 400
post /v1/file/write "{\"path\":\"$f/loop\",\"content\":\"\"}"
expect 400
mkfifo -m 666 "$f/fifo"
get /v1/file/read "path=$f/fifo"
expect 400 'not a regular file'
post /v1/file/write "{\"path\":\"$f/fifo\",\"content\":\"\"}"
expect 400 'not a regular file'
post /v1/file/write "{\"path\":\"$f/fifo\",\"content\":\"x\",\"append\":true}"
expect 400
get /v1/file/read path=/dev/zero
expect 400 'not a regular file'
post /v1/file/write '{"path":"/dev/full","content":"x"}'
expect 400
post /v1/file/write '{"path":"/proc/x/y","content":"x"}'
[ "$status" -ge 400 ] && [ "$status" -lt 500 ] || fail "/proc: $status"
rm "$f/fifo" "$f/loop"

# Exact replacement.
printf 'one two two\n' > "$f/edit"
chmod 666 "$f/edit"
post /v1/file/edit "{\"path\":\"$f/edit\",\"old_string\":\"one\",\"new_string\":\"1\"}"
expect 200 '"replacements":1'
post /v1/file/edit "{\"path\":\"$f/edit\",\"old_str\":\"two\",\"new_str\":\"2\"}"
expect 409 '2 times'
post /v1/file/edit "{\"path\":\"$f/edit\",\"old_str\":\"two\",\"new_str\":\"2\",\"replace_all\":true}"
expect 200 '"replacements":2'
[ "$(cat "$f/edit")" = '1 2 2' ] || fail "edit"
post /v1/file/edit "{\"path\":\"$f/edit\",\"old_str\":\"two\",\"new_str\":\"2\"}"
expect 409 'is not in'
post /v1/file/edit "{\"path\":\"$f/edit\",\"old_str\":\"\",\"new_str\":\"2\"}"
expect 400
post /v1/file/edit "{\"path\":\"$f/none\",\"old_str\":\"a\",\"new_str\":\"2\"}"
expect 404
rm "$f/edit"

# Stat and exists.
get /v1/file/stat "path=$f/second.txt"
expect 200
is '.type, .size, .mode' "file
7
0600"
get /v1/file/stat "path=$f/link"
is '.type, .target' "symlink
second.txt"
get /v1/file/stat "path=$f/nothing"
expect 404
get /v1/file/exists "path=$f/nothing"
expect 200 '"exists":false'
get /v1/file/exists "path=$f/a/"
expect 200 '"exists":true'
is .is_dir true

# Make, copy, move, delete.
post /v1/file/mkdir "{\"path\":\"$f/d/e\"}"
expect 200
post /v1/file/mkdir "{\"path\":\"$f/d/e\"}"
expect 200
post /v1/file/mkdir "{\"path\":\"$f/d/e\",\"parents\":false}"
expect 409
post /v1/file/mkdir "{\"path\":\"$f/lines\"}"
expect 409
post /v1/file/copy "{\"source\":\"$f/a\",\"destination\":\"$f/d/copy\"}"
expect 200
diff -r "$f/a" "$f/d/copy" || fail "copy"
post /v1/file/copy "{\"source\":\"$f/a\",\"destination\":\"$f/d/copy\"}"
expect 409 overwrite
post /v1/file/copy "{\"source\":\"$f/d\",\"destination\":\"$f/d/x\"}"
expect 400
post /v1/file/copy "{\"source\":\"$f/none\",\"destination\":\"$f/new/x\"}"
expect 404
[ ! -e "$f/new" ] || fail "a failed copy made a folder"
post /v1/file/move "{\"source\":\"$f/d/copy\",\"destination\":\"$f/m/moved\"}"
expect 200
[ -e "$f/m/moved/b/hello.txt" ] && [ ! -e "$f/d/copy" ] || fail "move"
post /v1/file/move "{\"source\":\"$f/lines\",\"destination\":\"$f/second.txt\"}"
expect 409
post /v1/file/move "{\"source\":\"$f/lines\"}"
expect 400 destination
post /v1/file/delete "{\"path\":\"$f/m\"}"
expect 409 recursive
ln -s "$f/a" "$f/m/outside"
post /v1/file/delete "{\"path\":\"$f/m\",\"recursive\":true}"
expect 200
[ ! -e "$f/m" ] && [ -e "$f/a/b/hello.txt" ] || fail "delete"
post /v1/file/delete "{\"path\":\"$f/m\"}"
expect 404

# Lists: order, depth, hidden names, in pieces.
mkdir "$f/list"
(cd "$f/list" && mkdir sub && touch b a sub/x sub/y sub.z .hid)
get /file/list "path=$f/list"
expect 200
is '[.entries[].name] | join(" ")' 'a b sub sub.z'
get /v1/file/list "path=$f/list" depth=2 hidden=true
is '[.entries[].name] | join(" ")' '.hid a b sub x y sub.z'
is .cursor null
all=
cursor=
for _ in 1 2 3 4 5 6 7 8; do
	post /v1/file/list "{\"path\":\"$f/list\",\"depth\":9,\"limit\":1,\"cursor\":\"$cursor\"}"
	expect 200
	all="$all $(jq -r '.entries[].name' "$dir/body")"
	cursor=$(jq -r '.cursor // ""' "$dir/body")
	[ -n "$cursor" ] || break
done
[ "$all" = ' a b sub x y sub.z' ] || fail "in pieces:$all"
get /v1/file/list "path=$f/list" cursor=.
expect 400
get /v1/file/list "path=$f/list" limit=0
expect 400
get /v1/file/list "path=$f/lines"
expect 400
get /v1/file/list "path=$f/nothing"
expect 404

# Without a path it is the workspace, which a plain machine does not have.
if [ ! -e /home/user/workspace ]; then
	get /v1/file/list
	expect 404 /home/user/workspace
	get /v1/file/read path=a/b
	expect 404 /home/user/workspace/a/b
fi

# Odd names: a line break, bytes that are not UTF-8.
mkdir "$f/odd"
odd=$(printf 'bad\377name')
echo content > "$f/odd/$odd"
echo line > "$f/odd/new
line"
get /v1/file/list "path=$f/odd"
expect 200
is '[.entries[].name] | @json' '["bad�name","new\nline"]'
code=$(jq -r '.entries[0].path_base64' "$dir/body")
post /v1/file/read "{\"path_base64\":\"$code\"}"
expect 200 '"content":"content\n"'
request "/v1/file/read?path=$f/odd/bad%ffname"
expect 200 '"content":"content\n"'
request "/v1/file/read?path=$f/odd/new%0aline"
expect 200 '"content":"line\n"'

# Finding by name.
mkdir -p "$f/src/deep/er" "$f/src/.git"
(cd "$f/src" && touch main.c util.h deep/x.c deep/er/y.c .git/z.c)
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"**/*.c\"}"
expect 200
is '[.entries[].name] | join(" ")' 'y.c x.c main.c'
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"deep/*.c\"}"
is '[.entries[].name] | join(" ")' 'x.c'
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"*.[ch]\",\"hidden\":true}"
is '[.entries[].name] | join(" ")' 'y.c x.c main.c util.h'
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"*.[ch]\",\"hidden\":true,\"gitignore\":false}"
is '[.entries[].name] | join(" ")' 'z.c y.c x.c main.c util.h'
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"*.c\",\"limit\":1}"
is '.truncated' true
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"$f/src/deep/*.c\"}"
is '[.entries[].name] | join(" ")' 'x.c'
post /v1/file/glob "{\"path\":\"$f/src\",\"pattern\":\"$f/src\"}"
is '.entries | length' 0
post /v1/file/glob "{\"path\":\"$f/src\"}"
expect 400 pattern
post /v1/file/glob "{\"path\":\"$f/none\",\"pattern\":\"*\"}"
expect 404

# Finding lines.
printf 'one\ntwo\nthree\nFOUR\n' > "$f/src/main.c"
printf 'two\0two\n' > "$f/src/deep/x.c"
post /v1/grep/search "{\"path\":\"$f/src\",\"pattern\":\"^t(wo|hree)\$\"}"
expect 200
is '[.matches[] | "\(.line) \(.text)"] | join(",")' '2 two,3 three'
post /v1/grep/search "{\"path\":\"$f/src/main.c\",\"pattern\":\"four\",\"ignore_case\":true,\"context\":2}"
is '[.matches[0].before[]] | join(",")' 'two,three'
post /v1/grep/search "{\"path\":\"$f/src\",\"pattern\":\"two\",\"context\":1,\"include\":\"*.c\"}"
is '.matches[0].after[0]' three
post /v1/grep/search "{\"path\":\"$f/src\",\"pattern\":\"o\",\"limit\":1}"
is '.truncated, (.matches | length)' "true
1"
post /v1/grep/search "{\"path\":\"$f/src\",\"pattern\":\"(\"}"
expect 400 'regular expression'
post /v1/grep/search "{\"path\":\"$f/src\",\"pattern\":\"\"}"
expect 400

# Changes as events.
mkdir "$f/watched"
curl -sSN -m 60 "$url/v1/file/watch?path=$f/watched" > "$dir/events" &
watcher=$!
at_exit "kill $watcher 2>/dev/null || :"
event()
{
	grep -A1 "^event: $1\$" "$dir/events" |
		grep -qF "\"path\":\"$f/watched$2\""
}
wait_until 20 event ready ''
echo x > "$f/watched/new"
wait_until 20 event create /new
wait_until 20 event write /new
rm "$f/watched/new"
wait_until 20 event delete /new
rmdir "$f/watched"
wait_until 20 event delete ''
wait "$watcher" || fail "the stream did not end with its folder"
get /v1/file/watch "path=$f/watched"
expect 404
# One that is open when guestd ends.
curl -sSN -m 60 "$url/v1/file/watch?path=$f" > "$dir/events" 2>&1 &
at_exit "kill $! 2>/dev/null || :"
wait_until 20 grep -q '^event: ready' "$dir/events"

# A disk that is full: the right answer, and what was there stays.
mkdir "$f/small"
if mount -t tmpfs -o size=64k none "$f/small" 2>/dev/null; then
	at_exit "umount '$f/small'"
	chmod 777 "$f/small"
	echo old > "$f/small/x"
	chmod 666 "$f/small/x"
	request "/v1/file?path=$f/small/x" -T "$f/lines"
	expect 507 no-space
	request /v1/file/upload -F "path=$f/small/x" -F "file=@$f/lines"
	expect 507
	post /v1/file/copy "{\"source\":\"$f/lines\",\"destination\":\"$f/small/y\"}"
	expect 507
	jq -nc --rawfile c "$f/lines" --arg p "$f/small/x" \
		'{path: $p, content: $c}' > "$dir/json"
	post /v1/file/write "@$dir/json"
	expect 507
	[ "$(ls -A "$f/small")" = x ] && [ "$(cat "$f/small/x")" = old ] ||
		fail "a full disk: $(ls -lA "$f/small")"
fi
