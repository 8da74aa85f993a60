#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandboxctl record and view with the desktop of a guestd that runs here, and
# what type, key and click ask for.
. "${srcdir:=.}/functions.sh"
. "$srcdir/ctl-functions.sh"

requires ffprobe -version
requires script --version

echo desk-secret > "$dir/token"
# shellcheck disable=SC2034 # for desktop_is
desktop_token=desk-secret
start_desktop 320x240 --token-file "$dir/token"
start_host "$dir/token"
mkdir "$dir/cwd"
cd "$dir/cwd" || exit

films()
{
	ctl record demo ls --json | jq -r '[.recordings[].name] | join(" ")'
}

# film FILE: that it is one, of this screen.
film()
{
	is "$(ffprobe -v error -select_streams v -show_entries \
		stream=codec_name,width,height -of csv=p=0 "$1")" \
		"h264,320,240" "the film $1"
}

# No film yet.
refused 4 "there is no film yet" record demo save
grep -q 'sandboxctl record demo start' "$dir/why" || fail "no remedy"
refused 5 "nothing is being recorded" record demo stop
is "$(ctl record demo ls | wc -l)" 1 "no film"

# One film, saved while it grows and when it is whole.
is "$(ctl record demo start --name one --fps 10)" one "its name"
refused 5 one record demo start --name one
is "$(ctl record demo status | awk 'NR == 2 { print $1, $2 }')" \
	"one recording" "status"
is "$(ctl record demo save 2> "$dir/why")" demo-one.mp4 "while it grows"
grep -q 'still being recorded' "$dir/why" || fail "no note: $(cat "$dir/why")"
film demo-one.mp4
refused 5 one record demo rm --name one
path=$(ctl record demo stop --json | jq -r .path)
is "$(ctl record demo status --json | jq -c .)" \
	'{"recording":false,"running":[]}' "nothing is recorded"
is "$(ctl record demo save)" demo-one-2.mp4 "not over the other"
cmp "$path" demo-one-2.mp4 || fail "not the whole film"
is "$(ctl record demo save --name one -o film.mp4)" "" "-o says nothing"
film film.mp4
ctl record demo save -o - > piped.mp4
cmp "$path" piped.mp4 || fail "a pipe"
is "$(ctl record demo save --json -o film.mp4 | jq -c .)" \
	"{\"file\":\"film.mp4\",\"name\":\"one\",\"bytes\":$(stat -c %s "$path")}" \
	"--json"

# No film is for a terminal.
script -qec "$top_builddir/host/sandboxctl record demo save -o -" \
	/dev/null < /dev/null > "$dir/tty" && fail "a film on a terminal"
grep -q 'not written to a terminal' "$dir/tty" || fail "$(cat "$dir/tty")"
! grep -aq ftyp "$dir/tty" || fail "a film on a terminal"

# The latest is meant where none is named; deleted is deleted.
two=$(ctl record demo start)
ctl record demo stop > /dev/null
is "$(films)" "one $two" "two films"
is "$(ctl record demo save)" "demo-$two.mp4" "the latest"
ctl record demo rm --name one
is "$(films)" "$two" "one film"
refused 4 one record demo save --name one
refused 4 one record demo rm --name one

# What cannot be.
refused 2 "record cannot 'play'" record demo play
refused 2 "needs the name" record demo rm
refused 2 "record stop takes no --fps" record demo stop --fps 3
refused 2 "record ls takes no --output" record demo ls -o x
refused 2 "61" record demo start --fps 61
refused 2 "name" record demo start --name ../evil
refused 2 "--json does not go" record demo save --json -o -
refused 4 "cannot write 'no/such'" record demo save -o no/such

# A link: for one path, once.
# ticket OPTION...: of a new link.
ticket()
{
	ctl view demo "$@" > "$dir/link"
	sed 's/.*ticket=//' "$dir/link"
}
t=$(ticket)
is "$(cat "$dir/link")" "$url/vnc/?ticket=$t" "the link"
request "/vnc/?ticket=$t"
expect 200 '<title>Desktop</title>'
request "/v1/vnc/ws?ticket=$t"
expect 426
request "/v1/vnc/ws?ticket=$t"
expect 401
t=$(ticket --view-only)
is "$(cat "$dir/link")" "$url/vnc/?view=1&ticket=$t" "the link to look at"
request "/v1/vnc/ws?ticket=$t"
expect 401
t=$(ticket --view-only)
request "/v1/vnc/view?ticket=$t"
expect 426
is "$(ctl view demo --json | jq -r .url | sed 's/=.*//')" "$url/vnc/?ticket" \
	"--json"
