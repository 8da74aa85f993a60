#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# personalise makes the machine the sandbox that the host names.  Runs as root
# in name spaces of its own, so that this machine keeps its name and its /etc.
if [ "${IN_NAMESPACE:-}" != yes ]; then
	[ "$(id -u)" = 0 ] && unshare -mu true 2>/dev/null || {
		echo "SKIP: needs root and name spaces" >&2
		exit 77
	}
	IN_NAMESPACE=yes exec unshare -mu "$0" "$@"
fi
. "${srcdir:=.}/functions.sh"
requires curl --version
requires socat -V

mkdir "$dir/etc"
printf '127.0.0.1\tlocalhost\n127.0.1.1\told\n' > "$dir/etc/hosts"
printf 'LANG=C.UTF-8\n' > "$dir/etc/environment"
mount --make-rprivate /
start_port
mount --bind "$dir/etc" /etc
start_guestd --control "$dir/port"

t=0123456789abcdef0123456789abcdef
e=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
personalise()
{
	say '{"type":"personalise","id":"'"$1"'","token":"'$t'","hostname":"demo",'"$2"'"entropy":"'$e'","time_ms":'"$(date +%s%3N)"'}'
}

# Bytes of entropy need CAP_SYS_ADMIN over the whole machine.
personalise sb-1 '"env":{"A":"1","B":"it'"'"'s # x"},'
wait_until 10 test -s "$dir/said"
heard 'entropy: cannot add' && { echo "SKIP: may not add entropy" >&2; exit 77; }
heard '"type":"personalised"' || fail "$(cat "$dir/said")"
heard '"entropy":32' || fail "$(cat "$dir/said")"
heard '"env_not_in_logins":["B"]' || fail "$(cat "$dir/said")"
[ "$(uname -n)" = demo ] || fail "host name is $(uname -n)"
[ "$(cat /etc/hostname)" = demo ] || fail "/etc/hostname"
grep -q '^127.0.1.1.demo$' /etc/hosts || fail "/etc/hosts"
grep -q old /etc/hosts && fail "/etc/hosts has the old name"
grep -qx '[0-9a-f]\{32\}' /etc/machine-id || fail "/etc/machine-id"
grep -qx 'LANG=C.UTF-8' /etc/environment || fail "/etc/environment lost a line"
grep -qx 'A="1"' /etc/environment || fail "/etc/environment"
grep -qxF "B=it's # x" "$dir/run/env" || fail "env"
[ "$(. "$dir/run/env.sh" && echo "$B")" = "it's # x" ] || fail "env.sh"
[ "$(stat -c %a "$dir/run/personal.json")" = 600 ] || fail "personal.json"
grep -q "$e" "$dir/run/personal.json" && fail "the entropy was written down"
grep -q "$t" "$dir/run/guestd.log" && fail "the token was logged"

request /v1/sandbox
expect 401
request /v1/sandbox -H "Authorization: Bearer $t"
expect 200 '"hostname":"demo"'

# JWTs by the sandbox's environment: what runs in it does not get the secret.
secret=fedcba9876543210fedcba9876543210-secret
: > "$dir/said"
personalise sb-1 '"env":{"A":"1","JWT_AUTH_REQUIRED":"true"},'
wait_until 10 heard 'JWT_AUTH_REQUIRED is set, but not JWT_SECRET'
: > "$dir/said"
personalise sb-1 '"env":{"A":"1","JWT_SECRET":"'$secret'","JWT_AUTH_REQUIRED":"true"},'
wait_until 10 heard '"type":"personalised"'
heard '"env":2' || fail "$(cat "$dir/said")"
grep -rqF "$secret" "$dir/run/env" "$dir/run/env.sh" /etc/environment \
	"$dir/run/guestd.log" "$dir/said" && fail "the secret was told"
# {"alg":"HS256"}.{} by Python's hmac.
jwt=eyJhbGciOiJIUzI1NiJ9.e30.4sncG2zmTc2Ms2D4sNgVPj80Mr4rNsmUFM20-LJzfyY
request /v1/sandbox -H "Authorization: Bearer $jwt"
expect 200
grep -qF "$secret" "$dir/body" && fail "/v1/sandbox tells the secret"
request /v1/sandbox -H "Authorization: Bearer $t"
expect 200
stop_guestd
start_guestd --control "$dir/port"
request /v1/sandbox -H "Authorization: Bearer $jwt"
expect 200

# Another identity is refused; the same one may come again.
: > "$dir/said"
personalise sb-2 ''
wait_until 10 heard "this is sandbox 'sb-1' already"
: > "$dir/said"
personalise sb-1 '"env":{},'
wait_until 10 heard '"type":"personalised"'
grep -q '^A=' "$dir/run/env" && fail "the old environment is still there"
request /v1/sandbox -H "Authorization: Bearer $jwt"
expect 401

# What cannot be applied is an error that names the step.
: > "$dir/said"
personalise sb-1 '"mounts":[{"tag":"no-such-tag","path":"'"$dir"'/mnt"}],'
wait_until 10 heard '"type":"error"'
heard 'mounts: cannot mount' || fail "$(cat "$dir/said")"

# A restarted guestd goes on, and says so.
stop_guestd
: > "$dir/said"
start_guestd --control "$dir/port"
request /v1/sandbox -H "Authorization: Bearer $t"
expect 200 '"id":"sb-1"'
say '{"type":"identify"}'
wait_until 10 heard '"personalised":true'
