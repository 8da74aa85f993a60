#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bad input, and clients and commands that mean no good: each gets its problem,
# and guestd stays up and small.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
requires python3 --version
requires socat -V
# A sanitizer keeps what was freed: not as much as we measure.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:quarantine_size_mb=16"
start_guestd --no-auth
f=$dir/files
mkdir "$f"

hostile()
{
	timeout 120 python3 "$srcdir/hostile.py" "$port" "$guestd_pid" "$@" \
		2> "$dir/hostile.err" ||
		fail "$1: $(tail -3 "$dir/hostile.err")"
}

# refused STATUS TEXT ROUTE BODY [CURL-OPTION...]: a problem that says TEXT.
refused()
{
	want=$1 text=$2 route=$3 body=$4
	shift 4
	request "$route" --data-binary "$body" "$@"
	expect "$want" "$text"
	grep -qi '^content-type: application/problem+json' "$dir/head" ||
		fail "no problem+json for $body"
	jq -e --argjson s "$want" '.status == $s and .code and .detail' \
		"$dir/body" > /dev/null || fail "$(cat "$dir/body")"
}

exec_=/v1/shell/exec
for body in '{' '[' '{"command"}' '{"command": "true",}' "{'command': 1}" \
	'{"command": "a" "b"}' '{"command": "\ud800"}' 'command=true' '{}x'; do
	refused 400 'not valid JSON' $exec_ "$body"
done
refused 400 'JSON object' $exec_ '["true"]'
refused 400 'JSON object' $exec_ 'null'
refused 400 'duplicate' $exec_ '{"command": "true", "command": "false"}'
refused 400 "'colour'" $exec_ '{"command": "true", "colour": 1}'
refused 400 "'command'" $exec_ '{"command": ["true"]}'
refused 400 "'command'" $exec_ '{}'
refused 400 "'cwd'" $exec_ '{"command": "true", "cwd": 1}'
refused 400 "'env'" $exec_ '{"command": "true", "env": ["A=1"]}'
refused 400 "'background'" $exec_ '{"command": "true", "background": "x"}'
for t in -1 -0.001 '"5"' true 1e99 99999999; do
	refused 400 "'timeout'" $exec_ "{\"command\": \"true\", \"timeout\": $t}"
done
for n in -1 0.5 '"1"' 99999999999; do
	refused 400 "'max_output'" $exec_ \
		"{\"command\": \"true\", \"max_output\": $n}"
done
# As deep as 8 MB go.
head -c 8000000 /dev/zero | tr '\0' '[' > "$f/deep"
refused 400 'not valid JSON' $exec_ "@$f/deep"

# A NUL would cut a path short: the answer names the field.
refused 400 "'path' must not hold a NUL" /v1/file/read '{"path": "/etc\u0000x"}'
refused 400 "'command' must not hold a NUL" $exec_ '{"command": "a\u0000b"}'
refused 400 "'A' must not hold a NUL" $exec_ \
	'{"command": "true", "env": {"A": "a\u0000b"}}'
request '/v1/file/read?path=/etc%00x'
expect 400 "'path'"

# Bodies that are not what is read.
printf '{"command": "true"}' | gzip > "$f/gzip"
refused 415 remediation $exec_ "@$f/gzip" -H 'Content-Encoding: gzip'
refused 415 "'text/xml'" $exec_ '<command/>' -H 'Content-Type: text/xml'
refused 415 'application/json' $exec_ '{"command": "true"}' \
	-H 'Content-Type: multipart/form-data; boundary=x'
refused 415 'multipart/form-data' /v1/file/upload 'x' \
	-H 'Content-Type: text/plain'
request $exec_ -d '{"command": "echo read"}' -H 'Content-Encoding: identity' \
	-H 'Content-Type: application/vnd.x+json; charset=utf-8'
expect 200 read

# One who has nothing more to say still gets the answer.
body='{"command": "sleep 0.2; echo late"}'
printf 'POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s' \
	$exec_ ${#body} "$body" |
	socat -t 20 - "TCP:127.0.0.1:$port" > "$dir/answer"
grep -q '"stdout":"late\\n"' "$dir/answer" ||
	fail "half closed: $(cat "$dir/answer")"

hostile huge-head
hostile huge-body
hostile slow-loris
truncate -s 1G "$f/big"
hostile never-reads "$f/big"

# What does not want to end is ended, and what it printed is kept.
request $exec_ -d '{"command": "trap \"\" TERM; echo stubborn; while :; do sleep 1; done", "timeout": 0.5}'
expect 200 '"stubborn\n"'
jq -e '.timed_out and .signal == "SIGKILL"' "$dir/body" > /dev/null ||
	fail "$(cat "$dir/body")"

# A command has a limit on its processes: its own, or the account's.
groups=none
if grep -q 'control groups for commands in' "$dir/run/guestd.log"; then
	groups=groups
fi
if grep -q 'without a limit' "$dir/run/guestd.log" || [ $groups = none ]; then
	request $exec_ -d '{"command": "ulimit -u"}'
	[ "$(jq -r '.stdout | tonumber' "$dir/body")" -le 4096 ] ||
		fail "no limit on processes: $(cat "$dir/body")"
fi
hostile fork-bomb $groups

# Many short commands: each is right, and none leaves anything behind.
resources()
{
	awk '$1 == "VmRSS:" { print int($2 / 1024) }' "/proc/$guestd_pid/status"
	awk '$1 == "Threads:" { print $2 }' "/proc/$guestd_pid/status"
	find "/proc/$guestd_pid/fd" -type l | wc -l
}

many()
{
	timeout 300 python3 "$srcdir/../bench/peers/many-commands.py" \
		127.0.0.1 "$port" "$1" || fail "$1 commands"
}

has_as_few_fds()
{
	[ "$(resources | sed -n 3p)" -le "$fds_before" ]
}

many 400 # as many as are remembered
rss_before=$(resources | sed -n 1p)
threads_before=$(resources | sed -n 2p)
fds_before=$(resources | sed -n 3p)
many 2000
wait_until 20 has_as_few_fds
[ "$(resources | sed -n 2p)" -le "$threads_before" ] ||
	fail "threads: $(resources)"
# A sanitizer keeps what was freed.
grep -qa __asan_init "$guestd" ||
	[ "$(resources | sed -n 1p)" -le $((rss_before + 8)) ] ||
	fail "memory, MB: $rss_before, then $(resources | sed -n 1p)"
