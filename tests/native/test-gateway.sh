#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel gateway: REST, all framings, several clients, nothing lost.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import ipykernel, websocket'
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

gateway()
{
	"$python" "$srcdir/gateway.py" "$url" "$token" "$@" > "$dir/case" 2>&1 || {
		cat "$dir/case" >&2
		fail "case $*"
	}
}

token=0123456789abcdef0123456789abcdef
bundle_kernels
a_workspace
WORKSPACE=$dir/work
export WORKSPACE
mkdir "$WORKSPACE/sub"
start_guestd --share ../../guest/bundle/share --control "$dir/none"
for case in rest auth framings routing bash many output reconnect slow death \
	run sessions; do
	gateway "$case"
done

# A file that becomes a FIFO at any moment does not hold guestd up.
spec=$HOME/.local/share/jupyter/kernels/odd
mkdir -p "$spec"
mkfifo "$spec/fifo"
echo '{"argv": ["true"]}' > "$spec/file"
"$python" -c 'import os, sys
os.chdir(sys.argv[1])
while os.getppid() == int(sys.argv[2]):
    for name in "file", "fifo":
        os.link(name, "new")
        os.rename("new", "kernel.json")' "$spec" $$ &
swaps=$!
i=0
while [ $((i += 1)) -le 100 ]; do
	request /api/kernelspecs -H "Authorization: token $token"
	expect 200 kernelspecs
done
kill "$swaps"
wait "$swaps" || :
rm -r "$spec"

# The kernel goes on while there is no guestd, and keeps its session; one that
# ends meanwhile does not.
gateway leave
read -r kid doomed session lost < "$dir/case"
[ "$(stat -c %a "$dir/run/sessions.json")" = 600 ] || fail "sessions.json"
stop_guestd
kill -9 "$(jq .pid "$dir/run/kernels/$doomed.json")"
start_guestd --share ../../guest/bundle/share --control "$dir/none"
gateway found "$kid" "$doomed" "$session" "$lost"
stop_guestd

# A kernel that cannot be written down is not left running.
start_guestd --share ../../guest/bundle/share --control "$dir/none"
kid=00000000-0000-0000-0000-00000000abcd
mkdir "$dir/run/kernels/$kid.json"
request /api/kernels -H "Authorization: token $token" \
	-d '{"kernel_id": "'$kid'"}'
[ "$status" -ge 400 ] || fail "status $status"
! pgrep -f "$dir/run/kernels/$kid/" || fail "it runs"
rmdir "$dir/run/kernels/$kid.json"
request /api/kernels -H "Authorization: token $token" \
	-d '{"kernel_id": "'$kid'"}'
expect 201
mv "$dir/run/kernels/$kid.json" "$dir/run/kernels/was"
mkdir "$dir/run/kernels/$kid.json"
request "/api/kernels/$kid/restart" -H "Authorization: token $token" -X POST
[ "$status" -ge 400 ] || fail "status $status"
! pgrep -f "$dir/run/kernels/$kid/" || fail "it runs"
rmdir "$dir/run/kernels/$kid.json"
request "/api/kernels/$kid/restart" -H "Authorization: token $token" -X POST
expect 200 '"idle"'
request "/api/kernels/$kid" -H "Authorization: token $token" -X DELETE
expect 204
rm "$dir/run/kernels/was"
stop_guestd

# What was written down and makes no sense is no reason not to start.
for bad in '' '[{"id' '{}' '[1, {"id": "x"}]' \
	'[{"id": "00000000-0000-0000-0000-000000000000", "path": "a", "type": "b"}]'; do
	printf '%s' "$bad" > "$dir/run/sessions.json"
	: > "$dir/run/guestd.log"
	start_guestd --share ../../guest/bundle/share --control "$dir/none"
	grep -q 'sessions' "$dir/run/guestd.log" || fail "nothing was said of '$bad'"
	request /api/sessions -H "Authorization: token $token"
	expect 200 '[]'
	stop_guestd
done

start_guestd --share ../../guest/bundle/share --control "$dir/none" --origin https://lab.example
gateway cors
stop_guestd

start_guestd --share ../../guest/bundle/share --control "$dir/none" --max-kernels 1 --warm-kernel \
	--cull-idle 3
gateway limits
stop_guestd

# The next guestd keeps the warm kernel for whom it may come, and starts no
# other.
start_warm()
{
	start_guestd --share ../../guest/bundle/share --control "$dir/none" \
		--warm-kernel
}
warm_pids()
{
	jq -c -s 'map(select(.warm).pid)' "$dir"/run/kernels/*.json
}
is_warm()
{
	warm_pids | jq -e 'length == 1'
}
start_warm
wait_until 60 is_warm
before=$(warm_pids)
stop_guestd
start_warm
gateway warm
[ "$(jq -c -s . "$dir/case")" = "$before" ] || fail "not the kernel that was warm"
