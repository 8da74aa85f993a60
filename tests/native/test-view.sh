#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Desktops and terminals by way of sandboxd: its TCP port, its tickets, and the
# pages that it serves itself, in a real browser.  SCREENSHOTS=DIR keeps
# pictures of them.
. "${srcdir:=.}/functions.sh"
. "$srcdir/ctl-functions.sh"

export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
requires "$python" -c 'import PIL'
requires curl --version
requires "${CHROMIUM:=chromium}" --version
export CHROMIUM

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

# A socket's path has at most 107 bytes: $TMPDIR may be too deep.
SANDBOX_STATE=$(mktemp -d /tmp/sb-XXXXXX)
SANDBOX_BUNDLE=$top_builddir/guest/bundle
SANDBOX_IMAGES=$SANDBOX_STATE/images
export SANDBOX_STATE SANDBOX_BUNDLE SANDBOX_IMAGES
at_exit rm -rf "$SANDBOX_STATE"
mkdir "$SANDBOX_STATE/run"

guest_token=0123456789abcdef0123456789abcdef
echo $guest_token > "$dir/token"
# shellcheck disable=SC2034 # for desktop_is
desktop_token=$guest_token
start_desktop 640x480 --token-file "$dir/token"
guest_port=$port
"$python" "$srcdir/proxy.py" guest > "$dir/evil.out" &
at_exit "kill $!"
evil_port=$(port_of "$dir/evil.out")
./proxy-tool -d "$SANDBOX_STATE" $guest_token "demo=ready:$guest_port" \
	"evil=ready:$evil_port" still=paused:1 > "$dir/tool.out" &
tool_pid=$!
at_exit "kill $tool_pid 2>/dev/null || :"
port=$(port_of "$dir/tool.out")
url=http://127.0.0.1:$port
demo=/v1/sandboxes/demo

# Who comes by TCP shows the token, which is the user's alone.
token=$(cat "$SANDBOX_STATE/token")
auth="Authorization: Bearer $token"
is "$(stat -c %a "$SANDBOX_STATE/token")" 600 "the token's mode"
is "${#token}" 64 "the token's length"
for path in /v1/sandboxes $demo $demo/health $demo/v1/vnc/ws /v1/nothing; do
	request $path
	expect 401 'the token is missing'
	expect 401 'sandboxctl daemon status'
	request $path -H "Authorization: Bearer $guest_token"
	expect 401 'the token is wrong'
done
request "$demo?token=$token"
expect 401 missing
request /health
expect 200 "\"url\":\"$url\""
request $demo/health -H "$auth"
expect 200
request $demo -H "$auth" -H 'Host: evil.example'
expect 403
request $demo -H "$auth" -H 'Origin: http://evil.example'
expect 403
case $(ctl daemon status) in
*"$url, for who has the token in $SANDBOX_STATE/token."*) ;;
*) fail "daemon status: $(ctl daemon status)" ;;
esac

# ticket PATH [MORE]: sets $ticket.
ticket()
{
	request /v1/tickets -H "$auth" -d "{\"path\": \"$1\" ${2:-}}"
	expect 201
	ticket=$(jq -r .ticket < "$dir/body")
}

