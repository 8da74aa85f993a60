#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel gateway of guestd and Jupyter's own server, with the same kernel in
# the same run.  KERNEL=NAME takes another one than ipykernel.
set -eu
guestd=${GUESTD:-${top_builddir:-../..}/guest/guestd}
srcdir=${srcdir:-$(dirname "$0")}
python=/usr/bin/python3
kernel=${KERNEL:-python3}

"$python" -c 'import ipykernel, jupyter_server, websocket' 2>/dev/null || {
	echo "bench-gateway needs python3-ipykernel, python3-jupyter-server and python3-websocket" >&2
	exit 77
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/sandbox-bench.XXXXXX")
pids=
finish()
{
	for p in $pids; do
		kill "$p" 2>/dev/null || :
	done
	rm -rf "$dir"
}
trap finish EXIT

echo token > "$dir/token"
"$guestd" --port 0 --token-file "$dir/token" --run-dir "$dir/run" > "$dir/out" &
ours=$!
pids="$pids $ours"
until grep -q '^listening' "$dir/out"; do
	sleep 0.05
done
url=http://127.0.0.1:$(sed -n 's/^listening .* port //p' "$dir/out")
idle=$(awk '/^VmRSS/ { print $2 / 1000 }' "/proc/$ours/status")
"$python" "$srcdir/bench-gateway.py" "$url" token "$kernel" "$ours" > "$dir/ours"

port=$("$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
HOME=$dir "$python" -m jupyter_server --ServerApp.ip=127.0.0.1 \
	--ServerApp.port="$port" --ServerApp.token=token --allow-root \
	--ServerApp.root_dir="$dir" --no-browser 2> "$dir/err" &
peer=$!
pids="$pids $peer"
until curl -fs "http://127.0.0.1:$port/api?token=token" > /dev/null; do
	kill -0 "$peer" 2>/dev/null || {
		cat "$dir/err" >&2
		exit 1
	}
	sleep 0.1
done
"$python" "$srcdir/bench-gateway.py" "http://127.0.0.1:$port" token "$kernel" \
	"$peer" > "$dir/peer"

row()
{
	printf '%-44s %10.1f %14.1f\n' "$1" "$(jq "$2" "$dir/ours")" \
		"$(jq "$2" "$dir/peer")"
}
printf '%-44s %10s %14s\n' "kernel $kernel" guestd jupyter_server
row 'POST /api/kernels to kernel_info_reply, ms' .start_ms
row '1+1 over the WebSocket to idle, ms' .rtt_ms
row '  99th percentile' .rtt_p99_ms
row '10,000 flushed lines, lines/s' .lines_s
row '  lost, %' .lost_pct
row '10 MB in one write, lost, %' .big_lost_pct
row 'memory after all that, MB' .rss_mb
echo "memory of guestd before any kernel: $idle MB"
