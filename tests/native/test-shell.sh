#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Commands run, answer with every byte, can be followed, fed, and ended.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
# Memory is measured: a sanitizer must not hold back what was freed.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1"
start_guestd --no-auth

# exec JSON: run it by the route of its own.
exec_json()
{
	request /v1/shell/exec -H 'Content-Type: application/json' -d "$1"
}

# is FILTER WANT: what jq finds in the last body.
is()
{
	got=$(jq -r "$1" "$dir/body") || fail "jq '$1': $(cat "$dir/body")"
	[ "$got" = "$2" ] ||
		fail "$1 is '$got', not '$2': $(head -c 2000 "$dir/body")"
}

# ended ID
ended()
{
	curl -sS -m 20 "$url/v1/processes/$1" | grep -q '"state":"ended"'
}

# start COMMAND: in the background, sets $id and $pid.
start()
{
	exec_json "$(jq -n --arg c "$1" '{command: $c, background: true}')"
	expect 202
	id=$(jq -r .id "$dir/body")
	pid=$(jq -r .pid "$dir/body")
}

# The documented request, under each name.
for path in /v1/shell/exec /shell/exec /v1/bash/exec; do
	request $path -X POST -H 'Content-Type: application/json' \
		-d '{"command": "echo hello"}'
	expect 200
	is .stdout hello
	is .exit_code 0
	is .signal null
	is .timed_out false
	is .truncated false
done
exec_json '{"cmd": "echo out; echo err >&2; exit 3"}'
is .stdout out
is .stderr err
is .exit_code 3
is '.output | split("\n") | sort | join(",")' ,err,out
is '.duration_ms >= 0' true

# In order, where the order can be known.
start 'echo a; read x; echo b >&2; read x; echo c'
for want in 2 4; do
	wait_until 20 eval "curl -sS '$url/v1/processes/$id/output' |
		jq -e '.total == $want'"
	request "/v1/processes/$id/stdin" -d '{"data": "x\n"}'
	expect 204
done
wait_until 20 ended "$id"
request "/v1/processes/$id/output"
is .data 'a
b
c'
is .eof true

# A signal is no exit code.
# Exact words, with no shell between.
exec_json '{"argv": ["printf", "<%s>", "a b", "", "$HOME", "*"]}'
is .stdout '<a b><><$HOME><*>'
exec_json '{"argv": ["cHJpbnRm", "JXM=", "/w=="], "argv_encoding": "base64"}'
is .stdout /w==
is .encoding base64
exec_json '{"argv": ["sh", "-c", "echo $0"]}'
is .stdout sh
exec_json '{"argv": ["no-such-program"]}'
expect 404 no-such-program
exec_json '{"argv": ["/etc/passwd"]}'
expect 403 /etc/passwd
for body in '{"argv": []}' '{"argv": [1]}' '{"argv": "ls"}' \
	'{"argv": ["ls"], "command": "ls"}' '{"argv": ["*"], "argv_encoding": "base64"}' \
	'{"argv": ["AGEA"], "argv_encoding": "base64"}' \
	'{"argv": ["ls"], "argv_encoding": "latin1"}' \
	'{"argv": ["ls"], "attached": true}' \
	'{"argv": ["ls"], "open_stdin": true, "stdin": "x"}'; do
	exec_json "$body"
	expect 400
done

# Bytes as they are into a command's stdin.
exec_json '{"argv": ["od", "-An", "-tx1"], "background": true}'
id=$(jq -r .id "$dir/body")
printf '\000\377' | curl -sS -m 20 -H 'Content-Type: application/octet-stream' \
	--data-binary @- "$url/v1/processes/$id/stdin?close=true" || fail curl
wait_until 20 ended "$id"
request "/v1/processes/$id/output"
is .data ' 00 ff'
request "/v1/processes/$id/output?follow=true&format=wat"
expect 400 format
# What is refused was not started.
request /v1/processes
started=$(jq '.processes | length' "$dir/body")
request "/v1/shell/stream?format=wat" -d '{"command": ":"}'
expect 400 format
request /v1/processes
is '.processes | length' "$started"

exec_json '{"command": "kill -KILL $$"}'
is .signal SIGKILL
is .exit_code 137
exec_json '{"command": "exit 137"}'
is .signal null
is .exit_code 137

