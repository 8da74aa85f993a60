#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Finding files and lines: what .gitignore leaves out, and when it ends.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
start_guestd --no-auth
f=$dir/files

# find_ ROUTE FILTER BODY: what jq finds, in one line.
find_()
{
	request "$1" -d "$3"
	expect 200
	jq -r "$2" "$dir/body" | sort | tr '\n' ' ' | sed 's/ $//'
}

# names_are WANT BODY-FIELDS [FOLDER]: the files that glob finds.
names_are()
{
	got=$(find_ /v1/file/glob '.entries[] | select(.type == "file").path' \
		"{\"path\": \"${3:-$f}\", \"pattern\": \"**\"$2}" |
		sed "s|$f/||g")
	[ "$got" = "$1" ] || fail "found '$got', not '$1'"
}

mkdir -p "$f/.git" "$f/build/deep" "$f/src/build" "$f/src/gen" "$f/docs"
(cd "$f" && touch a.c a.o build/x build/deep/y src/b.c src/b.o src/keep.o \
	src/build/z src/gen/made.c src/gen/hand.c docs/build 'docs/#odd' .git/c)
cat > "$f/.gitignore" <<'END'
# objects, and what is built at the top
*.o
!keep.o
/build/
\#odd
END
printf 'gen/*\n!gen/hand.c\n' > "$f/src/.gitignore"

names_are 'a.c docs/build src/b.c src/build/z src/gen/hand.c src/keep.o' ''
names_are '.gitignore a.c docs/build src/.gitignore src/b.c src/build/z src/gen/hand.c src/keep.o' \
	', "hidden": true'
names_are 'a.c a.o build/deep/y build/x docs/#odd docs/build src/b.c src/b.o src/build/z src/gen/hand.c src/gen/made.c src/keep.o' \
	', "gitignore": false'
# The rules of the folders above hold as far as the repository goes.
names_are 'src/b.c src/build/z src/gen/hand.c src/keep.o' '' "$f/src"
rmdir "$f/.git" 2> "$dir/err2" || rm -r "$f/.git"
names_are 'src/b.c src/b.o src/build/z src/gen/hand.c src/keep.o' '' "$f/src"

# What git itself says of the same tree, where there is one.
if git --version > /dev/null 2>&1; then
	git -C "$f" init -q
	want=$(cd "$f" && git -c core.excludesFile= ls-files -o --exclude-standard |
		grep -v gitignore | sort | tr '\n' ' ' | sed 's/ $//')
	names_are "$want" ''
fi

# A .gitignore that is no file, or a link elsewhere, is none.
mkdir "$f/odd" "$f/odd2"
mkfifo "$f/odd/.gitignore"
ln -s "$f/.gitignore" "$f/odd2/.gitignore"
touch "$f/odd/seen" "$f/odd2/seen"
names_are 'odd/seen' '' "$f/odd"
names_are 'odd2/seen' '' "$f/odd2"

# Lines.
for i in "$f"/a.c "$f"/a.o "$f"/src/gen/*.c; do echo needle > "$i"; done
got=$(find_ /v1/grep/search '.matches[].path' \
	"{\"path\": \"$f\", \"pattern\": \"needle\"}" | sed "s|$f/||g")
[ "$got" = 'a.c src/gen/hand.c' ] || fail "grep: $got"
got=$(find_ /v1/grep/search '.matches[].path' \
	"{\"path\": \"$f\", \"pattern\": \"needle\", \"gitignore\": false}" |
	sed "s|$f/||g")
[ "$got" = 'a.c a.o src/gen/hand.c src/gen/made.c' ] || fail "grep: $got"

# No time at all: what was found so far, and that it is not all.
request /v1/grep/search -d "{\"path\": \"$f\", \"pattern\": \"needle\", \"timeout\": 0}"
expect 200 '"truncated":true'
request /v1/file/glob -d "{\"path\": \"$f\", \"pattern\": \"**\", \"timeout\": 0}"
expect 200 '"truncated":true'
request /v1/grep/search -d "{\"path\": \"$f\", \"pattern\": \"x\", \"timeout\": -1}"
expect 400 "'timeout'"
# One that would need the memory of the machine.
request /v1/grep/search -d "{\"path\": \"$f\", \"pattern\": \"((a{9999}){9999}){9999}\"}"
expect 400 "'pattern'"
request /v1/grep/search -d "{\"path\": \"$f\", \"pattern\": \"(a{99}){99}\"}"
expect 400 "'pattern'"
request /v1/grep/search -d "{\"path\": \"$f\", \"pattern\": \"(a*)*\\\\1\"}"
expect 400 "'pattern'"

# All folders below are watched, also one that is new, and one that has moved.
mkdir -p "$f/w/old/deep"
ln -s /etc "$f/w/link"
curl -sSN -m 60 "$url/v1/file/watch?path=$f/w&recursive=1" > "$dir/events" &
watcher=$!
at_exit "kill $watcher 2>/dev/null || :"

# saw EVENT PATH
saw()
{
	grep -qF "{\"event\":\"$1\",\"path\":\"$f/w$2\"}" "$dir/events"
}

wait_until 20 saw ready ''
echo x > "$f/w/old/deep/file"
wait_until 20 saw write /old/deep/file
mkdir -p "$f/w/new/inner"
wait_until 20 saw create /new/inner
echo x > "$f/w/new/inner/file"
wait_until 20 saw create /new/inner/file
mv "$f/w/old" "$f/w/moved"
wait_until 20 saw create /moved/deep
echo x > "$f/w/moved/deep/late"
wait_until 20 saw write /moved/deep/late
rm -r "$f/w/new"
wait_until 20 saw delete /new
rm -r "$f/w"
wait "$watcher" || fail "the stream did not end with its folder"
request "/v1/file/watch?path=$f&recursive=x"
expect 400 "'recursive'"
