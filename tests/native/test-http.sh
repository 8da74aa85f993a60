#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guestd answers good requests, and refuses bad ones as problem+json.
. "${srcdir:=.}/functions.sh"
requires curl --version
token=0123456789abcdef0123456789abcdef
echo "$token" > "$dir/token"
start_guestd --token-file "$dir/token"
auth="Authorization: Bearer $token"

# Public routes, under each of their names.
request /health
expect 200 '"status":"ok"'
request /livez
expect 200
request /readyz
expect 200 '"missing":[]'
request /health -I
expect 200
[ -s "$dir/body" ] && grep -q '"status"' "$dir/body" && fail "HEAD has a body"

# The token.
request /v1/sandbox
expect 401 '"code":"auth"'
grep -qi '^www-authenticate: bearer' "$dir/head" || fail "no WWW-Authenticate"
grep -qi '^content-type: application/problem+json' "$dir/head" ||
	fail "not problem+json"
request /v1/sandbox -H "Authorization: Bearer wrong"
expect 401
request /v1/sandbox -H "Authorization: Bearer ${token}0"
expect 401
request /v1/sandbox -H "$auth"
expect 200 '"languages":['
request /v1/openapi.json -H "$auth"
expect 200 '"openapi":"3.1.0"'
request /metrics -H "$auth"
expect 200 'guestd_http_requests_total'

# What is not there.
request /nothing -H "$auth"
expect 404 '"code":"not-found"'
request /v1/sandbox -H "$auth" -X DELETE
expect 405 '"code":"method"'
grep -qi '^allow: GET, HEAD' "$dir/head" || fail "no Allow"
request /nothing
expect 401

# Broken targets.
for path in /%zz /%0 /%00 '/health?a=%g1' '/a/../health' '/health#x'; do
	request / --path-as-is -H "$auth" --request-target "$path"
	expect 400 '"code":"invalid"'
done
request '/v1/file/%65xists?path=/%41+b' -H "$auth"
expect 200 '"/A b"'
request '/health?x=1' -H "$auth"
expect 400 "unknown parameter 'x'"

# Another site's page in a browser here, and a name that it rebound.
request /v1/sandbox -H "$auth" -H 'Host: evil.example'
expect 403 '"code":"denied"'
request /v1/sandbox -H "$auth" -H 'Origin: http://evil.example'
expect 403
request /v1/sandbox -H "$auth" -H "Origin: $url"
expect 200
request /v1/sandbox -H "$auth" -H "Host: localhost:$port"
expect 200

# Bodies that are too large, told beforehand and not.
head -c 9000000 /dev/zero > "$dir/large"
request /health -H "$auth" -X POST --data-binary "@$dir/large"
expect 405
request /v1/sandbox -X GET -H "$auth" --data-binary "@$dir/large"
expect 413 '"code":"limit"'
request /v1/sandbox -X GET -H "$auth" -H 'Transfer-Encoding: chunked' \
	--data-binary "@$dir/large"
expect 413 '"code":"limit"'

# Two requests over one connection.
n=$(curl -sS -m 20 -o "$dir/body" -o "$dir/body2" -w '%{num_connects}\n' \
	"$url/health" "$url/livez" | tail -1)
[ "$n" = 0 ] || fail "the connection was not kept"
