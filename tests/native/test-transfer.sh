#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Uploads and downloads through guestd: parts, forms, large ones in small memory.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
start_guestd --no-auth
chmod 755 "$dir"
f=$dir/files
mkdir "$f"
chmod 777 "$f"
seq 1 100000 > "$f/lines"

# header NAME: of the last reply.
header()
{
	tr -d '\r' < "$dir/head" | sed -n "s/^$1: //Ip"
}

# Downloads: whole, in parts, and only when changed.
for route in /file/download /v1/file/download; do
	request "$route?path=$f/lines"
	expect 200
	cmp "$dir/body" "$f/lines" || fail "download"
done
etag=$(header etag)
[ -n "$etag" ] || fail "no ETag"
[ "$(header accept-ranges)" = bytes ] || fail "no Accept-Ranges"
header content-disposition | grep -q 'filename="lines"' ||
	fail "no Content-Disposition"
d="/v1/file/download?path=$f/lines"
size=$(stat -c %s "$f/lines")
request "$d" -r 2-5
expect 206
printf '2\n3\n' | cmp - "$dir/body" || fail "range"
[ "$(header content-range)" = "bytes 2-5/$size" ] || fail "Content-Range"
request "$d" -r -4
expect 206
printf '000\n' | cmp - "$dir/body" || fail "suffix range"
request "$d" -r "$((size - 2))-"
expect 206
printf '0\n' | cmp - "$dir/body" || fail "open range"
request "$d" -r "$size-"
expect 416
[ "$(header content-range)" = "bytes */$size" ] || fail "416"
request "$d" -H 'Range: bytes=0-1,4-5'
expect 200
request "$d" -r 0-1 -H "If-Range: $etag"
expect 206
request "$d" -r 0-1 -H 'If-Range: "other"'
expect 200
request "$d" -H "If-None-Match: \"x\", $etag"
expect 304
request "$d" -I
expect 200
[ "$(header content-length)" = "$size" ] || fail "HEAD"
echo 1 >> "$f/lines"
request "$d" -H "If-None-Match: $etag"
expect 200
: > "$f/empty"
request "/v1/file/download?path=$f/empty"
expect 200
[ "$(header content-length)" = 0 ] || fail "an empty file"
request "/v1/file/download?path=/proc/version"
expect 200 'Linux version'
request "/v1/file/download?path=$f/none"
expect 404
mkfifo "$f/fifo"
request "/v1/file/download?path=$f/fifo"
expect 400

# A folder as tar; what a tar cannot hold is left out.
mkdir -p "$f/tree/sub/$(printf '%0150d' 0)"
(cd "$f/tree" && echo a > a && ln -s a link && mkfifo pipe &&
	cp ../lines "sub/$(printf '%0150d' 0)/lines")
request "/v1/file/download?path=$f/tree"
expect 200
[ "$(header content-type)" = application/x-tar ] || fail "tar"
mkdir "$dir/unpacked"
tar -xf "$dir/body" -C "$dir/unpacked" || fail "tar"
rm "$f/tree/pipe"
diff -r "$f/tree" "$dir/unpacked/tree" || fail "the tar differs"

# The body as a file.
request "/v1/file?path=$f/new/raw" -T "$f/lines"
expect 200 "\"size\":$(stat -c %s "$f/lines")"
cmp "$f/new/raw" "$f/lines" || fail "raw upload"
request "/v1/file?path=$f/new/chunked" -X PUT -H 'Transfer-Encoding: chunked' \
	--data-binary "@$f/lines"
expect 200
cmp "$f/new/chunked" "$f/lines" || fail "chunked upload"
request "/v1/file?path=$f/new/nothing" -X PUT
expect 200
[ -e "$f/new/nothing" ] && [ ! -s "$f/new/nothing" ] || fail "empty upload"
request /v1/file -T "$f/lines"
expect 400 path
request "/v1/file?path=$f/fifo" -T "$f/lines"
expect 400
request "/v1/file?path=$f" -T "$f/lines"
expect 400

