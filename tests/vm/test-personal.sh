#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Environment, mounts, share, host name, clock and ports arrive in the guest.
. "${0%/*}/functions.sh"

# QEMU's user must be able to write to what is mounted.
mkdir -m 777 "$SANDBOX_STATE/rw" "$SANDBOX_STATE/ro"
echo given >"$SANDBOX_STATE/ro/file"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0));
print(s.getsockname()[1])')

succeeds sbctl up demo --env GREETING='hello, "you"  $HOME' --env EMPTY= \
	--mount "$SANDBOX_STATE/rw:/data" --mount "$SANDBOX_STATE/ro:/in:ro" \
	-p "$port:7000" -p 0:7001 --label team=blue

eq "$(sbctl exec demo -- sh -c 'printf %s "$GREETING"')" 'hello, "you"  $HOME' \
	"a variable, with all its characters"
eq "$(sbctl exec demo -- sh -c 'echo "${EMPTY-unset}."')" . "an empty one"
eq "$(sbctl exec -u root demo -- sh -c 'printf %s "$GREETING"')" \
	'hello, "you"  $HOME' "for root, too"

sbctl exec demo -- sh -c 'echo made >/data/file'
eq "$(cat "$SANDBOX_STATE/rw/file")" made "a file written to a mount"
eq "$(sbctl exec demo -- cat /in/file)" given "a file read from another"
fails_with 1 sbctl exec demo -- touch /in/other
contains "$output" "ead-only" "which is read-only"

sbctl exec demo -- sh -c 'echo note >/shared/note && chmod 600 /shared/note'
share=$(sbctl info demo --json | json .share)
eq "$(cat "$share/note")" note "a file in the share"
eq "$(sbctl exec demo -- stat -c %U:%a /shared/note)" user:600 \
	"with owner and mode"
[ -s "$share/logs/guestd.log" ] || fail "guestd's log is not in the share"
pass "guestd's log is in the share"
contains "$(sbctl logs demo --source guestd)" guestd "and can be read"

delta=$(($(sbctl exec demo -- date +%s) - $(date +%s)))
[ ${delta#-} -le 30 ] || fail "the guest's clock is $delta s off"
pass "the clock is right"
eq "$(sbctl info demo --json | json .receipt.hostname)" demo "the receipt"
eq "$(sbctl ls --label team=blue -q)" demo "found by label"
eq "$(sbctl ls --label team=red -q)" "" "and not by another"

# Both forwards lead into the guest; one more is added while it runs.
serve='import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
        self.wfile.write(sys.argv[1].encode())
http.server.HTTPServer(("", int(sys.argv[1])), H).serve_forever()'
for p in 7000 7001 7002; do
	sbctl exec demo -- sh -c \
		"setsid python3 -c '$serve' $p >/dev/null 2>&1 </dev/null &"
done
ask() { curl -s --max-time 10 "http://127.0.0.1:$1/"; }
answers() { [ "$(ask "$1")" = "$2" ]; }
wait_until 60 answers "$port" 7000
other=$(sbctl info demo --json | json '.ports[] | select(.guest == 7001).host')
wait_until 60 answers "$other" 7001
added=$(sbctl port demo add 0:7002 --json | json .host)
wait_until 60 answers "$added" 7002
pass "ports lead into the guest"
succeeds sbctl port demo rm "$added"
! ask "$added" || fail "a port that was removed still answers"
pass "a removed port is closed"
succeeds sbctl down demo

# What only a template or the API can say.
made=$(curl -s --max-time 300 --unix-socket "$SANDBOX_STATE/run/sandboxd.sock" \
	-d '{"name":"odd","server_port":9000,"server_log":"mine.log",
		"jupyter_port":9001,"jupyter_log":"kernels.log",
		"origins":["https://lab.example"],
		"workspace":"/work/here","shared_dir":"/mnt/s","debug":true}' \
	http://localhost/v1/sandboxes)
eq "$(json .state <<<"$made")" ready "a sandbox made by the API"
eq "$(sbctl exec odd -- pwd)" /work/here "its workspace"
sbctl exec odd -- touch mine
echo text >"$SANDBOX_STATE/text"
succeeds sbctl cp "$SANDBOX_STATE/text" odd:copied
eq "$(sbctl exec odd -- cat /work/here/copied)" text "cp goes there"
[ -s "$(json .share <<<"$made")/logs/mine.log" ] || fail "its log has another name"
pass "its log"
contains "$(sbctl logs odd --source guestd)" debug "says more"
eq "$(sbctl exec odd -- sh -c 'mountpoint -q /mnt/s && echo yes')" yes "its share"
contains "$(curl -s --max-time 10 "$(json .url <<<"$made")/health")" ok "its port"
contains "$(curl -si --max-time 10 -H 'Origin: https://lab.example' \
	"$(json .url <<<"$made")/health")" \
	'Access-Control-Allow-Origin: https://lab.example' "whose pages may ask"

# A kernel, by the gateway's own port, and by ZeroMQ.
gateway=$(sbctl jupyter odd --url)
contains "$gateway" ":$(json '.ports[] | select(.guest == 9001).host' <<<"$made")/" \
	"the gateway's port"
eq "$(curl -s --max-time 60 "${gateway}api/kernelspecs" | json .default)" \
	sandbox-python "its kernels"
file=$(sbctl kernel odd)
succeeds /usr/bin/python3 "${0%/*}/../native/gateway-zmq.py" "$file"
contains "$(sbctl logs odd --source kernel)" "the kernel starts" "their log"
[ -s "$(json .share <<<"$made")/logs/kernels.log" ] || fail "it has another name"
succeeds sbctl kernel odd --stop
[ ! -e "$file" ] || fail "the connection file is still there"
