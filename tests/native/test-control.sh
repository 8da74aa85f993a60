#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Before the host has spoken guestd serves nobody; bad messages change nothing.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires socat -V
start_port
start_guestd --control "$dir/port"

request /health
expect 200
request /readyz
expect 503 'personalisation'
request /v1/sandbox
expect 503 '"code":"busy"'
request /nothing -H 'Authorization: Bearer x'
expect 503

say '{"type":"identify"}'
wait_until 10 heard '"type":"hello"'
heard '"personalised":false' || fail "hello: $(cat "$dir/said")"
heard '"boot_id":"' || fail "hello: $(cat "$dir/said")"

# refused TEXT LINE: the answer to the line is an error with that text.
refused()
{
	say "$2"
	wait_until 10 heard "$1"
}
t=0123456789abcdef0123456789abcdef
refused 'not valid JSON' 'garbage {'
refused 'must be a JSON object' '[1]'
refused 'unknown message type' '{"type":"dance"}'
refused 'duplicate object key' '{"type":"identify","type":"identify"}'
refused "'id' is missing" '{"type":"personalise"}'
refused 'token must have 32' \
	'{"type":"personalise","id":"sb-1","token":"short","hostname":"x"}'
refused 'is not a host name' \
	'{"type":"personalise","id":"sb-1","token":"'$t'","hostname":"a b"}'
refused "must be an absolute, plain path" \
	'{"type":"personalise","id":"sb-1","token":"'$t'","hostname":"x","mounts":[{"tag":"a","path":"/a/../b"}]}'
refused "is not a variable's name" \
	'{"type":"personalise","id":"sb-1","token":"'$t'","hostname":"x","env":{"A B":"x"}}'
refused 'must be hex digits' \
	'{"type":"personalise","id":"sb-1","token":"'$t'","hostname":"x","entropy":"xyzw"}'
refused "surprise" \
	'{"type":"personalise","id":"sb-1","token":"'$t'","hostname":"x","surprise":1}'

# A line without an end is dropped, and the next one is read.
head -c 70000 /dev/zero | tr '\0' a >&7
wait_until 10 heard 'longer than 65536'
say ''
: > "$dir/said"
say '{"type":"identify"}'
wait_until 10 heard '"personalised":false'

request /v1/sandbox
expect 503