# Environment, folder, user, stdin.
printf 'FROM_HOST=a b=c\nBOTH=host\n' > "$dir/run/env"
exec_json '{"command": "echo $FROM_HOST,$BOTH,$MORE,$USER,$HOME",
	"env": {"BOTH": "request", "MORE": "x y"}}'
is .stdout "a b=c,request,x y,$(id -un),$HOME"
exec_json '{"command": "env"}'
is '.stdout | contains("GUESTD") or contains("srcdir")' false
exec_json '{"command": "pwd", "cwd": "/usr"}'
is .stdout /usr
exec_json '{"command": "pwd", "cwd": "/nowhere"}'
expect 400 "'cwd'"
exec_json '{"command": "id -u", "user": "no-such-account"}'
expect 400 "'user'"
if [ "$(id -u)" = 0 ]; then
	exec_json '{"command": "id -un; id -G; echo $HOME", "user": "nobody"}'
	is .stdout "nobody
$(id -G nobody)
$(getent passwd nobody | cut -d: -f6)"
else
	exec_json '{"command": "id", "user": "root"}'
	expect 403 "'user'"
fi
exec_json '{"command": "cat; echo end", "stdin": "given\n"}'
is .stdout 'given
end'
exec_json '{"command": "cat"}'
is .stdout ''
exec_json '{"command": "true", "stdin": "nobody reads this"}'
is .exit_code 0

# Each is the leader of its own session.
exec_json '{"command": "ps -o sid= -p $$ | tr -d \" \"; echo $$"}'
is '.stdout | split("\n") | .[0] == .[1]' true

# Bytes that are not text.
exec_json '{"command": "printf \"\\\\377\\\\0a\"; echo text >&2"}'
is .encoding base64
is .stdout /wBh
is .stderr dGV4dAo=
exec_json '{"command": "printf \"gr\\u00fc\\u00df\""}'
is .encoding null
is .stdout grüß

# max_output cuts between characters and says so; the rest can be read.
exec_json '{"command": "printf \"aaa\\u00fcb\"", "max_output": 4}'
is .stdout aaa
is .truncated true
is .encoding null
id=$(jq -r .id "$dir/body")
request "/v1/processes/$id/output?stream=stdout&offset=3"
is .data üb

# Timeouts end the whole group and give what was printed.
exec_json '{"command": "echo before; sleep 1000 & sleep 1000", "timeout": 0.3}'
expect 200
is .timed_out true
is .stdout before
is .signal SIGTERM
exec_json '{"command": "trap \"\" TERM; echo deaf; while :; do sleep 1000; done",
	"timeout": 0.3}'
is .timed_out true
is .stdout deaf
is .signal SIGKILL

# A child that keeps stdout open does not hold up the answer.
exec_json '{"command": "sleep 1000 & echo $!"}'
is .exit_code 0
pid=$(jq -r .stdout "$dir/body")
id=$(jq -r .id "$dir/body")
kill -0 "$pid" || fail "the child is gone"
request "/v1/processes/$id" -X DELETE
expect 204
wait_until 20 eval "! kill -0 $pid"

# Children and grandchildren go with their group.
start 'sleep 1000 & (sleep 1000 & echo $!; wait) & echo $!; wait'
wait_until 20 eval "curl -sS '$url/v1/processes/$id/output' |
	jq -e '.data | split(\"\\n\") | length == 3'"
request "/v1/processes/$id/output"
pids="$pid $(jq -r .data "$dir/body")"
request "/v1/processes/$id/signal" -d '{"signal": "TERM"}'
expect 204
for p in $pids; do
	wait_until 20 eval "! kill -0 $p"
done
wait_until 20 ended "$id"
request "/v1/processes/$id"
is .signal SIGTERM
request "/v1/processes/$id/signal" -d '{"signal": 15}'
expect 409 ended
request "/v1/processes/$id" -X DELETE
expect 204
for s in '"NONE"' 0 -1 65 1.5 null '[]'; do
	request "/v1/processes/$id/signal" -d "{\"signal\": $s}"
	expect 400 "'signal'"
done