# A ticket: for one path, one GET and a short while.
request /v1/tickets -d '{"path": "/metrics"}'
expect 401
request /v1/tickets -H "$auth" -d '{}'
expect 400 "'path' must be"
request /v1/tickets -H "$auth" -d '{"path": "/metrics", "ttl_s": 3601}'
expect 400 ttl_s
ticket $demo/v1/screen/info
request "$demo/v1/vnc/view?ticket=$ticket"
expect 401 'for another path'
request "/v1/sandboxes/evil/v1/screen/info?ticket=$ticket"
expect 401 'for another path'
request "$demo/v1/screen/info?ticket=$ticket" -X POST
expect 401 'for GET only'
request "$demo/v1/screen/info?ticket=$ticket" -H "Authorization: Bearer no"
expect 401 'the token is wrong'
request "$demo/v1/screen/info?ticket=$ticket"
expect 200 '"state":"up"'
request "$demo/v1/screen/info?ticket=$ticket"
expect 401 'used, expired or wrong'
ticket $demo/v1/screen/info ', "ttl_s": 1'
expires=$(date -d "$(jq -r .expires_at < "$dir/body")" +%s)
is_past()
{
	[ "$(date +%s)" -gt "$1" ]
}
wait_until 20 is_past "$expires"
request "$demo/v1/screen/info?ticket=$ticket"
expect 401 'used, expired or wrong'
# It is sandboxd's: one of the guest's own opens nothing here, and no guest
# sees what it was.
request $demo/v1/tickets -H "$auth" -d '{"path": "/v1/screen/info"}'
expect 201
request "$demo/v1/screen/info?ticket=$(jq -r .ticket < "$dir/body")"
expect 401
ticket /v1/sandboxes/evil/v1/vnc/ws
request "/v1/sandboxes/evil/v1/vnc/ws?a=1&ticket=$ticket&b=2"
expect 200 'GET /v1/vnc/ws?a=1&b=2 HTTP/1.1'
expect 200 "Authorization: Bearer $guest_token"
! grep -q "$ticket" "$dir/body" || fail "the guest sees the ticket"

# The pages are the host's, whatever the guest has there, and say nothing about
# which sandboxes there are.
for name in demo evil still nobody; do
	request /v1/sandboxes/$name/vnc/
	expect 200 '<title>Desktop</title>'
	header content-security-policy | grep -q "^default-src 'none'; script-src 'self'" ||
		fail "$name: $(header content-security-policy)"
	[ -z "$(header x-mine)" ] || fail "the guest was asked"
	request /v1/sandboxes/$name/vnc/core/rfb.js
	expect 200 'class RFB'
	is "$(header content-type)" 'text/javascript; charset=utf-8' "$name"
	request /v1/sandboxes/$name/terminal/
	expect 200 '<title>Terminal</title>'
done
etag=$(header etag)
request $demo/terminal/ -H "If-None-Match: $etag"
expect 304
request "$demo/vnc?view=1"
expect 307
is "$(header location)" 'vnc/?view=1' "a slash"
request /v1/sandboxes/evil/vnc/hostile.js
expect 404
request /v1/sandboxes/evil/vnc/ -X POST -H "$auth"
expect 405
for path in vnc/../terminal/terminal.js vnc/..%2f..%2f..%2f.hash \
	vnc/%2e%2e/terminal/line.js terminal/%2fetc%2fpasswd; do
	request "$demo/$path" --path-as-is
	case $status in
	400 | 404) ;;
	*) fail "$path: $status" ;;
	esac
done
# All else of a guest's is still in a browser's sandbox.
request /v1/sandboxes/evil/vnc2/ -H "$auth"
expect 200
is "$(header content-security-policy)" sandbox "a page of the guest's"

# give_token: what a boot would have put into the folder of the sandbox.
give_token()
{
	token_file=$(ctl info demo --json | jq -r .token_file)
	mkdir -p "${token_file%/*}"
	cp "$dir/token" "$token_file"
}

# sandboxctl makes the links.
give_token
id=$(ctl info demo --json | jq -r .id)
link=$(ctl view demo --via sandboxd)
case $link in
"$url/v1/sandboxes/$id/vnc/?ticket="*) ;;
*) fail "the link: $link" ;;
esac
eyes=$(ctl view demo --via sandboxd --view-only --json | jq -r .url)
case $eyes in
"$url/v1/sandboxes/$id/vnc/?view=1&ticket="*) ;;
*) fail "the link: $eyes" ;;
esac
case $(ctl view demo --via guestd) in
"http://127.0.0.1:$guest_port/vnc/?ticket="*) ;;
*) fail "not guestd's" ;;
esac
refused 2 'guestd|sandboxd' view demo --via nonsense

