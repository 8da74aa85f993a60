#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest reaches neither the host nor the outside, unless its network is open.
. "${0%/*}/functions.sh"

# A listener on all addresses of the host; the guest sees the loopback as
# 10.0.2.2, and another address of the host stands for the outside.
mkdir "$SANDBOX_STATE/www"
echo reached >"$SANDBOX_STATE/www/index.html"
python3 -u -m http.server -d "$SANDBOX_STATE/www" 0 \
	>"$SANDBOX_STATE/http.log" 2>&1 &
server=$!
at_exit kill "$server"
listens() { grep -q 'port [0-9]' "$SANDBOX_STATE/http.log"; }
wait_until 30 listens
port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$SANDBOX_STATE/http.log")
outside=$(hostname -I | awk '{print $1}')

fetch() { sbctl exec "$1" -- curl -sS --max-time 10 "http://$2:$port/"; }

succeeds sbctl up shut
eq "$(sbctl info shut --json | json .network)" none "the default is no network"
! fetch shut 10.0.2.2 || fail "the guest reaches the host's loopback"
pass "the host's loopback is out of reach"
[ -z "$outside" ] || ! fetch shut "$outside" ||
	fail "the guest reaches $outside"
pass "so is the outside"
! sbctl exec shut -- getent hosts localhost.example ||
	fail "the guest reaches a name server"
pass "so is a name server"
eq "$(grep -c GET "$SANDBOX_STATE/http.log")" 0 "no request has arrived"

output=$(sbctl up ajar --net open 2>&1)
contains "$output" 10.0.2.2 "an open network comes with a warning"
eq "$(fetch ajar 10.0.2.2)" reached "and then the host is reached"
[ -z "$outside" ] || eq "$(fetch ajar "$outside")" reached "and the outside"