# stdin of one in the background, binary too, and its end.
start 'cat'
request "/v1/processes/$id/stdin" -d '{"data": "/wA=", "encoding": "base64"}'
expect 204
request "/v1/processes/$id/stdin" -d '{"data": "x", "encoding": "base64"}'
expect 400 "'data'"
request "/v1/processes/$id/stdin" -d '{"data": "end", "close": true}'
expect 204
request "/v1/processes/$id/stdin" -d '{"data": "late"}'
expect 409
wait_until 20 ended "$id"
request "/v1/processes/$id/output"
is .data /wBlbmQ=
is .encoding base64

# It goes on when its client leaves, in the background and not.
curl -sS -m 0.5 "$url/v1/shell/exec" \
	-d "{\"command\": \"sleep 1; echo done > $dir/left\"}" \
	> "$dir/body" 2>&1 && fail "it did not take long"
wait_until 20 test -s "$dir/left"

# Long polling: nothing yet, then the output, then the end.
start 'read x; echo $x; read x'
request "/v1/processes/$id/output?wait=1"
is .data ''
is .eof false
curl -sS -m 20 "$url/v1/processes/$id/output?wait=20" > "$dir/poll" &
poll=$!
request "/v1/processes/$id/stdin" -d '{"data": "news\n"}'
wait $poll || fail "the poll failed"
[ "$(jq -r .data "$dir/poll")" = news ] || fail "poll: $(cat "$dir/poll")"
next=$(jq -r .next "$dir/poll")
curl -sS -m 20 "$url/v1/processes/$id/output?wait=20&offset=$next" \
	> "$dir/poll" &
poll=$!
request "/v1/processes/$id/stdin" -d '{"close": true}'
wait $poll || fail "the poll failed"
[ "$(jq -r .eof "$dir/poll")" = true ] || fail "poll: $(cat "$dir/poll")"

# Read again from offsets it is the same as whole: 3 MB, both streams.
cmd='seq 200000; seq 200000 >&2'
exec_json "$(jq -n --arg c "$cmd" '{command: $c, max_output: 8000000}')"
seq 200000 > "$dir/seq"
jq -j .stdout "$dir/body" | cmp - "$dir/seq" || fail "stdout differs"
jq -j .stderr "$dir/body" | cmp - "$dir/seq" || fail "stderr differs"
jq -j .output "$dir/body" > "$dir/merged"
[ "$(wc -c < "$dir/merged")" = "$(($(wc -c < "$dir/seq") * 2))" ] ||
	fail "merged is not both"
id=$(jq -r .id "$dir/body")
for stream in stdout output; do
	offset=0
	: > "$dir/pieces"
	while :; do
		request "/v1/processes/$id/output?stream=$stream&offset=$offset&limit=77777"
		expect 200
		jq -j .data "$dir/body" >> "$dir/pieces"
		offset=$(jq -r .next "$dir/body")
		[ "$(jq -r .eof "$dir/body")" = false ] || break
	done
	[ $stream = stdout ] && want=$dir/seq || want=$dir/merged
	cmp "$dir/pieces" "$want" || fail "$stream in pieces differs"
done

# Events, under each name.
for path in /v1/shell/stream /shell/stream /v1/bash/exec/stream; do
	request $path -d '{"command": "echo out; read x; echo err >&2; exit 4"}'
	expect 200
	grep -qi '^content-type: text/event-stream' "$dir/head" ||
		fail "no events"
	[ "$(grep '^event:' "$dir/body" | tr -d '\n')" = \
		"event: startevent: stdoutevent: stderrevent: exit" ] ||
		fail "events: $(cat "$dir/body")"
	sed -n 's/^data: //p' "$dir/body" > "$dir/events"
	[ "$(jq -r 'select(.exit_code) | .exit_code' "$dir/events")" = 4 ] ||
		fail "events: $(cat "$dir/events")"
	[ "$(jq -j 'select(.data) | .data, .offset' "$dir/events")" = \
		"out
0err
0" ] || fail "events: $(cat "$dir/events")"
done

# Followed from the middle; the id of an event is the place to go on from.
request "/v1/processes/$id/output?stream=stdout&offset=1000000&follow"
sed -n 's/^data: //p' "$dir/body" | jq -j 'select(.data) | .data' \
	> "$dir/pieces"
tail -c +1000001 "$dir/seq" | cmp - "$dir/pieces" || fail "follow differs"
request "/v1/processes/$id/output?follow=1" \
	-H "Last-Event-ID: $(($(wc -c < "$dir/merged") - 5))"
[ "$(sed -n 's/^data: //p' "$dir/body" | jq -j 'select(.data) | .data' |
	wc -c)" = 5 ] || fail "Last-Event-ID: $(cat "$dir/body")"

# A client that never reads costs nothing, and the command goes on.
before=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$guestd_pid/status")
mkfifo "$dir/stuck"
curl -sS --no-buffer "$url/v1/shell/stream" \
	-d "{\"command\": \"head -c 40000000 /dev/zero; echo > $dir/through\"}" \
	> "$dir/stuck" 2>/dev/null &
stuck=$!
exec 8< "$dir/stuck"
wait_until 60 test -e "$dir/through"
after=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$guestd_pid/status")
[ $((after - before)) -lt 20000 ] || fail "from $before to $after KiB"
kill $stuck
wait $stuck || :
exec 8<&-

# Past what is kept: the beginning, and the truth.
exec_json '{"command": "head -c 80000000 /dev/zero | tr \"\\\\0\" x",
	"max_output": 10}'
