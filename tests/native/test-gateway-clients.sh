#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that others wrote drive the kernel gateway, as they are.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires jq --version
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
requires "$python" -c 'import ipykernel, nbclient, jupyter_client, jupyter_server'

token=0123456789abcdef
echo "$token" > "$dir/token"

bundle_kernels
start_guestd --token-file "$dir/token" --share ../../guest/bundle/share

# Nothing of this account's own Jupyter.
HOME=$dir/home
JUPYTER_CONFIG_DIR=$dir/config
JUPYTER_DATA_DIR=$dir/data
JUPYTER_RUNTIME_DIR=$dir/runtime
export HOME JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR
mkdir -p "$HOME" "$dir/notebooks"

# 1. jupyter_client on the kernel's own sockets, past the gateway.
request /api/kernels -X POST -H "Authorization: token $token" -d '{}'
expect 201
id=$(jq -r .id "$dir/body")
is_idle()
{
	request "/api/kernels/$id" -H "Authorization: token $token"
	grep -q '"idle"' "$dir/body"
}
wait_until 60 is_idle
"$python" "$srcdir/gateway-zmq.py" "$dir/run/kernels/$id/connection.json" ||
	fail "jupyter_client"

# 2. nbclient, which opens its WebSocket without any header: only a token in
#    the path gets it in.
JUPYTER_GATEWAY_URL=$url/k/$token "$python" "$srcdir/gateway-nbclient.py" \
	> "$dir/nbclient" 2>&1 || {
	cat "$dir/nbclient" >&2
	fail "nbclient"
}

# 3. Jupyter's server with --gateway-url in front.
#    It cannot tell which port it got if it may choose one.
front_port=$("$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
JUPYTER_GATEWAY_AUTH_TOKEN=$token "$python" -m jupyter_server \
	--ServerApp.ip=127.0.0.1 --ServerApp.port="$front_port" --ServerApp.token=front \
	--ServerApp.root_dir="$dir/notebooks" --allow-root --no-browser \
	--gateway-url "$url" > "$dir/server" 2>&1 &
server=$!
# Asked to end it would look for its gateway, and wait.
at_exit "kill -9 $server"
front=http://127.0.0.1:$front_port
wait_until 60 curl -fsS "$front/api?token=front"
"$python" "$srcdir/gateway.py" "$front" front front > "$dir/case" 2>&1 || {
	cat "$dir/case" "$dir/server" >&2
	fail "through jupyter_server"
}

# 4. The classic notebook with --gateway-url, used in a browser.
requires "$python" -c 'import notebook'
requires "${CHROMIUM:=chromium}" --version
export CHROMIUM
front_port=$("$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
JUPYTER_GATEWAY_AUTH_TOKEN=$token "$python" -m notebook \
	--ip=127.0.0.1 --port="$front_port" --NotebookApp.token=front \
	--notebook-dir="$dir/notebooks" --allow-root --no-browser \
	--gateway-url "$url" > "$dir/notebook" 2>&1 &
notebook=$!
at_exit "kill -9 $notebook"
front=http://127.0.0.1:$front_port
wait_until 60 curl -fsS "$front/api?token=front"
mkdir "$dir/browser"
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/gateway-notebook.py" "$front" \
	front "$dir/browser" "$dir/notebooks" > "$dir/case" 2>&1 || {
	tail -n 20 "$dir/case" "$dir/notebook" >&2
	fail "the classic notebook"
}
