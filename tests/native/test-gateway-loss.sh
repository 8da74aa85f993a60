#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel gateway when there is much to say, too little memory, or no guestd.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import websocket, zmq'
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

gateway()
{
	"$python" "$srcdir/gateway-loss.py" "$url" "$token" "$@" \
		> "$dir/case" 2>&1 || {
		cat "$dir/case" >&2
		fail "case $*"
	}
}

token=0123456789abcdef0123456789abcdef
bundle_kernels
a_workspace
WORKSPACE=$dir/work
export WORKSPACE

# Another Python, with a package that only it has.
"$python" -m venv --without-pip "$WORKSPACE/env"
echo 'x = 7' > "$(echo "$WORKSPACE"/env/lib/python3*/site-packages)/only_here.py"

mkdir -p "$HOME/.local/share/jupyter/kernels/foreign"
printf '{"argv": ["%s", "%s", "{connection_file}"], "display_name": "foreign",
	"language": "none"}' "$python" "$(realpath "$srcdir/foreign-kernel.py")" \
	> "$HOME/.local/share/jupyter/kernels/foreign/kernel.json"

start_guestd --share ../../guest/bundle/share --control "$dir/none" --journal 8
for case in all token pythons skip half_open heir last_words; do
	gateway "$case"
done
gateway total "$guestd_pid" $((4 * 8 << 20))

# What a kernel says while there is no guestd waits for the next one.
gateway leave "$dir"
left=$(cat "$dir/case")
kill -9 "$guestd_pid"
wait "$guestd_pid" || :
guestd_pid=
: > "$dir/alone"
wait_until 60 test -e "$dir/over"
start_guestd --share ../../guest/bundle/share --control "$dir/none"
gateway back "$left"

# A kernel that answers nothing until its cell is over is one all the same.
gateway leave_deaf "$dir"
left=$(cat "$dir/case")
stop_guestd
start_guestd --share ../../guest/bundle/share --control "$dir/none"
gateway back_deaf "$left"

# memory_group DIR FILE: a group with a limit, if we may make one.
memory_group()
{
	mkdir "$1" 2>/dev/null || return 1
	at_exit "rmdir $1"
	echo $((256 << 20)) 2>/dev/null > "$1/$2"
}
group=/sys/fs/cgroup/memory/sandbox-test-$$
if memory_group "$group" memory.limit_in_bytes; then
	gateway oom "$group" $((256 << 20))
else
	echo "not tested: a kernel without memory, as no group can be made for it"
fi
