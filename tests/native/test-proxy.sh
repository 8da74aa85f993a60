#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandboxd's way to a guest: all below /v1/sandboxes/{id} that is not its own,
# passed on to a real guestd, and to a guest that is hostile.
. "${srcdir:=.}/functions.sh"

requires python3 --version
requires curl --version
requires jq --version
export PYTHONDONTWRITEBYTECODE=1

# port_of FILE: where it listens, once it has said so.
port_of()
{
	wait_until 20 grep -q '^listening' "$1"
	sed -n 's/^listening .*port //p' "$1"
}

# header NAME: of the last reply.
header()
{
	tr -d '\r' < "$dir/head" | sed -n "s/^$1: //Ip"
}

token=0123456789abcdef0123456789abcdef
echo $token > "$dir/token"
chmod 755 "$dir"
start_guestd --token-file "$dir/token"
guest_port=$port
python3 "$srcdir/proxy.py" guest > "$dir/evil.out" &
at_exit "kill $!"
evil_port=$(port_of "$dir/evil.out")
mkdir "$dir/state"
./proxy-tool "$dir/state" $token "demo=ready:$guest_port" \
	"evil=ready:$evil_port" still=paused:1 early=booting:1 \
	late=installing:1 dead=failed:1 off=stopped:1 going=stopping:1 \
	closed=ready > "$dir/tool.out" &
tool_pid=$!
at_exit "kill $tool_pid 2>/dev/null || :"
port=$(port_of "$dir/tool.out")
url=http://127.0.0.1:$port
demo=/v1/sandboxes/demo

# Routes of the guest, by their own names and by aliases.
request $demo/health
expect 200
request $demo/v1/sandbox
expect 200
[ "$(header server)" = sandboxd/test ] || fail "whose answer it is"
for route in /v1/shell/exec /shell/exec; do
	request $demo$route -d '{"command": "echo $((6 * 7)); cat",
		"stdin": "typed"}'
	expect 200
	jq -e '.stdout == "42\ntyped"' < "$dir/body" > /dev/null ||
		fail "$route: $(cat "$dir/body")"
done
request $demo/v1/shell/exec -d '{"command": 1, "no-such": 2}'
expect 400 no-such
request $demo/v1/no-such-thing
expect 404 "/v1/no-such-thing"
request $demo/v1/shell/exec -X DELETE
expect 405
curl -sSf -m 20 --unix-socket "$dir/state/sock" "http://localhost$demo/livez" \
	> /dev/null || fail "by the UNIX socket"

# sandboxd's own come first, and so do their methods.
request $demo
expect 200 '"state":"ready"'
request $demo/ports
expect 200 "$guest_port"
request "$demo/logs?source=nonsense"
expect 400 nonsense
request $demo/pause
expect 405
[ "$(header allow)" = POST ] || fail "Allow: $(header allow)"
request $demo -X PATCH
expect 405
request "$demo/v1/openapi.json"
expect 200 /v1/shell/exec

# Bodies of any size, and parts of them.
mkdir -m 777 "$dir/files"
head -c 20000000 /dev/urandom > "$dir/blob"
request "$demo/v1/file?path=$dir/files/blob%2Eup" -T "$dir/blob"
expect 200
cmp "$dir/blob" "$dir/files/blob.up" || fail "an upload"
request "$demo/v1/file?path=$dir/files/chunked" -T - < "$dir/blob"
expect 200
cmp "$dir/blob" "$dir/files/chunked" || fail "an upload in chunks"
request "$demo/v1/file/download?path=$dir/files/blob.up"
expect 200
cmp "$dir/blob" "$dir/body" || fail "a download"
etag=$(header etag)
request "$demo/v1/file/download?path=$dir/files/blob.up" -r 10000000-19999998
expect 206
tail -c +10000001 "$dir/blob" | head -c 9999999 | cmp - "$dir/body" ||
	fail "a part"
[ "$(header content-range)" = bytes\ 10000000-19999998/20000000 ] ||
	fail "Content-Range"
