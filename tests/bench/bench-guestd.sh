#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guestd beside a FastAPI server with the same endpoints, in one run and on
# loopback: printed, never asserted.  SECONDS_EACH and CLIENTS change the load.
set -eu

here=$(dirname "$0")
guestd=${GUESTD:-${top_builddir:-../..}/guest/guestd}
seconds=${SECONDS_EACH:-4}
clients=${CLIENTS:-16}
# Debian's, for it has the packages.
python=${PYTHON:-/usr/bin/python3}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/sandbox-bench.XXXXXX")
pids=()

fail() {
	echo "bench-guestd: $*" >&2
	exit 1
}

on_exit() {
	local pid
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || :; done
	wait
	rm -rf "$dir"
}
trap on_exit EXIT

for tool in wrk curl jq; do
	command -v "$tool" >/dev/null || fail "needs '$tool' (packages.list)"
done
"$python" -c 'import fastapi, uvicorn, uvloop, httptools' 2>/dev/null ||
	fail "needs python3-fastapi, -uvicorn, -uvloop, -httptools"

# wait_until SECONDS COMMAND...
wait_until() {
	local limit=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < limit)) || fail "gave up on: $*"
		sleep 0.05
	done
}

free_port() {
	"$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_guestd() {
	"$guestd" --no-auth --port 0 --run-dir "$dir/run" >"$dir/out" 2>&1 &
	our_pid=$!
	pids+=("$our_pid")
	wait_until 20 grep -q '^listening' "$dir/out"
	our_port=$(sed -n 's/^listening .* port //p' "$dir/out")
	ours=http://127.0.0.1:$our_port
}

start_peer() {
	local port
	port=$(free_port)
	"$python" "$here/peers/fastapi-server.py" "$port" 2>"$dir/peer.err" &
	peer_pid=$!
	pids+=("$peer_pid")
	peer=http://127.0.0.1:$port
	wait_until 20 curl -sf "$peer/health"
}

# memory PID FIELD: kB, VmRSS now or VmHWM at its highest.
memory() { awk -v f="$2:" '$1 == f { print $2 }' "/proc/$1/status"; }
mb() { awk -v k="$1" 'BEGIN { printf "%.1f", k / 1024 }'; }
# forget_peak PID: VmHWM begins anew, where we may.
forget_peak() { echo 5 2>/dev/null >"/proc/$1/clear_refs" || :; }

row() { printf '| %-38s | %10s | %10s | %7s | %-16s |\n' "$@"; }
# verdict VALUE OPERATOR GOAL
verdict() {
	awk -v a="$1" -v o="$2" -v b="$3" 'BEGIN {
		met = o == ">=" ? a >= b : a <= b
		printf "%s%s %s", o == ">=" ? "≥" : "≤", b, met ? "met" : "MISSED" }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", b ? a / b : 0 }'; }

# rate URL [BODY]: requests/s; every answer must be a good one.
rate() {
	local url=$1 lua=()
	if [ $# -gt 1 ]; then
		printf 'wrk.method = "POST"\nwrk.body = %s\nwrk.headers["Content-Type"] = "application/json"\n' \
			"[[$2]]" >"$dir/post.lua"
		lua=(-s "$dir/post.lua")
	fi
	wrk -t1 -c"$clients" -d"${seconds}s" --timeout 10s "${lua[@]}" "$url" >"$dir/wrk"
	if grep -qE 'Non-2xx|Socket errors' "$dir/wrk"; then
		cat "$dir/wrk" >&2
		fail "$url: not every answer was good"
	fi
	awk '/^Requests\/sec/ { print $2 }' "$dir/wrk"
}

# compare NAME GOAL PATH [BODY]
compare() {
	local name=$1 goal=$2 path=$3 a b
	shift 3
	b=$(rate "$peer$path" "$@")
	a=$(rate "$ours$path" "$@")
	row "$name" "$a/s" "$b/s" "$(ratio "$a" "$b")x" \
		"$(verdict "$(ratio "$a" "$b")" '>=' "$goal")"
}

# transfer NAME PID CURL-ARGUMENT...: MB/s, and by how many MB the peak grew.
transfer() {
	local pid=$1 before peak speed
	shift
	before=$(memory "$pid" VmRSS)
	forget_peak "$pid"
	speed=$(curl -sf -m 300 -o "$dir/answer" -w '%{speed_download} %{speed_upload}' "$@") ||
		fail "curl $*"
	peak=$(memory "$pid" VmHWM)
	awk -v s="$speed" -v g=$((peak - before)) 'BEGIN { split(s, v, " ")
		printf "%.0f %.1f\n", (v[1] > v[2] ? v[1] : v[2]) / 1e6, g / 1024 }'
}

