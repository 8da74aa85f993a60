#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# JupyterLab at /lab, on our kernels, in a real browser.  It is installed once
# from the package index into LAB_VENV, a folder of the build tree unless given.
# SCREENSHOTS=DIR keeps pictures of it.
. "${srcdir:=.}/functions.sh"

export PYTHONDONTWRITEBYTECODE=1
share=${top_builddir:=../..}/guest/bundle/share
venv=${LAB_VENV:-$(realpath "$top_builddir")/tests/native/lab-venv}
version=4.6.6
token=lab-secret
echo "$token" > "$dir/token"
requires jq --version

bundle_kernels

# Not installed: that is said, and how to get it.
start_guestd --token-file "$dir/token" --share "$share" \
	--jupyterlab "$dir/nothing"
request /lab
expect 401 '/lab?ticket='
request "/lab?token=$token"
expect 404 'pip install jupyterlab'
request /lab/lab -H "Authorization: Bearer $token"
expect 404 'not installed'
# Kernels are ours, and need no JupyterLab.
request /lab/api/kernelspecs -H "Authorization: Bearer $token"
expect 200 sandbox-python
stop_guestd

# One that does not start.
printf '#!/bin/sh\necho no luck >&2\nexit 3\n' > "$dir/broken"
chmod 755 "$dir/broken"
start_guestd --token-file "$dir/token" --share "$share" \
	--jupyterlab "$dir/broken"
request /lab/api/contents -H "Authorization: Bearer $token"
expect 503 'is starting'
has_failed()
{
	request /lab/api/contents -H "Authorization: Bearer $token"
	[ "$status" = 502 ]
}
wait_until 20 has_failed
expect 502 'did not start'

# The cookie: good below /lab only, and not for other origins.
request "/lab?token=wrong"
expect 401
has_cookie()
{
	request "/lab/lab?x=1&token=$token" -H 'Accept: text/html' \
		-c "$dir/jar"
	[ "$status" = 200 ]
}
wait_until 20 has_cookie
expect 200 'url=/lab/lab?x=1"'
grep -qi '^set-cookie: sandbox-.*; Path=/lab; .*HttpOnly; SameSite=Strict' \
	"$dir/head" || fail "no cookie: $(cat "$dir/head")"
cookie=$(sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p' "$dir/head")
request /lab/api/kernels -H "Cookie: a=b; $cookie"
expect 200
request /lab/api/kernels -H "Cookie: $cookie" -H 'Origin: http://127.0.0.1:1'
expect 403
request /lab/api/kernels -H "Cookie: $cookie" -H 'Sec-Fetch-Site: same-site' \
	-H 'Sec-Fetch-Mode: no-cors'
expect 401
request /api/kernels -H "Cookie: $cookie"
expect 401
request /lab/api/kernels -H "Cookie: ${cookie%?}x"
expect 401
request /lab/api/kernels -H "Cookie: ${cookie%%=*}=99999999999.${cookie#*.}"
expect 401
stop_guestd

requires /usr/bin/python3 -c 'import matplotlib'
requires "${CHROMIUM:=chromium}" --version
export CHROMIUM
if [ ! -x "$venv/bin/jupyter-lab" ]; then
	PIP_CACHE_DIR=$account_home/.cache/pip
	export PIP_CACHE_DIR
	# Who works offline is not kept waiting; CI may not leave it out.
	retries=0
	[ "${CI:-}" != true ] || retries=5
	/usr/bin/python3 -m venv "$venv" && "$venv/bin/pip" install --quiet \
		--retries "$retries" --timeout 15 "jupyterlab==$version" \
		> "$dir/pip" 2>&1 || {
		rm -rf "$venv"
		echo "SKIP: JupyterLab cannot be installed: $(tail -n 1 "$dir/pip")" >&2
		exit 77
	}
fi

start_guestd --token-file "$dir/token" --share "$share" \
	--jupyterlab "$venv/bin/jupyter-lab"
mkdir "$dir/browser"
"${PYTHON:-/usr/bin/python3}" "$srcdir/lab.py" "$port" "$token" \
	"$dir/browser" "$HOME" || fail "lab.py"
