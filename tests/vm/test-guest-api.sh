#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The guest's own API, through the forwarded port: commands, code, files and
# terminals.
. "${0%/*}/functions.sh"

succeeds sbctl up demo --env COLOUR=blue
info=$(sbctl info demo --json)
url=$(json .url <<<"$info")
token=$(cat "$(json .token_file <<<"$info")")

# call METHOD PATH [BODY]
call() {
	curl -s --max-time 240 -X "$1" -H "Authorization: Bearer $token" \
		-H 'Content-Type: application/json' ${3:+-d "$3"} "$url$2"
}

eq "$(curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$url/v1/sandbox")" \
	401 "nothing without the token"
eq "$(curl -s -o /dev/null -w '%{http_code}' --max-time 30 --unix-socket \
	"$SANDBOX_STATE/run/sandboxd.sock" \
	http://localhost/v1/sandboxes/demo/v1/sandbox)" \
	200 "but through sandboxd"
# shellcheck disable=SC2016 # for the guest's shell
ran=$(call POST /v1/shell/exec \
	'{"command": "id -un; pwd; echo $COLOUR; echo oops >&2; exit 3"}')
eq "$(json .stdout <<<"$ran")" $'user\n/home/user/workspace\nblue' \
	"a command runs as user, in the workspace, with the environment"
eq "$(json .stderr <<<"$ran")" oops "its errors are apart"
eq "$(json .exit_code <<<"$ran")" 3 "its exit code"
eq "$(call POST /v1/shell/exec '{"command": "id -un", "user": "root"}' |
	json .stdout)" root "as root when asked"
# An account is known as soon as it is there.
late='{"command": "id -un", "user": "late"}'
eq "$(call POST /v1/shell/exec "$late" | json .status)" 400 "a missing account"
succeeds sbctl exec -u root demo -- useradd late
eq "$(call POST /v1/shell/exec "$late" | json .stdout)" late "one that came late"
eq "$(call POST /code/execute '{"code": "print(2+2)", "language": "python"}' |
	json .stdout)" 4 "code"

call POST /v1/file/write '{"path": "notes/a.txt", "content": "one\ntwo\n"}' |
	json . >/dev/null || fail "a file is not written"
eq "$(sbctl exec demo -- stat -c %U notes/a.txt)" user "a file is the user's"
eq "$(call GET '/v1/file/read?path=notes/a.txt&start_line=2' | json .content)" \
	two "and is read again, from a line on"
head -c 3000000 /dev/urandom >"$SANDBOX_STATE/blob"
curl -s --max-time 120 -T "$SANDBOX_STATE/blob" -H "Authorization: Bearer $token" \
	"$url/v1/file?path=/tmp/blob" >/dev/null
succeeds sbctl cp demo:/tmp/blob "$SANDBOX_STATE/back"
succeeds cmp "$SANDBOX_STATE/blob" "$SANDBOX_STATE/back"

# A terminal: its page is part of the bundle, its WebSocket passes the forward.
eq "$(curl -s -o /dev/null -w '%{http_code}' --max-time 60 \
	"$url/terminal/xterm.js")" 200 "the files of the page"
# shellcheck disable=SC2016 # for the guest's shell
typed=$(PYTHONPATH=${0%/*}/../native PYTHONDONTWRITEBYTECODE=1 \
	python3 - "${url##*:}" "$token" 'stat -c %U "$(tty)"; stty size' <<-'END'
		import sys, urllib.parse
		from ws import Closed, WebSocket

		port, token, command = sys.argv[1:]
		ws = WebSocket(
		    int(port),
		    "/v1/terminal/ws?cols=90&rows=30&command="
		    + urllib.parse.quote(command),
		    headers=["Authorization: Bearer " + token],
		)
		try:
		    while True:
		        m = ws.recv(60)
		        if isinstance(m, bytes):
		            sys.stdout.write(m.decode().replace("\r", ""))
		except Closed:
		    pass
	END
)
eq "$typed" $'user\n30 90' "a terminal of the user"

# Our kernel, by the gateway: state between calls, on both ports' server.
eq "$(call POST /v1/run '{"code": "x = 6 * 7\nprint(\"hi\")", "timeout": 50}' |
	json '.status + .stdout')" okhi "a cell"
eq "$(call POST /v1/run '{"code": "x + 1", "timeout": 50}' |
	json '.outputs[0].data["text/plain"]')" 43 "and its state in the next one"
eq "$(call GET /api/kernelspecs | json .default)" sandbox-python "by our kernel"
eq "$(sbctl exec demo -- cat /proc/sys/net/core/wmem_default)" 4194304 \
	"and others have room for what they say"

# A fork bomb comes to the limit of its command, and guestd goes on.
bomb=$(call POST /v1/shell/exec '{"background": true,
	"command": "bomb() { bomb | bomb & }; bomb; sleep 1000"}' | json .id)
at_limit() {
	# shellcheck disable=SC2016 # for the guest's shell
	call POST /v1/shell/exec '{"user": "root", "timeout": 30, "command":
		"grep -h max /sys/fs/cgroup/sandbox/*/pids.events"}' |
		json .stdout | grep -q '^max [1-9]'
}
wait_until 240 at_limit
pass "a fork bomb is bounded"
call DELETE "/v1/processes/$bomb"
few() {
	[ "$(call POST /v1/shell/exec '{"command": "ps -e | wc -l"}' |
		json .stdout)" -lt 200 ]
}
wait_until 60 few
pass "and all of it has gone"
