#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who gets in: the token in every form, one-time tickets.
. "${srcdir:=.}/functions.sh"
requires curl --version
token=0123456789abcdef0123456789abcdef
echo "$token" > "$dir/token"
start_guestd --token-file "$dir/token"
auth="Authorization: Bearer $token"

# ticket JSON: sets $ticket.
ticket()
{
	request /v1/tickets -H "$auth" -d "$1"
	expect 201 '"expires_at":"2'
	ticket=$(sed 's/.*"ticket":"\([0-9a-f]*\)".*/\1/' "$dir/body")
	[ ${#ticket} = 64 ] || fail "ticket: $(cat "$dir/body")"
}

# The token, as clients of other systems send it.
request /metrics -H "authorization: bearer $token"
expect 200
request /metrics -H "Authorization: token $token"
expect 200
request /metrics -H "X-Access-Token: $token"
expect 200
request /metrics -H "X-Access-Token: $token" -H 'Authorization: Basic dXNlcjo='
expect 200
request /metrics -H "X-Access-Token: wrong"
expect 401 'the token is wrong'
request /metrics -H "X-Access-Token: $token" -H 'Authorization: Bearer wrong'
expect 401
request /metrics -H "Authorization: Basic $token"
expect 401 'the token is missing'
request /metrics -H "Authorization: Bearer"
expect 401
request "/metrics?token=$token"
expect 401

# A ticket is good once.
ticket '{}'
grep -q '"expires_in":60' "$dir/body" || fail "lifetime: $(cat "$dir/body")"
request "/metrics?ticket=$ticket"
expect 200
request "/metrics?ticket=$ticket"
expect 401 'POST /v1/tickets'

# For GET only, and a refusal does not use it up.
ticket '{"ttl_s":3600}'
request "/v1/shell/exec?ticket=$ticket" -d '{"command":"true"}'
expect 401 'GET only'
request "/v1/tickets?ticket=$ticket" -d '{}'
expect 401
request "/metrics?ticket=$ticket" -I
expect 401
request "/metrics?ticket=$ticket" -H "Authorization: Bearer wrong"
expect 401
request "/metrics?ticket=$ticket" -H 'Origin: http://evil.example'
expect 403
request "/metrics?ticket=$ticket"
expect 200

# For its path only; handlers do not see it.
ticket '{"path":"/v1/file/download"}'
echo hello > "$dir/file"
request "/metrics?ticket=$ticket"
expect 401 'another path'
request "/v1/file/download/?ticket=$ticket"
expect 401 'another path'
request "/v1/file/download?ticket=$ticket&path=$dir/file&user=root"
expect 200 hello

# It is as good as the token, not better.
ticket '{}'
request "/nothing?ticket=$ticket"
expect 404
request "/metrics?ticket="
expect 401
request "/metrics?ticket=$token"
expect 401

# A request that would become a WebSocket is looked at like any other.
# upgrade PATH HEADER...: sets $status.
upgrade()
{
	path=$1
	shift
	request "$path" --http1.1 -H 'Connection: Upgrade' \
		-H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
		-H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$@"
}
ticket '{}'
upgrade /metrics
expect 401
upgrade "/metrics?ticket=$ticket" -H 'Origin: http://evil.example'
expect 403 '"code":"denied"'
upgrade "/metrics?ticket=$ticket" -H 'Origin: null'
expect 403
upgrade "/metrics?ticket=$ticket" -H 'Host: evil.example'
expect 403 '"code":"denied"'
upgrade /metrics -H "$auth" -H 'Origin: http://127.0.0.1:1'
expect 403
upgrade "/metrics?ticket=$ticket" -H "Origin: $url"
expect 200

# What is no ticket.
for body in '{"ttl_s":0}' '{"ttl_s":3601}' '{"ttl_s":"1"}' '{"path":"x"}' \
	'{"path":"/x?y"}' '{"path":1}' '{"paths":"/x"}' '[]' '{' \
	'{"path":"/x","path":"/y"}'; do
	request /v1/tickets -H "$auth" -d "$body"
	expect 400 '"code":"invalid"'
done
request /v1/tickets -d '{}'
expect 401

# A bounded number wait to be used.
i=0
while [ $i -lt 300 ]; do
	echo "next"
	echo "url = $url/tickets"
	echo "header = \"$auth\""
	echo 'data = "{}"'
	echo 'output = /dev/null'
	i=$((i + 1))
done > "$dir/many"
curl -sS -m 60 -K "$dir/many"
request /v1/tickets -H "$auth" -d '{}'
expect 503 '"code":"busy"'
request /metrics -H "$auth"
expect 200

# Nothing of it is in the log.
grep -qF "$token" "$dir/run/guestd.log" && fail "the token was logged"
grep -qF "ticket=" "$dir/run/guestd.log" && fail "a ticket was logged"

# Without authentication tickets exist, and nothing depends on them.
stop_guestd
start_guestd --no-auth
ticket '{}'
request "/metrics?ticket=$ticket"
expect 200
request "/metrics?ticket=$ticket"
expect 200
request "/metrics" -H "Authorization: Bearer whatever"
expect 200
