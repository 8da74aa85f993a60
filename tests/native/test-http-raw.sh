#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guestd stands clients that do not speak HTTP, or speak it slowly.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires socat -V
start_guestd --no-auth

# raw BYTES: send them, keep the answer in $dir/answer.
raw()
{
	printf "$1" | socat -t 5 - "TCP:127.0.0.1:$port" > "$dir/answer"
}

answered()
{
	grep -q "^HTTP/1.1 $1 " "$dir/answer" ||
		fail "'$raw_bytes' gave: $(head -1 "$dir/answer")"
}

while IFS='	' read -r want raw_bytes; do
	raw "$raw_bytes"
	answered "$want"
done <<'END'
400	GET / HTTP/1.1\r\n\r\n
400	GET / HTTP/2.0\r\nHost: localhost\r\n\r\n
400	GET /\r\n\r\n
400	GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n
400	GET / HTTP/1.1\r\nHost localhost\r\n\r\n
400	GET / HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n
400	GET / HTTP/1.1\r\nHost: localhost\r\nX: a\001b\r\n\r\n
400	POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n
400	POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n
400	POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n
400	POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n
400	POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n
400	GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n
404	BREW /pot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n
405	BREW /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n
200	GET /health HTTP/1.0\r\n\r\n
200	GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n
200	\r\nGET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n
200	GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: z\r\n\r\n
END

# A head without an end.
head -c 20000 /dev/zero | tr '\0' a |
	socat -t 5 - "TCP:127.0.0.1:$port" > "$dir/answer"
raw_bytes='20000 a'
answered 413

# Two requests sent at once are answered in their order.
raw 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
order=$(grep -o 'HTTP/1.1 [0-9]*' "$dir/answer" | cut -d ' ' -f 2 | tr '\n' ' ')
[ "$order" = '200 404 ' ] || fail "order: $order"

# A head that never comes to its end loses its connection, and meanwhile others
# are served.
mkfifo "$dir/slow"
socat "TCP:127.0.0.1:$port" - < "$dir/slow" > "$dir/answer" 2>&1 &
slow=$!
at_exit "kill $slow 2>/dev/null || :"
exec 8> "$dir/slow"
printf 'GET /health HT' >&8
request /health
expect 200

is_gone()
{
	! kill -0 "$slow"
}
wait_until 30 is_gone
exec 8>&-

# One that is told to end does so, however much is asked of it meanwhile.
request /v1/shell/exec -d '{"command": "cat", "background": true, "open_stdin": true}'
expect 202
/usr/bin/python3 "$srcdir/flood.py" "$port" > "$dir/flood" &
flood=$!
has_begun()
{
	grep -q begun "$dir/flood"
}
wait_until 60 has_begun
stop_guestd || fail "guestd did not end well"
wait "$flood" || fail "flood.py"