# What is wrong with a body shows while it comes; what is right keeps the
# connection for the next request.
request "/v1/file?path=$f/new/expect" -T "$f/lines" -H 'Expect: 100-continue'
expect 200
grep -q '^HTTP/1.1 100' "$dir/head" || fail "no 100 Continue"
if command -v socat > /dev/null; then
	target="/v1/file?path=$f/new/bad HTTP/1.1\r\nHost: localhost"
	printf "PUT $target\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n" |
		socat -T 20 -,ignoreeof "TCP:127.0.0.1:$port" > "$dir/answer"
	grep -q '^HTTP/1.1 400' "$dir/answer" || fail "a broken chunk"
	[ ! -e "$f/new/bad" ] || fail "a broken chunk was written"
	printf "PUT $target\r\nContent-Length: 2\r\n\r\nabGET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" |
		socat -T 20 -,ignoreeof "TCP:127.0.0.1:$port" > "$dir/answer"
	[ "$(grep -o 'HTTP/1.1 200' "$dir/answer" | wc -l)" = 2 ] ||
		fail "two requests: $(cat "$dir/answer")"
	[ "$(cat "$f/new/bad")" = ab ] || fail "the first of two requests"
fi

# Forms.
request /file/upload -F "file=@$f/lines" -F "path=$f/form/lines"
expect 200 '"success":true'
cmp "$f/form/lines" "$f/lines" || fail "form, path behind"
request /v1/file/upload -F "path=$f/form/first" -F "file=@$f/lines"
expect 200
cmp "$f/form/first" "$f/lines" || fail "form, path before"
request "/v1/file/upload?path=$f/form" -F "file=@$f/lines;filename=named"
expect 200
cmp "$f/form/named" "$f/lines" || fail "form, path in the query"
request "/v1/file/upload?path=$f/form" -F "a=@$f/lines;filename=one" \
	-F "b=@$f/empty;filename=two" -F other=x
expect 200
[ "$(jq '.files | length' "$dir/body")" = 2 ] || fail "two files"
[ -e "$f/form/one" ] && [ -e "$f/form/two" ] || fail "two files"
request /v1/file/upload -F path=/x
expect 400 'no file'
request /v1/file/upload --data-binary x
expect 415 multipart
request /v1/file/upload -H 'Content-Type: multipart/form-data; boundary=x' \
	--data-binary '--x'
expect 400 'has no end'
[ -z "$(find "$f" -name '.sandbox-*')" ] || fail "temporary files are left"

# A client that leaves in the middle leaves nothing behind.
head -c 3000000 /dev/zero | curl -s -m 20 -o "$dir/body" -X PUT \
	-H 'Content-Length: 4000000' -H 'Expect:' --data-binary @- \
	"$url/v1/file?path=$f/half" --max-time 1 || :
nothing_left()
{
	[ -z "$(find "$f" -name '.sandbox-*')" ]
}
wait_until 20 nothing_left
[ ! -e "$f/half" ] || fail "half a file"

# Large ones: as many bytes as guestd must never hold.
large=$f/large
head -c 300000000 /dev/zero | tr '\0' x > "$large"
curl -sS -m 100 -T "$large" -o "$dir/body" "$url/v1/file?path=$f/up" ||
	fail "large upload"
cmp "$large" "$f/up" || fail "the large upload is not whole"
rm "$f/up"
curl -sS -m 100 -F "path=$f/up" -F "file=@$large" -o "$dir/body" \
	"$url/v1/file/upload" || fail "large form"
cmp "$large" "$f/up" || fail "the large form is not whole"
rm "$f/up"
curl -sS -m 100 "$url/v1/file/download?path=$large" | cmp - "$large" ||
	fail "the large download is not whole"
# Clients that do not read: a pipe that nobody reads stops curl.
mkfifo "$dir/stuck"
exec 8<> "$dir/stuck"
for _ in 1 2 3 4; do
	curl -sS -m 100 "$url/v1/file/download?path=$large" > "$dir/stuck" &
	at_exit "kill $! 2>/dev/null || :"
done
four_connections()
{
	curl -sS "$url/metrics" | grep -qx 'guestd_http_connections 5'
}
wait_until 20 four_connections
request /health
expect 200
# A sanitizer keeps what was freed.
if ! ldd "$guestd" | grep -q libasan; then
	peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' \
		"/proc/$guestd_pid/status")
	[ "$peak" -lt 40000 ] || fail "guestd grew to $peak kB"
fi
