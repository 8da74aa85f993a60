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
requires python3 --version

mkdir "$dir/etc"
printf '127.0.0.1\tlocalhost\n127.0.1.1\told\n' > "$dir/etc/hosts"
printf 'LANG=C.UTF-8\n' > "$dir/etc/environment"
mount --make-rprivate /
bundle_kernels # while there is a whole /etc
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

# The port for Jupyter's clients, by the sandbox's own choice; also again, and
# after a restart.
jupyter=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
for _ in 1 2; do
	: > "$dir/said"
	personalise sb-1 '"jupyter_port":'"$jupyter"',"jupyter_log":"k.log",'
	wait_until 10 heard '"type":"personalised"'
done
for _ in 1 2; do
	curl -fsS -m 20 -H "Authorization: token $t" \
		"http://127.0.0.1:$jupyter/api/kernels" > "$dir/body" ||
		fail "nothing on Jupyter's port"
	grep -q "Jupyter's port" "$dir/run/guestd.log" && fail "listened twice"
	stop_guestd
	start_guestd --control "$dir/port"
done

# A kernel that is started before anybody asks for it has the sandbox's
# environment, also when that changes.
warm_env()
{
	jq -r 'select(.warm).pid' "$dir"/run/kernels/*.json 2>/dev/null |
		while read -r pid; do
			tr '\0' '\n' < "/proc/$pid/environ" | grep "^A=" || :
		done
}
is_warm()
{
	[ "$(warm_env)" = "A=$1" ]
}
preload=
[ -z "$asan" ] || preload=',"LD_PRELOAD":"'$asan'","ASAN_OPTIONS":"detect_leaks=0"'
stop_guestd
start_guestd --control "$dir/port" --share ../../guest/bundle/share
for value in one two; do
	: > "$dir/said"
	personalise sb-1 '"env":{"A":"'$value'"'"$preload"'},"warm_kernel":true,'
	wait_until 10 heard '"type":"personalised"'
	wait_until 60 is_warm $value
done
: > "$dir/said"
personalise sb-1 '"warm_kernel":false,'
wait_until 10 heard '"type":"personalised"'
wait_until 60 eval '! ls "$dir"/run/kernels/*.json'

# Pages of other origins: of those that an option names, and of those that the
# sandbox does, also after a restart.
# may_ask ORIGIN: to ask whether, and to ask.
may_ask()
{
	for method in OPTIONS GET; do
		request /v1/sandbox -X $method -H "Authorization: Bearer $t" \
			-H "Origin: $1" -H 'Access-Control-Request-Method: GET'
		expect "$([ $method = GET ] && echo 200 || echo 204)"
		grep -qix "Access-Control-Allow-Origin: $1.\?" "$dir/head" ||
			fail "$method: $(cat "$dir/head")"
	done
}
# may_not_ask ORIGIN
may_not_ask()
{
	for method in OPTIONS GET; do
		request /v1/sandbox -X $method -H "Authorization: Bearer $t" \
			-H "Origin: $1" -H 'Access-Control-Request-Method: GET'
		expect 403
		! grep -qi "^Access-Control" "$dir/head" ||
			fail "$method: $(cat "$dir/head")"
	done
}
lab=https://lab.example
stop_guestd
start_guestd --control "$dir/port" --origin http://own.example:8080
may_ask http://own.example:8080
may_not_ask $lab
: > "$dir/said"
personalise sb-1 '"origins":["http://other.example","'$lab'"],'
wait_until 10 heard '"type":"personalised"'
for _ in 1 2; do
	may_ask $lab
	may_ask http://own.example:8080
	may_not_ask http://lab.example
	may_not_ask $lab:8080
	may_not_ask null
	stop_guestd
	start_guestd --control "$dir/port" --origin http://own.example:8080
done
for bad in '"*"' '["lab.example"]' '["'$lab'/"]' '[1]'; do
	: > "$dir/said"
	personalise sb-1 '"origins":'"$bad",
	wait_until 10 heard '"type":"error"'
	heard origins || fail "$(cat "$dir/said")"
done
may_ask $lab
: > "$dir/said"
personalise sb-1 '"origins":["*"],'
wait_until 10 heard '"type":"personalised"'
may_ask http://any.example
: > "$dir/said"
personalise sb-1 ''
wait_until 10 heard '"type":"personalised"'
may_not_ask $lab
may_ask http://own.example:8080

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
personalise sb-1 '"display":"10x10",'
wait_until 10 heard "is not a size of a screen"
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