is .stdout xxxxxxxxxx
is .truncated true
id=$(jq -r .id "$dir/body")
request "/v1/processes/$id"
is .stdout_bytes 80000000
is .truncated true
request "/v1/processes/$id/output?limit=10&offset=60000000"
is .data xxxxxxxxxx

# Bad input.
for body in '{' '[]' '{}' '{"command": ""}' '{"command": 1}' \
	'{"command": "a", "cmd": "a"}' '{"command": "a\u0000b"}' \
	'{"command": "true", "command": "true"}'; do
	exec_json "$body"
	expect 400 '"code":"invalid"'
done
while read -r field value; do
	exec_json "{\"command\": \"true\", \"$field\": $value}"
	expect 400 "'$field"
done <<'EOF'
timeout -1
timeout "5"
timeout 1e99
max_output -1
max_output 1.5
max_output 99999999999
background 1
cwd 1
user []
stdin {}
env []
env {"A=B":"x"}
env {"":"x"}
env {"A":1}
shell "zsh"
EOF
request /v1/processes/none
expect 404
request /v1/processes/none/output
expect 404
for q in stream=x offset=-1 offset=x limit=0 wait=-1 follow=x; do
	request "/v1/processes/$id/output?$q"
	expect 400 "'${q%%=*}'"
done

# 200 at once.
mkdir "$dir/many"
curl -sS -m 60 --parallel --parallel-immediate --parallel-max 200 \
	-d '{"command": "sleep 0.2; echo $$"}' -o "$dir/many/#1" \
	"$url/v1/shell/exec#[1-200]" 2> "$dir/curl.err" ||
	fail "$(cat "$dir/curl.err")"
[ "$(cat "$dir/many"/* | jq -r 'select(.exit_code == 0) | .stdout' |
	grep -c .)" = 200 ] || fail "not all of 200 ended well"
[ "$(cat "$dir/many"/* | jq -r .id | sort -u | wc -l)" = 200 ] ||
	fail "ids are not unique"

# The last 256 are remembered.
curl -sS -m 120 -d '{"command": ":"}' -o /dev/null \
	"$url/v1/shell/exec#[1-300]" || fail "curl"
request /v1/processes
is '.processes | length' 256
is '[.processes[] | select(.state == "running")] | length' 0

# 512 at once and no more; there is room again when one was killed.
curl -sS -m 120 -d '{"command": "sleep 1000", "background": true}' \
	-o "$dir/many/#1" "$url/v1/shell/exec#[1-512]" || fail "curl"
exec_json '{"command": "true"}'
expect 503 '"code":"busy"'
request "/v1/processes/$(jq -r .id "$dir/many/1")" -X DELETE
expect 204
wait_until 20 ended "$(jq -r .id "$dir/many/1")"
exec_json '{"command": "true"}'
expect 200
for i in $(seq 2 512); do
	echo "url = $url/v1/processes/$(jq -r .id "$dir/many/$i")"
done > "$dir/urls"
curl -sS -m 120 -X DELETE -o /dev/null -K "$dir/urls" || fail "curl"
