#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Films in a real browser.  SCREENSHOTS=DIR keeps pictures of it.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import PIL'
requires chromium --version
requires ffprobe -version

echo film-secret > "$dir/token"
# shellcheck disable=SC2034 # start_desktop reads it
desktop_token=film-secret
start_desktop 640x480 --token-file "$dir/token"
mkdir "$dir/browser"
"$python" "$srcdir/film-page.py" "$port" film-secret "$dir/run" "$dir/browser" ||
	fail "film-page.py"
