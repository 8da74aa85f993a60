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
request /metrics -H "Authorization: token  $token"
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

# Or, for one path, more often.
ticket '{"path": "/metrics", "reusable": true}'
for _ in 1 2 3; do
	request "/metrics?ticket=$ticket"
	expect 200
done
request "/v1/system/info?ticket=$ticket"
expect 401 'another path'
request "/metrics?ticket=$ticket" -X POST
expect 401 'GET only'
request /v1/tickets -H "$auth" -d '{"reusable": true}'
expect 400 "needs a 'path'"

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

# One that does become one, by a ticket and once.
requires python3 --version
ticket '{"path":"/v1/terminal/ws"}'
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$srcdir" python3 - "$port" "$ticket" <<'END' ||
import sys, ws
port, path = int(sys.argv[1]), '/v1/terminal/ws?ticket=' + sys.argv[2]

def refused(headers):
    try:
        ws.WebSocket(port, path, headers)
    except ws.Refused as e:
        return e.status
assert refused(['Origin: http://evil.example']) == 403
ws.WebSocket(port, path, [f'Origin: http://127.0.0.1:{port}'])
assert refused([]) == 401
END
	fail "a WebSocket by a ticket"

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
stop_guestd

# JWTs, made by another program than ours.
secret=fedcba9876543210fedcba9876543210-secret

# jwt ALGORITHM SECRET CLAIMS [HEADER-ALGORITHM]: sets $jwt.
jwt()
{
	jwt=$(python3 - "$@" <<'END'
import base64, hashlib, hmac, sys
alg, secret, claims = sys.argv[1:4]
name = sys.argv[4] if len(sys.argv) > 4 else alg
def b64(b):
    return base64.urlsafe_b64encode(b).rstrip(b'=')
text = b64(b'{"alg":"%s","typ":"JWT"}' % name.encode()) + b'.' + b64(claims.encode())
mac = hmac.new(secret.encode(), text, getattr(hashlib, 'sha' + alg[2:])).digest()
print((text + b'.' + b64(mac)).decode())
END
)
}

# with_jwt STATUS [TEXT]: what /metrics answers to $jwt.
with_jwt()
{
	request /metrics -H "Authorization: Bearer $jwt"
	expect "$@"
}
now=$(date +%s)

# Beside the token.
export JWT_SECRET="$secret"
start_guestd --token-file "$dir/token"
jwt HS256 "$secret" "{\"exp\":$((now + 600))}"
with_jwt 200
request /metrics -H "$auth"
expect 200
request /metrics -H "X-Access-Token: $jwt"
expect 200
request "/metrics?token=$jwt"
expect 401
request /metrics
expect 401 'the token is missing'
jwt HS256 "$secret" "{\"exp\":$((now - 600))}"
with_jwt 401 'the token has expired'
grep -q '"remediation":"get a new one' "$dir/body" || fail "no remedy"
jwt HS256 "$secret" "{\"nbf\":$((now + 600))}"
with_jwt 401 'not valid yet'
jwt HS256 wrong "{\"exp\":$((now - 600))}"
with_jwt 401 'signature is wrong'
jwt HS512 "$secret" '{}'
with_jwt 401 'signature is wrong'
jwt HS256 "$secret" '{}' none
with_jwt 401 'algorithm is not HS256'
jwt="$(printf '{"alg":"none"}' | base64 | tr -d =).e30."
with_jwt 401 'signature is wrong'

# A JWT is as good as the token; commands do not get the secret.
jwt HS256 "$secret" '{}'
request /v1/shell/exec -H "Authorization: Bearer $jwt" \
	-d '{"command":"env; tr \"\\0\" \"\\n\" < /proc/$PPID/environ || :"}'
expect 200 '"exit_code":0'
grep -qF "$secret" "$dir/body" && fail "a command got the secret"
request /v1/sandbox -H "$auth"
expect 200
grep -qF "$secret" "$dir/body" && fail "/v1/sandbox tells the secret"
grep -qF "$secret" "$dir/run/guestd.log" && fail "the secret was logged"
stop_guestd

# The algorithm is the one that was asked for.
export JWT_ALGORITHM=HS512
start_guestd --token-file "$dir/token"
jwt HS512 "$secret" '{}'
with_jwt 200
jwt HS256 "$secret" '{}'
with_jwt 401
stop_guestd

# Without a token of the sandbox's, JWTs are needed when they are required;
# when they are not, one that is there is looked at.
unset JWT_ALGORITHM
start_guestd --no-auth
jwt HS256 wrong '{}'
with_jwt 401
request /metrics
expect 200
stop_guestd
export JWT_AUTH_REQUIRED=true
start_guestd --no-auth
with_jwt 401
request /metrics
expect 401
request /metrics -H "$auth"
expect 401 'not a JSON Web Token'
request /health
expect 200
request '/metrics?ticket=x'
expect 401
jwt HS256 "$secret" '{}'
with_jwt 200
auth="Authorization: Bearer $jwt"
ticket '{}'
request "/metrics?ticket=$ticket"
expect 200
stop_guestd

# With one, its host still gets in.
start_guestd --token-file "$dir/token"
with_jwt 200
request /metrics -H "X-Access-Token: $token"
expect 200
stop_guestd

# What does not make sense is told at once.
# refused TEXT: guestd does not start.
refused()
{
	timeout 20 "$guestd" --port 0 --run-dir "$dir/run" --no-auth \
		> "$dir/out" 2> "$dir/err" && fail "guestd started"
	grep -qF -- "$1" "$dir/err" || fail "no '$1'"
}
unset JWT_SECRET
refused 'JWT_AUTH_REQUIRED is set, but not JWT_SECRET'
JWT_SECRET='' refused 'JWT_AUTH_REQUIRED is set, but not JWT_SECRET'
JWT_AUTH_REQUIRED=maybe refused 'must be true or false'
JWT_SECRET=x JWT_ALGORITHM=RS256 refused 'HS256, HS384 or HS512'
JWT_SECRET=x JWT_ALGORITHM=none refused "'none' is not an algorithm"
