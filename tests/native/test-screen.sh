#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The desktop: it is there, seen as it is, comes back, and can be done without.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import PIL'
requires curl --version

# Without one, nothing is broken and all is said.
start_guestd --no-auth
request /v1/screen/info
expect 200 '"state":"off"'
request /screenshot
expect 424 'there is no desktop'
stop_guestd

start_desktop 640x480 --no-auth
asan=
! ldd "$guestd" | grep -q libasan || asan=asan
"$python" "$srcdir/screen.py" "$port" "$guestd_pid" "$dir/run" $asan ||
	fail "screen.py"

has_size()
{
	request /v1/screen/info
	grep -q "\"width\":$1," "$dir/body"
}

# A new guestd finds the screen as it was left, programs and all.
request /v1/screen/resolution -X PUT -d '{"width": 700, "height": 500}'
expect 200
server=$(jq .server.pid "$dir/run/desktop.json")
display=$(curl -sS "$url/v1/screen/info" | jq -r .display)
stop_guestd
kill -0 "$server" || fail "the X server ended with guestd"
start_guestd --no-auth --display 640x480 \
	--share "${top_builddir:-../..}/guest/bundle/share"
desktop_is up || fail "the desktop was not found again"
[ "$(jq .server.pid "$dir/run/desktop.json")" = "$server" ] ||
	fail "there is another X server"
has_size 700 || fail "it has another size: $(cat "$dir/body")"
kill -9 "$server"
other_server()
{
	[ "$(jq .server.pid "$dir/run/desktop.json")" != "$server" ] &&
		desktop_is up
}
wait_until 60 other_server
has_size 700 || fail "it has come back in another size: $(cat "$dir/body")"
server=$(jq .server.pid "$dir/run/desktop.json")
request /screenshot
expect 200
stop_guestd

# The X server of somebody else, with what his environment says.
XAUTHORITY=$dir/run/desktop/Xauthority
export XAUTHORITY
start_guestd --no-auth --display-of "$display"
request '/screenshot?format=jpeg'
expect 200
request /v1/shell/exec -H 'Content-Type: application/json' \
	-d '{"command": "echo $DISPLAY $XAUTHORITY"}'
expect 200 "$display $XAUTHORITY"
stop_guestd
unset XAUTHORITY

# A session that ends is started again; a display that is not wanted ends.
start_guestd --no-auth --display 640x480 \
	--share "${top_builddir:-../..}/guest/bundle/share"
session=$(jq .session.pid "$dir/run/desktop.json")
kill "$session"
other_session()
{
	[ "$(jq .session.pid "$dir/run/desktop.json")" != "$session" ]
}
wait_until 30 other_session
stop_guestd

# Another size is had without another X server.
start_guestd --no-auth --display 800x600
wait_until 30 has_size 800
[ "$(jq .server.pid "$dir/run/desktop.json")" = "$server" ] ||
	fail "there is another X server for another size"
stop_guestd
start_guestd --no-auth --display none
wait_until 30 desktop_is off
stop_guestd

# As in a sandbox: guestd is root, and the X server is not.
[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || exit 0
chmod 755 "$dir"
rm -rf "$dir/run"
{ grep -v '^user:' /etc/passwd; echo "user:x:1999:1999::$HOME:/bin/sh"; } > "$dir/passwd"
cat > "$dir/as-user" <<END
#!/bin/sh
mount --bind "$dir/passwd" /etc/passwd && exec "$guestd" "\$@"
END
chmod 755 "$dir/as-user"
printf '#!/bin/sh\nexec unshare -m "%s" "$@"\n' "$dir/as-user" > "$dir/guestd"
chmod 755 "$dir/guestd"
guestd=$dir/guestd
start_desktop 640x480 --no-auth
[ "$(stat -c %u "$dir/run/desktop/rfb")" = 1999 ] || fail "the X server is root's"
request '/screenshot?cursor=1'
expect 200
