#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandboxctl screenshot, with the desktop of a guestd that runs here.
. "${srcdir:=.}/functions.sh"
. "$srcdir/ctl-functions.sh"

requires /usr/bin/python3 -c 'import PIL'
requires script --version

size_of()
{
	/usr/bin/python3 -c 'import sys
from PIL import Image
i = Image.open(sys.argv[1])
i.load()
print(i.format, *i.size)' "$1"
}

echo desk-secret > "$dir/token"
# shellcheck disable=SC2034 # for desktop_is
desktop_token=desk-secret
start_desktop 640x480 --token-file "$dir/token"
start_host "$dir/token"
here=$(pwd)
mkdir "$dir/sixel" "$dir/cwd"
/usr/bin/python3 "$srcdir/sixel.py" "$dir/sixel" "$top_builddir/host/sandboxctl" \
	"$port" "$dir/run" desk-secret || fail "sixel.py"
cd "$dir/cwd" || exit

# A picture: named by the time and never over another, or as -o says.
for i in 1 2 3; do
	file=$(ctl screenshot demo)
	is "$(size_of "$file")" "PNG 640 480" "$file, number $i"
done
is "$(find . -type f | wc -l)" 3 "pictures"
is "$(find . -name 'demo-20*-*.png' | wc -l)" 3 "their names"
is "$(ctl screenshot demo -o a.png)" "" "-o says nothing"
is "$(size_of a.png)" "PNG 640 480" "a.png"
is "$(stat -c %a a.png)" "$(umask 022; : > x; stat -c %a x)" "its mode"
ctl screenshot demo -o b.jpg --scale 0.5 --cursor
is "$(size_of b.jpg)" "JPEG 320 240" "b.jpg"
ctl screenshot demo -o c --format webp --region 10,20,100,50
is "$(size_of c)" "WEBP 100 50" "c"
ctl screenshot demo -o c.ppm --region 10,20,100,50
is "$(size_of c.ppm)" "PPM 100 50" "c.ppm"
ctl screenshot demo -o - > d
is "$(size_of d)" "PNG 640 480" "a pipe"
is "$(ctl screenshot demo -o d --json | jq -c 'del(.bytes)')" \
	'{"file":"d","format":"png"}' "--json"
mkdir folder
file=$(ctl screenshot demo -o folder)
is "$(size_of "$file")" "PNG 640 480" "into a folder"
is "${file%/*}" folder "into a folder"
ln -s a.png link
ctl screenshot demo -o link --region 0,0,7,9
[ -L link ] || fail "the symlink is gone"
is "$(size_of a.png)" "PNG 7 9" "through a symlink"
ctl screenshot demo -o /dev/null
[ -c /dev/null ] || fail "/dev/null is gone"

# On a terminal: shown where it can, in base64 alone; never as it is.
# on_tty TERM PROGRAM ARG...
on_tty()
{
	(
		TERM=$1 TERM_PROGRAM=$2
		export TERM TERM_PROGRAM
		unset TMUX STY LC_TERMINAL
		shift 2
		exec script -qec "$top_builddir/host/sandboxctl $*" /dev/null
	) < /dev/null > "$dir/tty" 2>&1
}
# file_of: the name that is all that was said, after the question for Sixel.
file_of()
{
	tr -d '\r\n' < "$dir/tty" | sed 's/^\x1b\[c//'
}
# shown BEGIN END: the PNG between them, and nothing else.
shown()
{
	/usr/bin/python3 - "$dir/tty" "$1" "$2" <<'END' || fail "not shown: $1"
import base64, re, sys
data = open(sys.argv[1], "rb").read()
begin, end = (s.encode().decode("unicode_escape").encode() for s in sys.argv[2:])
whole = re.fullmatch(b"(?:%s([A-Za-z0-9+/=]*)%s)+\r\n" % (begin, end), data)
assert whole, data[:200]
parts = re.findall(b"%s([A-Za-z0-9+/=]*)%s" % (begin, end), data)
assert all(len(p) <= 4096 for p in parts) or len(parts) == 1
assert base64.b64decode(b"".join(parts)).startswith(b"\x89PNG")
END
}
on_tty xterm-kitty '' screenshot demo
shown '\x1b_G[^;]*m=[01];' '\x1b\\\\'
on_tty xterm-256color iTerm.app screenshot demo
shown '\x1b]1337;File=inline=1;size=[0-9]+:' '\x07'
on_tty xterm-256color '' screenshot demo
is "$(size_of "$(file_of)")" "PNG 640 480" "a file instead"
on_tty screen-256color iTerm.app screenshot demo
is "$(size_of "$(file_of)")" "PNG 640 480" "within screen"
for o in - /dev/tty; do
	on_tty xterm-kitty '' screenshot demo -o $o && fail "bytes to a terminal"
	grep -q 'not written to a terminal' "$dir/tty" || fail "$(cat "$dir/tty")"
	! grep -aq PNG "$dir/tty" || fail "a picture as it is"
