#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page /terminal/: its files, and typed into in a real browser.
# SCREENSHOTS=DIR keeps pictures of it.
. "${srcdir:=.}/functions.sh"

export PYTHONDONTWRITEBYTECODE=1
share=${top_builddir:=../..}/guest/bundle/share
[ -e "$share/terminal/index.html" ] || fail "no page in $share"
echo page-secret > "$dir/token"
start_guestd --token-file "$dir/token" --share "$share"

# header NAME TEXT: what the last reply had.
header()
{
	grep -i "^$1:" "$dir/head" | grep -qF -- "$2" ||
		fail "no $1: $2 in $(cat "$dir/head")"
}

# No token is needed, for there is no secret in it.
request /terminal/
expect 200 '<title>Terminal</title>'
header Content-Type text/html
header Content-Security-Policy "default-src 'none'"
header Cache-Control no-cache
etag=$(sed -n 's/^ETag: \(.*\)\r$/\1/p' "$dir/head")
[ -n "$etag" ] || fail "no ETag"
request /terminal/ -H "If-None-Match: $etag"
expect 304
request '/terminal?id=1'
expect 307
header Location 'terminal/?id=1'
request /terminal/xterm.js
expect 200
header Content-Type text/javascript
request /terminal/terminal.css
expect 200
header Content-Type text/css

# Nothing else, and nothing from outside.
for path in /terminal/nothing /terminal/.. /terminal/%2e%2e%2f%2e%2e%2fguestd \
	/terminal/..%2f..%2f..%2f.hash /terminal/%2fetc%2fpasswd; do
	request "$path" --path-as-is
	case $status in
	400 | 404) ;;
	*) fail "$path: $status" ;;
	esac
done
for f in index.html line.js terminal.js terminal.css xterm.css; do
	! grep -nE '(src|href)="(https?:)?//|@import|url\(["'"'"']?http' \
		"$share/terminal/$f" || fail "$f has outside assets"
done

requires python3 --version
requires "${CHROMIUM:=chromium}" --version
export CHROMIUM
mkdir "$dir/browser"
python3 "$srcdir/terminal-page.py" "$port" page-secret "$dir/browser" ||
	fail "terminal-page.py: $(tail -n 5 "$dir/browser/chromium.log")"
