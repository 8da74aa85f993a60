#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The TCP ports of kernels, with the clients that speak ZeroMQ themselves.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires jq --version
requires "$python" -c 'import jupyter_client'

token=0123456789abcdef
echo "$token" > "$dir/token"
RUN_DIR=$dir/run
export RUN_DIR

ports()
{
	"$python" -W ignore "$srcdir/kernel-ports.py" "$url" "$token" \
		"$guestd_pid" "$@" > "$dir/case" 2>&1 || {
		cat "$dir/case" >&2
		fail "case $*"
	}
}

bundle_kernels
start_guestd --share ../../guest/bundle/share --token-file "$dir/token"
for case in cells wrong_key interrupt output slow restart limits \
	foreign_socket cut bytes close; do
	ports "$case"
done

# What a kernel says past Jupyter is in the log of kernels, with its beginning
# and its end.
mkdir -p "$HOME/.local/share/jupyter/kernels/broken"
echo '{"argv": ["/bin/sh", "-c", "echo past Jupyter >&2; exit 3"],
	"display_name": "broken", "language": "none"}' \
	> "$HOME/.local/share/jupyter/kernels/broken/kernel.json"
request /api/kernels -H "Authorization: Bearer $token" -d '{"name": "broken"}'
expect 201
wait_until 20 grep -q 'exit code 3' "$dir/run/jupyter.log"
grep -q '"msg":"the kernel starts"' "$dir/run/jupyter.log" || fail "no start"
grep -q 'ended by signal 9 (SIGKILL)' "$dir/run/jupyter.log" || fail "no end"
request '/v1/logs?source=kernel' -H "Authorization: Bearer $token"
expect 200 '"msg":"past Jupyter"'

# The kernel, and clients of its ports, outlive guestd.
ports leave
LEFT=$(cat "$dir/case")
export LEFT
stop_guestd
start_guestd --share ../../guest/bundle/share --token-file "$dir/token" \
	--journal 8
ports found

# A client that reads nothing is not waited for without end.
ports bound
[ "$(grep -c 'a slow client .* is cut off: more than 8388608 bytes' \
	"$dir/run/guestd.log")" = 1 ] || fail "not told once"
