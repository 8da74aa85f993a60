#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Terminals: typed into, looked at, left and found again, ended.
. "${srcdir:=.}/functions.sh"

requires python3 --version
export PYTHONDONTWRITEBYTECODE=1

start_guestd --no-auth
python3 "$srcdir/terminal.py" "$port" "$guestd_pid" || fail "terminal.py"
stop_guestd

# The token is asked for as for any other route.
echo secret > "$dir/token"
start_guestd --token-file "$dir/token"
request /v1/terminals
expect 401
request /v1/terminal/ws -H 'Upgrade: websocket' -H 'Connection: Upgrade' \
	-H 'Sec-WebSocket-Version: 13' \
	-H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
expect 401
request /v1/terminals -H 'Authorization: Bearer secret'
expect 200 '{"terminals":[]}'
request /v1/terminal/ws -H 'Authorization: Bearer secret'
expect 426 WebSocket