mkdir "$dir/bin"
printf '#!/bin/sh\nprintf "%%s|" "$@" > %s\n' "$dir/opened" > "$dir/bin/xdg-open"
chmod +x "$dir/bin/xdg-open"
link=$(PATH=$dir/bin:$PATH ctl view demo --open)
is "$(cat "$dir/opened")" "$link|" "what is opened"
mkdir "$dir/empty"
got=0
PATH=$dir/empty "$top_builddir/host/sandboxctl" view demo --open \
	> "$dir/link" 2> "$dir/why" || got=$?
is "$got" 9 "the status without xdg-open"
grep -q vnc "$dir/link" || fail "no link without xdg-open"

# A guestd that lies.
start_lies
lie()
{
	printf '%s' "$2" > "$dir/lies/$1"
}
lie v1_screen_info '{"state": "up"}'
lie v1_tickets '{"ticket": "x\u001b]0;evil\u0007"}'
refused 11 "no ticket" view demo
lie v1_screen_info '{"state": "off", "reason": "n\u001b[2Jo"}'
refused 9 "there is no desktop: n" view demo
! grep -q "$(printf '\033')" "$dir/why" || fail "an escape"
lie v1_screen_info '{"state": "failed", "reason": "no luck"}'
refused 6 "not up: no luck" view demo
for name in ../../evil '' a/b "$(printf '%0200d' 0)"; do
	lie v1_screen_recordings "{\"recordings\": [{\"name\": \"$name\"}]}"
	refused 11 "names no film" record demo save
done
lie v1_screen_recordings '{"recordings": [{"name": "f", "bytes": -5}]}'
lie v1_screen_recordings_f_download 'no film, but 20 bytes'
before=$(find "$dir" -name '*f.mp4*')
refused 11 "no film" record demo save
echo v1_screen_recordings_f_download > "$dir/lies/endless"
"$top_builddir/host/sandboxctl" record demo save 2> "$dir/why" &
pid=$!
wait_until 20 sh -c 'ls demo-f.mp4.*'
kill -TERM $pid
got=0
wait $pid || got=$?
is "$got" 143 "the status after SIGTERM: $(cat "$dir/why")"
is "$(find "$dir" -name '*f.mp4*')" "$before" "remains"

# Hands: what they ask for.
asked()
{
	sed -n "s|^POST $1 ||p" "$dir/lies/asked" | jq -cS "${2:-.}"
}
ctl click demo 10 20
ctl click demo 0 0 --button right --double
is "$(asked /v1/screen/mouse)" \
	'{"action":"click","button":"left","x":10,"y":20}
{"action":"double","button":"right","x":0,"y":0}' "clicks"
is "$(ctl key demo ctrl+c Return --json)" '{"ok":true}' "--json"
is "$(asked /v1/screen/keyboard)" '{"action":"key","keys":"ctrl+c"}
{"action":"key","keys":"Return"}' "keys"
: > "$dir/lies/asked"
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "aä你😀\n" }' > text
ctl type demo - < text
asked /v1/screen/keyboard -r | jq -js .[].text | cmp - text ||
	fail "not the text"
is "$(asked /v1/screen/keyboard '.text | utf8bytelength <= 2000' | sort -u)" \
	true "in pieces"
: > "$dir/lies/asked"
ctl type demo 'a "b"\n'
is "$(asked /v1/screen/keyboard)" '{"action":"type","text":"a \"b\"\\n"}' text
refused 2 "not UTF-8" type demo "$(printf 'latin\344')"
printf 'a\0b' | refused 2 "must be text" type demo -
refused 2 "X: 'a' is not" click demo a 1
refused 2 "Y: '99999' is not" click demo 1 99999
refused 2 "button" click demo 1 1 --button nose
refused 2 "" click demo 1
