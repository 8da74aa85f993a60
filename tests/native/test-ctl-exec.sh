#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What sandboxctl exec does, with a guestd that runs here.
. "${0%/*}/functions.sh"

for program in jq python3 script; do
	requires command -v $program
done
tool=${top_builddir:-../..}/tests/native/ctl-tool

start_guestd --no-auth
printf '{"url": "%s", "token_file": "%s"}' "$url" "$dir/token" >"$dir/box"
echo token >"$dir/token"

run()
{
	"$tool" "$dir/box" exec "$@"
}

# is GOT WANT TEXT
is()
{
	[ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"
}

# ends STATUS COMMAND...: what it prints goes to $dir/said.
ends()
{
	ends_want=$1 ends_got=0
	shift
	"$@" >"$dir/said" 2>&1 </dev/null || ends_got=$?
	is "$ends_got" "$ends_want" "the status of $*"
}

# Arguments arrive as they are, whatever their bytes.
is "$(run printf '<%s>' 'a b' '' '$HOME' '*' "$(printf 'x\ny')")" \
	"$(printf '<%s>' 'a b' '' '$HOME' '*' "$(printf 'x\ny')")" words
is "$(run printf '%s' "$(printf '\377\001')" | od -An -tx1)" ' ff 01' \
	"bytes that are not UTF-8"
is "$(run sh -c 'echo $0')" sh "the name of the program"
is "$("$tool" -w / -e COLOUR=blue "$dir/box" exec sh -c 'pwd; echo $COLOUR')" \
	"$(printf '/\nblue')" "folder and environment"

# Statuses.
ends 0 run true
ends 7 run sh -c 'exit 7'
ends 143 run sh -c 'kill -TERM $$'
ends 127 run nonesuch-program
grep -q 'nonesuch-program: not found' "$dir/said" || fail "nothing said of it"
ends 126 run /etc/passwd
ends 2 "$tool" -w /nonesuch "$dir/box" exec true
ends 2 "$tool" -e 1=x "$dir/box" exec true

# stdout and stderr stay apart; late output is waited for.
run sh -c 'echo out; echo err >&2; (sleep 0.3; echo late) &' \
	>"$dir/o" 2>"$dir/e" </dev/null
is "$(cat "$dir/o")" "$(printf 'out\nlate')" stdout
is "$(cat "$dir/e")" err stderr

# Many bytes, both ways, more than guestd keeps; stdin ends.
head -c 100000000 /dev/urandom >"$dir/blob"
"$tool" -i "$dir/box" exec cat <"$dir/blob" >"$dir/back"
cmp "$dir/blob" "$dir/back" || fail "bytes were changed on their way"
rm "$dir/back"
is "$("$tool" -i "$dir/box" exec head -c 5 <"$dir/blob" | wc -c)" 5 \
	"a command that does not read all of its input"
is "$(run cat </dev/null | wc -c)" 0 "no input without -i"

# One object.
"$tool" -j "$dir/box" exec sh -c 'printf "\\377"; echo oops >&2; exit 4' \
	>"$dir/j" || :
is "$(jq -r '"\(.exit_code) \(.stdout) \(.stdout_encoding) \(.stderr)"' \
	"$dir/j")" "4 /w== base64 oops" "an object"

# A signal to us reaches the command.
"$tool" "$dir/box" exec sh -c 'trap "echo caught; exit 9" INT; echo go; while :; do sleep 0.1; done' \
	>"$dir/o" &
pid=$!
wait_until 10 grep -q go "$dir/o"
kill -INT $pid
status=0
wait $pid || status=$?
is "$status" 9 "the status after a signal"
grep -q caught "$dir/o" || fail "the signal did not arrive"

# When we are killed, the command is hung up on.
"$tool" "$dir/box" exec sh -c 'trap "echo hup >'"$dir"'/hup; exit" HUP; echo go
while :; do sleep 0.1; done' >"$dir/killed" &
pid=$!
wait_until 10 grep -q go "$dir/killed"
kill -KILL $pid
wait_until 20 test -e "$dir/hup"

# So it is when nobody reads what it prints.
run sh -c 'echo $$ >'"$dir"'/yes; exec yes' | head -n 1 >"$dir/o"
wait_until 20 sh -c "! kill -0 $(cat "$dir/yes")"

# -t: a terminal of our size; its status; a program that is not there.
is "$(printf '' | SHELL=/bin/sh script -qec "stty cols 101 rows 33
	'$tool' -t '$dir/box' exec stty size" /dev/null | tr -cd '0-9 ')" \
	"33 101" "the size of a terminal"
ends 6 "$tool" -t "$dir/box" exec sh -c 'tty; exit 6'
grep -q /dev/pts "$dir/said" || fail "no terminal: $(cat "$dir/said")"
ends 137 "$tool" -t "$dir/box" exec sh -c 'kill -KILL $$'
ends 127 "$tool" -t "$dir/box" exec nonesuch-program
is "$("$tool" -t "$dir/box" exec seq 200000 </dev/null | tail -n 1 |
	tr -d '\r')" 200000 "all output of a terminal"

# A connection that is lost is taken up where it was.
# bad_line BYTES: cut after so many; makes $dir/bad.
bad_line()
{
	: >"$dir/cut"
	python3 "${0%/*}/cut.py" "$port" "$1" >"$dir/cut" &
	at_exit "kill $!"
	wait_until 10 test -s "$dir/cut"
	printf '{"url": "http://127.0.0.1:%s", "token_file": "%s"}' \
		"$(cat "$dir/cut")" "$dir/token" >"$dir/bad"
}
bad_line 300000
head -c 3000000 "$dir/blob" >"$dir/part"
"$tool" "$dir/bad" exec cat "$dir/part" >"$dir/back" </dev/null
cmp "$dir/part" "$dir/back" || fail "output was lost with its connection"
bad_line 60000
is "$("$tool" -t "$dir/bad" exec seq 20000 </dev/null | tr -d '\r' | cksum)" \
	"$(seq 20000 | cksum)" "output of a terminal after lost connections"

# guestd is gone: nothing is started twice, and --via guestd says so.
stop_guestd
ends 1 "$tool" -v guestd "$dir/box" exec true
grep -q 'cannot connect' "$dir/said" || fail "no reason: $(cat "$dir/said")"
ends 9 run true
grep -q 'guestd does not answer.*using SSH' "$dir/said" ||
	fail "no note: $(cat "$dir/said")"
