#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A walk on the desktop of a real guest: look, type, film, and take it home.
. "${0%/*}/functions.sh"

succeeds sbctl up demo --memory 1G
info=$(sbctl info demo --json)
url=$(json .url <<<"$info")
token=$(cat "$(json .token_file <<<"$info")")

# call METHOD PATH [BODY]
call() {
	curl -s --max-time 120 -X "$1" -H "Authorization: Bearer $token" \
		-H 'Content-Type: application/json' ${3:+-d "$3"} "$url$2"
}

is_up() { [ "$(call GET /v1/screen/info | json .state)" = up ]; }
wait_until 120 is_up
pass "the desktop is there by itself"
eq "$(call GET /v1/screen/info | json '"\(.width)x\(.height)"')" 1280x800 \
	"as large as the template says"

shot=$SANDBOX_STATE/shot.png
before=$SANDBOX_STATE/before.png
sbctl screenshot demo -o "$before"
contains "$(file "$before")" "PNG image data, 1280 x 800" "a screenshot"
looks_different() {
	sbctl screenshot demo -o "$shot" && ! cmp -s "$shot" "$before"
}

eq "$(call POST /v1/screen/record/start '{"name": "walk"}' | json .state)" \
	recording "it is filmed"

# A terminal from the menu, and words typed into it.
sbctl click demo 700 300 --button right
wait_until 60 looks_different
pass "a click on the desktop opens its menu"
sbctl key demo Down Return
has_xterm() {
	call GET /v1/screen/windows |
		json -e '.windows[] | select(.class == "XTerm" and .focused)' \
			>/dev/null
}
wait_until 120 has_xterm
pass "the terminal in it has come up"
sbctl screenshot demo -o "$before"
sbctl type demo "echo 'grüße, 世界' >/tmp/said
"
is_said() {
	[ "$(sbctl exec demo -- cat /tmp/said 2>/dev/null)" = 'grüße, 世界' ]
}
wait_until 60 is_said
pass "what is typed arrives, also what the keyboard does not have"
wait_until 60 looks_different
pass "and is seen on the screen"

contains "$(sbctl logs demo --source desktop)" TigerVNC "the desktop has a log"

eq "$(call POST /v1/screen/record/stop | json .reason)" stopped "the film ends"
film=$SANDBOX_STATE/walk.mp4
sbctl record demo save --name walk -o "$film" >/dev/null
frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames \
	-of csv=p=0 "$film")
[ "${frames%,}" -ge 3 ] || fail "only $frames pictures in the film"
pass "and can be played: ${frames%,} pictures"

sbctl down demo
wait_until 60 nothing_left
pass "nothing is left"