transfers() {
	local a b
	head -c 1000000000 /dev/zero >"$dir/big"
	a=$(transfer "$our_pid" "$ours/v1/file/download?path=$dir/big")
	b=$(transfer "$peer_pid" "$peer/v1/file/download?path=$dir/big")
	row '1 GB download, MB/s' "${a% *}" "${b% *}" "$(ratio "${a% *}" "${b% *}")x" ''
	row '  memory it took, MB' "${a#* }" "${b#* }" '' "$(verdict "${a#* }" '<=' 4)"
	a=$(transfer "$our_pid" -T "$dir/big" "$ours/v1/file?path=$dir/up")
	cmp -s "$dir/big" "$dir/up" || fail "the upload is not what was sent"
	rm "$dir/up"
	b=$(transfer "$peer_pid" -T "$dir/big" "$peer/v1/file?path=$dir/up")
	rm "$dir/up" "$dir/big"
	row '1 GB upload, MB/s' "${a% *}" "${b% *}" "$(ratio "${a% *}" "${b% *}")x" ''
	row '  memory it took, MB' "${a#* }" "${b#* }" '' "$(verdict "${a#* }" '<=' 4)"
}

# idle NAME PATH [websocket]: a thousand clients that wait.
idle() {
	local name=$1 pid kb
	shift
	mkfifo "$dir/hold"
	"$python" "$here/peers/idle-clients.py" 127.0.0.1 "$our_port" 1000 "$@" \
		<"$dir/hold" >"$dir/idle" &
	pid=$!
	exec 9>"$dir/hold"
	wait_until 60 grep -q . "$dir/idle"
	kb=$(memory "$our_pid" VmRSS)
	exec 9>&-
	wait "$pid"
	rm "$dir/hold"
	row "$name" "$(mb "$kb")" - '' "$(verdict "$(mb "$kb")" '<=' 32)"
}

idle_clients() {
	local id
	id=$(curl -sf -d '{"command": "sleep 300", "background": true}' "$ours/v1/shell/exec" | jq -r .id)
	idle '1,000 idle SSE clients, MB in all' "/v1/processes/$id/output?follow=1"
	curl -sf -X DELETE "$ours/v1/processes/$id" >/dev/null
	id=$(curl -sf -d '{"command": "sleep 300"}' "$ours/v1/terminals" | jq -r .id)
	idle '1,000 idle WebSockets, MB in all' "/v1/terminal/ws?id=$id" websocket
	curl -sf -X DELETE "$ours/v1/terminals/$id" >/dev/null
}

# Ten thousand commands: none may fail, and none may leave anything behind.
commands() {
	local before after
	before=$(resources)
	"$python" "$here/peers/many-commands.py" 127.0.0.1 "$our_port" 10000 ||
		fail "a command gave a wrong answer"
	after=$(resources)
	row '10,000 commands: kB, fds, threads' "$after" '' '' "before: $before"
}

resources() {
	echo "$(memory "$our_pid" VmRSS) $(ls "/proc/$our_pid/fd" | wc -l) $(memory "$our_pid" Threads)"
}

main() {
	local a b
	head -c 786432 /dev/urandom | base64 -w 76 | head -c 1048576 >"$dir/text"
	start_guestd
	start_peer
	# Both have answered once before they are looked at.
	curl -sf "$ours/health" >"$dir/answer"
	a=$(memory "$our_pid" VmRSS)
	b=$(memory "$peer_pid" VmRSS)
	row "$(uname -m), $(nproc) CPUs, wrk -t1 -c$clients" guestd FastAPI ratio goal
	row -------------------------------------- ---------- ---------- ------- ----------------
	row 'idle memory, MB' "$(mb "$a")" "$(mb "$b")" \
		"$(ratio "$b" "$a")x" "$(verdict "$(mb "$a")" '<=' 8)"
	compare 'GET /health' 10 /health
	compare 'POST shell/exec true' 4 /v1/shell/exec '{"command": "true"}'
	compare 'GET file/read, 1 MiB of text' 5 "/v1/file/read?path=$dir/text"
	transfers
	idle_clients
	commands
}
main
