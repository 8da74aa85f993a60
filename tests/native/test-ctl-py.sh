#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What sandboxctl py does, with a guestd and our kernel that run here.
. "${0%/*}/functions.sh"

for program in curl jq python3; do
	requires command -v $program
done
tool=${top_builddir:-../..}/tests/native/ctl-tool
SANDBOX_STATE=$dir/state
export SANDBOX_STATE

# Kernels outlive guestd, but not a test that fails.
end_kernels()
{
	for f in "$dir"/run/kernels/*.json; do
		[ ! -e "$f" ] || kill -9 "$(jq .pid "$f")" 2>/dev/null || :
	done
}
at_exit end_kernels

# A module with a sanitizer wants its runtime loaded before Python's memory.
asan=$(ldd ../../guest/bundle/python/sandbox_kernel/_core.abi3.so |
	awk '/libasan/ { print $3 }')
if [ -n "$asan" ]; then
	mkdir -p "$dir/run"
	printf 'LD_PRELOAD=%s\nASAN_OPTIONS=%s\n' "$asan" \
		detect_leaks=0:quarantine_size_mb=1 >"$dir/run/env"
fi

start_guestd --share ../../guest/bundle/share --no-auth
printf '{"url": "%s", "token_file": "%s"}' "$url" "$dir/token" >"$dir/box"
echo token >"$dir/token"

# As sandboxctl py; the sandbox is called demo.
py()
{
	"$tool" "$dir/box" py demo "$@"
}

# is GOT WANT TEXT
is()
{
	[ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"
}

# ends STATUS COMMAND...: what it prints goes to $dir/said and $dir/err.
ends()
{
	ends_want=$1 ends_got=0
	shift
	"$@" >"$dir/said" 2>"$dir/err" </dev/null || ends_got=$?
	is "$ends_got" "$ends_want" "the status of $*"
}

# told FILE TEXT
told()
{
	grep -qF -- "$2" "$dir/$1" || fail "no '$2' in $1: $(cat "$dir/$1")"
}

# State from call to call; the last expression is shown, None is not.
is "$(py 'x = 6 * 7')" "" "an assignment"
is "$(py x)" 42 "state"
is "$(py 'None')" "" "None"
is "$(py 'print("a", end=""); "b"')" "$(printf "a\n'b'")" "print and a value"
is "$(echo 'x + 1' | py -)" 43 "code from stdin"
is "$(echo 'x + 2' | py)" 44 "code from a pipe"
printf 'y = x\ny * 2\n' >"$dir/script.py"
is "$(py -f "$dir/script.py")" 84 "a file"
is "$(py '"\x1b]0;t\x07"; print("\x1b]0;t\x07")' | od -An -tx1 | tr -d ' \n')" \
	1b5d303b74070a "bytes, as they are, where no terminal is"

# stdout and stderr stay apart, and come while the cell runs.
py 'import sys; print("out"); print("err", file=sys.stderr)' \
	>"$dir/o" 2>"$dir/e"
is "$(cat "$dir/o") $(cat "$dir/e")" "out err" "two streams"
py 'import os, time
print("go", flush=True)
while not os.path.exists("'"$dir"'/now"): time.sleep(0.01)
print("on")' >"$dir/o" &
pid=$!
wait_until 60 grep -q go "$dir/o"
touch "$dir/now"
wait $pid || fail "a cell that prints as it goes"
is "$(tail -n 1 "$dir/o")" on "the rest of it"

# Exit statuses; tracebacks on stderr, without colours, and with the file.
ends 1 py '1/0'
told err "ZeroDivisionError: division by zero"
! grep -q "$(printf '\033')" "$dir/err" || fail "colours in a file"
is "$(cat "$dir/said")" "" "stdout of an exception"
printf 'def f():\n    raise KeyError("k")\nf()\n' >"$dir/bad.py"
ends 1 py -f "$dir/bad.py"
told err "bad.py], line 2"
ends 3 py 'import sys; sys.exit(3)'
is "$(cat "$dir/err")" "" "what sys.exit(3) says"
ends 0 py 'import sys; sys.exit()'
ends 1 py 'import sys; sys.exit("sorry")'
is "$(cat "$dir/err")" sorry "what sys.exit() says"

# input() asks us.
is "$(printf 'Bob\nrest\n' | py 'input("who? ") + input()')" \
	"who? 'Bobrest'" "input()"
ends 1 py 'input()'
told err EOFError
is "$(echo 'input()' | py - 2>&1 | grep -c EOFError)" 2 "input() of a pipe"

# One object.
py --json 'print("hi"); 1/0' >"$dir/j" || :
is "$(jq -r '"\(.exit_code) \(.status) \(.stdout) \(.error.ename)"' "$dir/j")" \
	"$(printf '1 error hi\n ZeroDivisionError')" "an object of an error"
py --json '[x, {"a": (1.5, None)}]' >"$dir/j"
is "$(jq -cr '"\(.exit_code) \(.status) \(.outputs | length) \(.result[0])"' \
	"$dir/j")" "0 ok 1 42" "an object with a value"
py --json 'x' >"$dir/j"
is "$(jq -r '"\(.exit_code) \(.status) \(.outputs[0].data["text/plain"])"' \
	"$dir/j")" "0 ok 42" "an object"
id=$(jq -r .kernel_id "$dir/j")

# Which kernel.
is "$(py --kernel "$id" x)" 42 "a kernel by its id"
is "$(py --kernel sandbox-python x)" 42 "a kernel by its kind"
ends 4 py --kernel nonesuch x
ends 4 py --kernel 01234567-0123-0123-0123-0123456789ab x

# Pictures: named by us, never in place of another file.
png='display({"image/png": "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHg", "text/plain": "<fig>"}, raw=True)'
mkdir "$dir/pics"
py "$png" >"$dir/o"
is "$(cat "$dir/o")" "[image/png 640x480, 24: save it with --out DIR]" "a note"
: >"$dir/precious"
py --json 'x' >"$dir/j"
n=$(($(jq .execution_count "$dir/j") + 1))
ln -s "$dir/precious" "$dir/pics/cell-$n-1.png"
py -o "$dir/pics" "$png" >"$dir/o"
is "$(cat "$dir/o")" "[image/png 640x480, 24: $dir/pics/cell-$n-2.png]" \
	"the name of a picture"
is "$(wc -c <"$dir/pics/cell-$n-2.png")" 24 "a picture"
[ ! -s "$dir/precious" ] || fail "a symlink was followed"
py -o "$dir/new/folder" 'display({"image/svg+xml": "<svg/>"}, raw=True)
display({"image/png": "no base64!"}, raw=True)
display({"text/markdown": "*hi*", "text/plain": "<object>"}, raw=True)
display({"text/html": "<b>big</b>"}, raw=True)' >"$dir/o"
is "$(cat "$dir"/new/folder/cell-*.svg)" "<svg/>" "a folder that was made"
told o "[image/png: not valid base64]"
told o "*hi*"
told o "[text/html, 10: $dir/new/folder/cell-"
is "$(py 'display({"text/html": "<style>x{}</style><p>big</p>"}, raw=True)')" \
	big "HTML as text"
ends 2 py --fresh -o "$dir/pics" x
ends 4 py -f "$dir/nonesuch.py"
ends 2 py -f "$dir/script.py" x

# Time runs out; the state is still there.
ends 7 py --timeout 1 'import time; time.sleep(60)'
told err "took longer than 1 s"
is "$(py x)" 42 "state after a timeout"

# sleeper NAME CODE: run it, wait for its first word; sets $pid.
sleeper()
{
	: >"$dir/$1"
	"$tool" "$dir/box" py demo "$2" >"$dir/$1" 2>"$dir/$1.err" </dev/null &
	pid=$!
	wait_until 60 grep -q go "$dir/$1"
}
# gone STATUS: how the sleeper ended.
gone()
{
	status=0
	wait $pid || status=$?
	is "$status" "$1" "the status after a signal"
}

# Ctrl-C interrupts, a second one leaves.
sleeper int 'import time; print("go", flush=True); time.sleep(60)'
kill -INT $pid
gone 130
told int.err KeyboardInterrupt
sleeper deaf 'import os, time
print("go", flush=True)
while not os.path.exists("'"$dir"'/enough"):
    try: time.sleep(0.01)
    except KeyboardInterrupt: print("not me", flush=True)'
kill -INT $pid
wait_until 60 grep -q "not me" "$dir/deaf"
kill -INT $pid
gone 130
told deaf.err "may still run"
touch "$dir/enough"
sleeper term 'import time; print("go", flush=True); time.sleep(60)'
kill -TERM $pid
gone 143
is "$(py x)" 42 "state after signals"

# While another's code runs, neither Ctrl-C nor a time limit is for that.
sleeper other 'import os, time
print("go", flush=True)
while not os.path.exists("'"$dir"'/other-go"): time.sleep(0.02)
print("undisturbed")'
other=$pid
ends 7 py --timeout 1 '1 + 1'
told err "busy"
"$tool" "$dir/box" py demo '1 + 1' >"$dir/o" 2>"$dir/behind.err" &
pid=$!
both_are_there()
{
	curl -sS "$url/api/kernels" | jq -e '.[0].connections == 2' >/dev/null
}
wait_until 60 both_are_there
# It may not have come to hear it yet.
is_left()
{
	kill -INT $pid
	grep -q "may still run" "$dir/behind.err"
}
wait_until 60 is_left
gone 130
touch "$dir/other-go"
pid=$other
gone 0
told other undisturbed

# A reader that goes away, and one that does not read.
py 'while True: print("yes")' | head -n 1 >"$dir/o"
is "$(py x)" 42 "state after a reader has gone"
mkfifo "$dir/fifo"
exec 9<>"$dir/fifo"
"$tool" "$dir/box" py demo 'while True: print("yes" * 1000)' \
	>"$dir/fifo" 2>"$dir/err" &
pid=$!
dd if="$dir/fifo" bs=1 count=3 >"$dir/o" 2>/dev/null
is_idle()
{
	curl -sS "$url/api/kernels/$id" |
		jq -e '.execution_state == "idle"' >/dev/null
}
kill -INT $pid
wait_until 120 is_idle
kill -INT $pid
gone 130
exec 9<&-
is "$(py x)" 42 "state after a reader that did not read"

# All of much output, also on a bad line.
is "$(py 'for i in range(200000): print(i)' | cksum)" \
	"$(seq 0 199999 | cksum)" "much output"
: >"$dir/cut"
python3 "${0%/*}/cut.py" "$port" 300000 >"$dir/cut" &
at_exit "kill $!"
wait_until 60 test -s "$dir/cut"
printf '{"url": "http://127.0.0.1:%s", "token_file": "%s"}' \
	"$(cat "$dir/cut")" "$dir/token" >"$dir/bad"
is "$("$tool" "$dir/bad" py demo 'import time
for i in range(200000):
    print(i)
    if i % 2000 == 0: time.sleep(0.02)' | cksum)" \
	"$(seq 0 199999 | cksum)" "much output on a bad line"

# A fresh python3: no state, code of any size and bytes.
ends 1 py --fresh 'print(x)'
told err "NameError"
ends 5 py --fresh 'import sys; print(sys.argv[0]); sys.exit(5)'
is "$(cat "$dir/said")" "-" "python3 -"
is "$(py -w / 'import os; print(os.getcwd())')" / "a folder"
is "$(py -e COLOUR=blue 'import os; print(os.environ["COLOUR"])')" blue \
	"a variable"
seq 30000 >"$dir/big.py"
echo 'print("end")' >>"$dir/big.py"
is "$(py --fresh - <"$dir/big.py")" end "much code in a fresh python3"
yes '# a comment that is there for nothing but its length' |
	head -c 9000000 >"$dir/big.py"
ends 2 py -f "$dir/big.py"
told err "more than 8 MiB"
ends 2 py "$(printf '"\377"')"
told err "not UTF-8"

# The kernel dies, and starts anew on request.
ends 0 py --reset 'y = 1'
ends 1 py x
told err NameError
ends 11 py 'import os; os._exit(4)'
told err "the kernel died: the kernel ended with exit code 4"
ends 1 py y
told err NameError

# The REPL, on a terminal.
if [ -e "$(ldconfig -p | sed -n 's/.* \(.*libedit.so.2\)$/\1/p' | head -n 1)" ]
then
	URL=$url timeout 300 python3 "${0%/*}/ctl-repl.py" "$dir/state/py-history" \
		"$tool" "$dir/box" py demo || fail "the REPL"
fi

# Without guestd a fresh python3 is tried, over SSH, and that is said.
end_kernels
stop_guestd
ends 1 py --via guestd x
told err "cannot connect"
ends 9 py x
told err "without the state of earlier calls"
told err "using SSH"
ends 9 py --via ssh x
told err "without the state of earlier calls"
