#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel gateway of guestd with our own kernel, and Jupyter's own server
# with ipykernel as they are shipped, in the same run.  KERNEL=NAME puts another
# kernel behind guestd.
# bench-gateway.sh --guest NAME measures a sandbox that runs.
set -eu
top_builddir=${top_builddir:-../..}
srcdir=${srcdir:-$(dirname "$0")}
python=/usr/bin/python3
kernel=${KERNEL:-sandbox-python}

"$python" -c 'import websocket' 2>/dev/null || {
	echo "bench-gateway needs python3-websocket" >&2
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

# start_guestd OPTION...: sets $url and $ours.
start_guestd()
{
	: > "$dir/out"
	"$top_builddir/guest/guestd" --port 0 --token-file "$dir/token" \
		--share "$top_builddir/guest/bundle/share" "$@" > "$dir/out" &
	ours=$!
	pids="$pids $ours"
	until grep -q '^listening' "$dir/out"; do
		sleep 0.05
	done
	url=http://127.0.0.1:$(sed -n 's/^listening .* port //p' "$dir/out")
}

# measure FILE URL TOKEN KERNEL PID WHAT...
measure()
{
	file=$1
	shift
	"$python" "$srcdir/bench-gateway.py" "$@" >> "$dir/$file"
}

# value FILE KEY
value()
{
	[ ! -e "$dir/$1" ] || jq -s -r "add | .$2 |
		if . == null then \"-\" else (. * 100 | round / 100) end" "$dir/$1"
}

row()
{
	printf '%-46s %16s %16s\n' "$1" "$(value ours "$2")" "$(value peer "$2")"
}

table()
{
	printf '%-46s %16s %16s\n' "$1" "$2" "${3:-}"
	row '1+1 over the WebSocket to idle, ms' trip_ms
	row '  99th percentile' trip_p99_ms
	row 'POST /api/kernels to kernel_info_reply, ms' cold_ms
	row '  with --warm-kernel' warm_ms
	row '10,000 flushed lines, lines/s' lines_s
	row '  lost, %' lines_lost
	row '100 MB of output, MB/s' flood_mb_s
	row '  lost, %' flood_lost
	row "  the server's memory at most, MB" flood_peak_mb
	row 'a client vanishes and is back, lost, %' back_lost
	row '  with another session, lost, %' other_lost
	row 'memory of server and one idle kernel, MB' idle_mb
	row '  of the server alone' idle_server_mb
}

if [ "${1:-}" = --guest ]; then
	"$top_builddir/run" sandboxctl info "$2" --json > "$dir/info"
	token=$(cat "$(jq -r .token_file "$dir/info")")
	measure ours "$(jq -r .url "$dir/info")" "$token" "$kernel" guest \
		idle cold warm trip lines flood reconnect
	table "in the guest '$2'" "$kernel"
	exit
fi

"$python" -c 'import ipykernel, jupyter_server' 2>/dev/null || {
	echo "bench-gateway needs python3-ipykernel and python3-jupyter-server" >&2
	exit 77
}
echo token > "$dir/token"
start_guestd --run-dir "$dir/run"
measure ours "$url" token "$kernel" "$ours" idle
measure ours "$url" token "$kernel" "$ours" cold trip lines flood reconnect
start_guestd --run-dir "$dir/run-warm" --warm-kernel
measure ours "$url" token "$kernel" "$ours" warm

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
measure peer "http://127.0.0.1:$port" token python3 "$peer" \
	idle cold trip lines flood reconnect
table 'kernel gateways' "guestd, $kernel" jupyter_server
echo "round trips: $(jq -n --argjson a "$(value peer trip_ms)" \
	--argjson b "$(value ours trip_ms)" '$a / $b * 10 | round / 10') x"