done

# The console comes from the host, and needs no sandbox that runs.
cp a.png "$dir/console.png"
box stopped ", \"console\": \"$dir/console.png\""
ctl screenshot demo --console -o console.png
cmp console.png "$dir/console.png" || fail "not the console"
refused 5 "is stopped, not ready" screenshot demo
box ready

# What cannot be.
refused 2 "'1,2,3' is not X,Y" screenshot demo --region 1,2,3
refused 2 "'0,0,0,5' is not X,Y" screenshot demo --region 0,0,0,5
refused 2 "'1,2,3,4&x=1' is not" screenshot demo --region '1,2,3,4&x=1'
refused 2 "'-1'" screenshot demo --scale=-1
refused 2 "'0x1'" screenshot demo --scale 0x1
refused 2 "'9'" screenshot demo --scale 9
refused 2 "bmp" screenshot demo --format bmp
refused 2 "--console goes" screenshot demo --console --cursor
refused 2 "--json does not go" screenshot demo --json -o -
refused 2 "region" screenshot demo --region 5000,0,10,10
refused 4 "cannot write 'no/such/x.png'" screenshot demo -o no/such/x.png
refused 4 "not-found" screenshot nobody
before=$(find . | sort)
refused 4 "not-found" screenshot nobody --console
is "$(find . | sort)" "$before" "files after failures"

# A guestd that lies.
true_url=$url
start_lies
printf '\033]0;evil\a' > "$dir/lies/v1_screen_screenshot"
refused 11 "no png picture" screenshot demo
refused 11 "no webp picture" screenshot demo --format webp -o -
cp a.png "$dir/lies/v1_screen_screenshot"
echo v1_screen_screenshot > "$dir/lies/endless"
refused 2 "larger than 64 MiB" screenshot demo
: > "$dir/lies/endless"
# Few bytes that claim to be a huge picture are not for a terminal.
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\377\377\377\0\377\377\377' \
	> "$dir/lies/v1_screen_screenshot"
on_tty xterm-kitty '' screenshot demo
! grep -q '_G' "$dir/tty" || fail "a huge picture is shown"
# Nor are pixels that are not what they claim.
printf 'P6\n4096 4096\n255\n\033]0;evil\a' > "$dir/lies/v1_screen_screenshot"
/usr/bin/python3 "$srcdir/sixel.py" "$dir/sixel" "$top_builddir/host/sandboxctl" ||
	fail "sixel.py: a guest that lies"
is "$(find . -name '*.png.*')" "" "remains"

# A desktop that will be up in a moment is waited for: it is asked again.
has_asked_twice()
{
	[ "$(grep -c 'GET /v1/screen/info' "$dir/lies/asked")" -ge 2 ]
}
rm "$dir/lies/v1_screen_screenshot" "$dir/lies/asked"
echo '{"state": "starting"}' > "$dir/lies/v1_screen_info"
ctl screenshot demo -o waited.png &
waiting=$!
wait_until 20 has_asked_twice
cp a.png "$dir/lies/v1_screen_screenshot"
echo '{"state": "up"}' > "$dir/lies/up"
mv "$dir/lies/up" "$dir/lies/v1_screen_info"
wait "$waiting" || fail "it did not wait"
is "$(size_of waited.png)" "$(size_of a.png)" "waited.png"

# No desktop, and no guestd.
url=$true_url
box ready
end_desktop
stop_guestd
refused 1 "does not answer" screenshot demo
grep -q -- '--console' "$dir/why" || fail "no remedy"
rm -rf "$dir/run"
cd "$here" || exit
start_guestd --token-file "$dir/token"
box ready
refused 9 "there is no desktop" screenshot demo