mkdir "$dir/browser"
"$python" "$srcdir/view.py" "$port" "$guest_port" $guest_token "$token" \
	"$dir/run" "$dir/browser" "$top_builddir/host/sandboxctl" ||
	fail "view.py: $(tail -n 5 "$dir/browser/chromium.log")"

kill $tool_pid
wait $tool_pid || fail "proxy-tool ended with status $?"

# Where the files are missing, that is said, with what to do.
cp -r "$SANDBOX_BUNDLE" "$dir/bundle"
rm -r "$dir/bundle/share/vnc/core"
SANDBOX_BUNDLE=$dir/bundle
./proxy-tool -d "$SANDBOX_STATE" $guest_token "demo=ready:$guest_port" \
	> "$dir/tool2.out" &
tool_pid=$!
at_exit "kill $tool_pid 2>/dev/null || :"
url=http://127.0.0.1:$(port_of "$dir/tool2.out")
request $demo/vnc/
expect 404 "lacks files of the page 'vnc'"
expect 404 "share/vnc/core/rfb.js"
request $demo/terminal/
expect 200
is "$(cat "$SANDBOX_STATE/token")" "$token" "the token after a restart"
kill $tool_pid
wait $tool_pid || fail "proxy-tool ended with status $?"

# Without the port that is said, and the other way still works.
./proxy-tool "$SANDBOX_STATE" $guest_token "demo=ready:$guest_port" \
	> "$dir/tool.out" &
tool_pid=$!
at_exit "kill $tool_pid 2>/dev/null || :"
wait_until 20 test -S "$SANDBOX_STATE/sock"
ln -sf ../sock "$SANDBOX_STATE/run/sandboxd.sock"
give_token
refused 9 'sandboxd does not listen on TCP' view demo --via sandboxd
grep -q "set 'tcp_port: 8700' in sandboxd.yaml" "$dir/why" || fail "no remedy"
ctl view demo > /dev/null
kill $tool_pid
wait $tool_pid || fail "proxy-tool ended with status $?"
rm "$SANDBOX_STATE/run/sandboxd.sock"

# sandboxd itself has such a port only if its configuration says so.
# start_sandboxd YAML
start_sandboxd()
{
	echo "$1" > "$dir/sandboxd.yaml"
	SANDBOX_CONFIG=$dir/sandboxd.yaml
	export SANDBOX_CONFIG
	"$top_builddir/host/sandboxd" --foreground 2> "$dir/sandboxd.err" &
	sandboxd_pid=$!
	at_exit "kill $sandboxd_pid 2>/dev/null || :"
	wait_until 30 ctl daemon status
}
start_sandboxd 'tcp_port: 0'
url=$(ctl daemon status --json | jq -r .url)
request /v1/sandboxes
expect 401
request /v1/sandboxes -H "$auth"
expect 200
request $demo/vnc/
expect 404
kill $sandboxd_pid
wait $sandboxd_pid || fail "sandboxd ended with status $?"
echo short > "$SANDBOX_STATE/token"
! timeout 30 "$top_builddir/host/sandboxd" --foreground 2> "$dir/why" ||
	fail "it takes any token"
grep -q 'fewer than 32 bytes' "$dir/why" || fail "$(cat "$dir/why")"
start_sandboxd '# nothing'
is "$(ctl daemon status --json | jq .url)" null "no port"
curl -sS -m 20 --unix-socket "$SANDBOX_STATE/run/sandboxd.sock" \
	-d '{"path": "/x"}' http://localhost/v1/tickets > "$dir/body"
grep -q 'does not listen on TCP' "$dir/body" || fail "$(cat "$dir/body")"
grep -q 'tcp_port: 8700' "$dir/body" || fail "no remedy"
kill $sandboxd_pid
wait $sandboxd_pid || fail "sandboxd ended with status $?"
