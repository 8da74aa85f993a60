#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The OpenAPI documents are right in themselves, and guestd does what its own
# says.
. "${srcdir:=.}/functions.sh"

requires /usr/bin/python3 -c 'import jsonschema'
requires jq --version
: "${top_builddir:=../..}"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

echo secret > "$dir/token"
# shellcheck disable=SC2034 # for functions.sh
desktop_token=secret
mkdir "$dir/files"
bundle_kernels
start_desktop 640x480 --token-file "$dir/token" \
	--languages "$top_builddir/guest/languages.json"

# A linter of others, where there is one.
lint()
{
	/usr/bin/python3 "$srcdir/openapi.py" "$1" || fail "$1"
	! command -v openapi-spec-validator > /dev/null ||
		openapi-spec-validator "$1" || fail "openapi-spec-validator: $1"
}

request /v1/openapi.json
expect 200
cp "$dir/body" "$dir/guestd.json"
lint "$dir/guestd.json"
/usr/bin/python3 "$srcdir/conform-guestd.py" "$port" secret "$dir/files" ||
	fail "guestd is not as described"

# sandboxd needs no machine to describe itself.
SANDBOX_STATE=$(mktemp -d /tmp/sb-XXXXXX)
SANDBOX_IMAGES=$SANDBOX_STATE/images
export SANDBOX_STATE SANDBOX_IMAGES
at_exit rm -rf "$SANDBOX_STATE"
"$top_builddir/run" sandboxd --foreground 2> "$dir/err" &
at_exit "kill $! && wait $! || :"
wait_until 30 test -S "$SANDBOX_STATE/run/sandboxd.sock"
ask()
{
	curl -sSf -m 20 --unix-socket "$SANDBOX_STATE/run/sandboxd.sock" \
		"http://localhost$1" > "$2"
}
wait_until 30 ask /v1/openapi.json "$dir/sandboxd.json"
lint "$dir/sandboxd.json"
ask /docs "$dir/docs.html" || fail "sandboxd has no /docs"
