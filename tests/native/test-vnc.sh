#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The desktop live: over a WebSocket, to look at only, and in a real browser.
# SCREENSHOTS=DIR keeps pictures of it.
. "${srcdir:=.}/functions.sh"

export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
requires "$python" -c 'import PIL'
requires chromium --version

echo vnc-secret > "$dir/token"
start_guestd --token-file "$dir/token" \
	--share "${top_builddir:=../..}/guest/bundle/share"
request /v1/vnc/ws
expect 401
request /v1/vnc/ws -H 'Authorization: Bearer vnc-secret'
expect 424 'there is no desktop'
request /vnc/
expect 200 '<title>Desktop</title>'
request /vnc/core/rfb.js
expect 200 RFB
request /vnc/core/../../terminal/terminal.js --path-as-is
expect 400
stop_guestd

# shellcheck disable=SC2034 # start_desktop reads it
desktop_token=vnc-secret
start_desktop 640x480 --token-file "$dir/token"
request /v1/vnc/ws -H 'Authorization: Bearer vnc-secret'
expect 426
mkdir "$dir/browser"
"$python" "$srcdir/vnc.py" "$port" vnc-secret "$dir/run" "$dir/browser" ||
	fail "vnc.py"
