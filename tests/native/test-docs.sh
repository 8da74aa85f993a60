#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# /docs in a real browser.
. "${srcdir:-.}/functions.sh"

requires chromium --version

echo secret > "$dir/token"
start_guestd --token-file "$dir/token"

request /docs
expect 200 '<!doctype html>'
grep -qi "^content-security-policy: default-src 'none'; script-src 'self'" \
	"$dir/head" || fail "no policy"
request /docs/docs.js
expect 200 "'use strict'"
request /docs/docs.css
expect 200 prefers-color-scheme

PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "${srcdir:-.}/docs.py" \
	"$url" secret "$dir" || fail "the page"