request "$demo/v1/file/download?path=$dir/files/blob.up" \
	-H "If-None-Match: $etag"
expect 304
request "$demo/v1/file/download?path=$dir/files/blob.up" -I
expect 200
[ "$(header content-length)" = 20000000 ] || fail "HEAD"

# Events come as they happen: the command waits for what it has said before.
mkfifo "$dir/go"
chmod 666 "$dir/go"
curl -sSN -m 60 -d "{\"command\": \"echo o''ne; read x < $dir/go; echo t''wo\"}" \
	"$url$demo/v1/shell/stream" > "$dir/events" &
events_pid=$!
wait_until 20 grep -q one "$dir/events"
! grep -q two "$dir/events" || fail "what has not happened"
echo > "$dir/go"
wait "$events_pid" || fail "the events' end"
grep -q two "$dir/events" || fail "$(cat "$dir/events")"

# WebSockets.
python3 "$srcdir/proxy.py" terminal "$port" $demo || fail "proxy.py terminal"

# What the caller shows to sandboxd is not for a guest.
request "/v1/sandboxes/evil/a%2Fb/?x=%20y&token=caller-1&ticket=caller-2" \
	-H 'Authorization: Bearer caller-3' -H 'X-Access-Token: caller-4' \
	-H 'Cookie: session=caller-5' -H "Referer: $url/?token=caller-6" \
	-H 'Proxy-Authorization: caller-7' -H "Origin: $url" -H 'X-End: to-end'
expect 200 'GET /a%2Fb/?x=%20y HTTP/1.1'
expect 200 "Authorization: Bearer $token"
expect 200 'Host: localhost'
expect 200 'to-end'
! grep -iE 'caller-|^(cookie|origin|referer):' "$dir/body" ||
	fail "the guest sees more than it should"

# Nor does what a guest answers count for sandboxd's origin.
[ "$(header content-security-policy)" = sandbox ] || fail "no sandbox"
[ "$(header x-content-type-options)" = nosniff ] || fail "not nosniff"
[ "$(header x-mine)" = 1 ] || fail "a header of its own"
for name in set-cookie clear-site-data refresh www-authenticate alt-svc \
	access-control-allow-origin x-hop keep-alive; do
	[ -z "$(header $name)" ] || fail "$name: $(header $name)"
done
# where TO WANTED: where a guest may send a client.
where()
{
	request "/v1/sandboxes/evil/x?to=$1"
	expect 307
	[ "$(header location)" = "$2" ] || fail "$1: $(header location)"
}
where /lab/tree '/v1/sandboxes/evil/lab/tree'
where '/a?b=/../c' '/v1/sandboxes/evil/a?b=/../c'
where //elsewhere/x '/v1/sandboxes/evil//elsewhere/x'
where 'terminal/?a=1:2' 'terminal/?a=1:2'
where http://127.0.0.1/v1/sandboxes ''
where /../demo/pause ''
where ../demo/pause ''
where /x/%2E./demo/pause ''
where '/x\..\demo' ''
request $demo/terminal
expect 307
[ "$(header location)" = terminal/ ] || fail "a page of guestd's"

# Sandboxes that cannot answer.
request /v1/sandboxes/nobody/health
expect 404 "no sandbox 'nobody'"
request /v1/sandboxes/still/health
expect 409 'sandboxctl resume still'
for name in early late; do
	request /v1/sandboxes/$name/health
	expect 503 'try again'
	[ "$(header retry-after)" = 1 ] || fail "no Retry-After"
done
request /v1/sandboxes/dead/health -d '{"a": "body"}'
expect 409 'it fell over'
expect 409 'put it up'
request /v1/sandboxes/off/health
expect 409 'sandboxctl up off'
request /v1/sandboxes/going/health
expect 409 stopping
request /v1/sandboxes/closed/health
expect 424 'leads to its guestd'

# A guest that goes.
stop_guestd
request $demo/health
expect 502 "the guestd of sandbox 'demo' cannot be reached"
expect 502 remediation
request $demo
expect 200

kill $tool_pid
wait $tool_pid || fail "proxy-tool ended with status $?"
