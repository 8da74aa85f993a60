#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Code of every language in the table runs, or the answer says what is missing.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires jq --version
requires python3 --version
# Tool-chains may be set up for an account: rustup's are.
HOME=$account_home
start_guestd --no-auth \
	--languages "${top_builddir:-../..}/guest/languages.json"

# code LANGUAGE CODE [MORE]: MORE is an object of other fields.
code()
{
	jq -n --arg l "$1" --arg c "$2" --arg p "$PATH" \
		"{language: \$l, code: \$c, env: {PATH: \$p}} + ${3:-{\}}" \
		> "$dir/request"
	request /v1/code/execute --data-binary "@$dir/request" -m 120
}

# is FILTER WANT: what jq finds in the last body.
is()
{
	got=$(jq -r "$1" "$dir/body") || fail "jq '$1': $(cat "$dir/body")"
	[ "$got" = "$2" ] || fail "$1 is '$got', not '$2': $(cat "$dir/body")"
}

# runs LANGUAGE CODE: it prints 42 if all that it needs is here.
runs()
{
	code "$1" "$2"
	missing=
	for need in $(jq -r --arg l "$1" '.languages[$l].needs[]' \
		"${top_builddir:-../..}/guest/languages.json"); do
		command -v "$need" > /dev/null || missing=$need
	done
	if [ -n "$missing" ]; then
		expect 424 '"code":"missing"'
		is '.detail | contains("which is not installed")' true
		is '.remediation | contains("Image")' true
		return
	fi
	expect 200
	is .exit_code 0
	is .stdout 42
	is .language "$1"
}

# The documented request, under each name.
for path in /v1/code/execute /code/execute; do
	request $path -X POST -H 'Content-Type: application/json' \
		-d '{"code": "print(2+2)", "language": "python"}'
	expect 200
	is .stdout 4
	is .language python
	is .exit_code 0
done

runs bash 'echo $((6 * 7))'
runs c '#include <stdio.h>
int main(void) { return printf("%d\n", 6 * 7) < 0; }'
runs c++ '#include <iostream>
int main() { std::cout << 6 * 7 << std::endl; }'
runs go 'package main
import "fmt"
func main() { fmt.Println(6 * 7) }'
runs javascript 'console.log(6 * 7)'
runs perl 'print 6 * 7, "\n"'
runs python 'print(6 * 7)'
runs rust 'fn main() { println!("{}", 6 * 7); }'
runs typescript 'const n: number = 6; console.log(n * 7)'
[ "$(jq -r '.languages | keys | join(" ")' \
	"${top_builddir:-../..}/guest/languages.json")" = \
	"bash c c++ go javascript perl python rust typescript" ] ||
	fail "a language is not tested here"

# An alias, stdin, errors, signals, timeouts.
code py 'import sys; print(sys.stdin.read())' '{stdin: "given"}'
is .stdout given
is .language python
code python 'import sys; print("no", file=sys.stderr); sys.exit(7)'
is .exit_code 7
is .stderr no
code python 'import os; os.kill(os.getpid(), 9)'
is .signal SIGKILL
code python 'import time; print("a", flush=True); time.sleep(1000)' \
	'{timeout: 1.5}'
is .timed_out true
is .stdout a
code python 'import sys; sys.stdout.buffer.write(bytes([255]))'
is .encoding base64
is .stdout /w==
code c 'not C'
[ "$status" = 424 ] || is '.exit_code != 0 and .stderr != ""' true

# In the folder that is asked for, and nothing is left in /tmp.
code python 'import os; print(os.getcwd()); print(__file__)' '{cwd: "/usr"}'
is '.stdout | split("\n")[0]' /usr
file=$(jq -r '.stdout | split("\n")[1]' "$dir/body")
case $file in /tmp/sandbox-code-*/main.py) ;; *) fail "file $file" ;; esac
wait_until 20 test ! -e "${file%/*}"

# In the background it can be read later.
code python 'print(input())' '{background: true}'
expect 202
id=$(jq -r .id "$dir/body")
request "/v1/processes/$id/stdin" -d '{"data": "later\n"}'
expect 204
request "/v1/processes/$id/output?wait=20"
is .data later

# Bad input.
code cobol ''
expect 400 "'language'"
request /v1/code/execute -d '{"language": "python"}'
expect 400 "'code'"
request /v1/code/execute -d '{"code": ""}'
expect 400 "'language'"
request /v1/code/execute -d '{"code": 1, "language": "python"}'
expect 400 "'code'"
code python '' '{timeout: -1}'
expect 400 "'timeout'"
code python '' '{env: {PATH: "/nowhere"}}'
expect 424 "'python3'"
code python '' '{stateful: 1}'
expect 400 "'stateful'"
code python '' '{cwd: "/nowhere"}'
expect 400 "'cwd'"
code python ''
is .exit_code 0
