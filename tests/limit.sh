#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit.sh SECONDS COMMAND...: run a test that must end by then.  One that does
# not fails, and its log tells what all of its processes were waiting for: a
# test that hangs must not take the rest of the tests with it.
limit=$1
shift

set -m # a process group for the test, which ends with it
PYTHONFAULTHANDLER=1 "$@" </dev/null &
test=$!
trap 'kill -TERM -- -$test; exit 143' TERM
trap 'kill -INT -- -$test; exit 130' INT
trap 'kill -HUP -- -$test; exit 129' HUP
sleep "$limit" &
nap=$!

# signal_all NAME: to what is left of the test.
signal_all() { kill -s "$1" -- -$test 2>/dev/null; }

wait -n -p ended $test $nap
status=$?
if [ "$ended" = $test ]; then
	kill $nap
	exit $status
fi

echo "limit.sh: not done after $limit s: $*"
ps -eH -o etimes,pid,ppid,pgid,stat,wchan:24,args |
	awk -v limit="$limit" 'NR == 1 || $1 <= limit + 1'
# Aborted, Python says where it was.
for pid in $(pgrep -g $test); do
	case $(readlink "/proc/$pid/exe") in
	*/python3*) kill -s ABRT "$pid" ;;
	esac
done
sleep 1
signal_all TERM
for ((i = 0; i < 300; i++)); do
	signal_all 0 || break
	sleep 0.1
done
signal_all KILL
exit 1
