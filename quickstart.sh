#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a running sandbox, or through all tests.
set -euo pipefail

usage() {
	cat <<'END'
usage: ./quickstart.sh [COMMAND]

  (none)   install what is missing, build, make the guest image, start the
           sandbox "demo" and run Python in it
  check    install what is missing, build in every flavour, run all tests
           and end with the line "N passed, N failed"

Both can be run again and then skip what is done.  Debian packages are the
only thing that is fetched; packages.list names them.

environment:
  JOBS=N   compile with N jobs (default: the number of processors)
  CI=true  check: a test that is skipped counts as failed
END
}

cd "$(dirname "$(realpath "$0")")"
top=$PWD
jobs=${JOBS:-$(nproc)}
log=build/quickstart.log
tty=false
[ ! -t 1 ] || [ "${TERM:-dumb}" = dumb ] || tty=true

say() { printf '%s\n' "$*"; }

# die WHAT REMEDY
die() {
	printf '\nquickstart: %s\n' "$1" >&2
	[ -z "${2:-}" ] || printf '  what to do: %s\n' "$2" >&2
	exit 1
}

# draw TEXT SINCE LOG: one line with the time and what happens just now.
draw() {
	local last width
	last=$(tail -c 400 "$3" | tr -cd '[:print:]\n' | sed '/^ *$/d' | tail -n 1)
	width=$(($(tput cols 2>/dev/null || echo 80) - 1))
	printf '\r\033[K%.*s' "$width" "$1 $((SECONDS - $2)) s  $last"
}

# watch_job TEXT LOG PID: wait for a job and return its status; on a terminal
# show that it lives.
watch_job() {
	local since=$SECONDS rc=0
	while $tty && kill -0 "$3" 2>/dev/null; do
		draw "$1" "$since" "$2"
		sleep 0.2
	done
	wait "$3" || rc=$?
	! $tty || printf '\r\033[K'
	return $rc
}

# quietly TEXT LOG COMMAND...: run it with its output in LOG.
quietly() {
	"${@:3}" >>"$2" 2>&1 </dev/null &
	watch_job "$1" "$2" $!
}

# step N TEXT REMEDY COMMAND...: a step that must succeed.
step() {
	local text="[$1/$steps] $2" remedy=$3 since=$SECONDS
	shift 3
	$tty || say "$text ..."
	quietly "$text" "$log" "$@" || {
		say "$text: failed. The end of $log:"
		tail -n 20 "$log" | sed 's/^/  | /'
		die "this command failed: $*" "$remedy"
	}
	say "$text: done ($((SECONDS - since)) s)"
}

# ---- packages

# The packages of the sections that are named.
packages() {
	awk -v sections=" $* " 'index(sections, " " $1 " ") { print $2 }' \
		packages.list
}

missing_packages() {
	local p
	for p in $(packages "$@"); do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = \
			installed ] || echo "$p"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

install_packages() {
	export DEBIAN_FRONTEND=noninteractive
	local get=(apt-get -y -q --no-install-recommends install "$@")
	as_root "${get[@]}" ||
		{ as_root apt-get -q update && as_root "${get[@]}"; }
}

ensure_packages() {
	local list
	command -v dpkg-query >/dev/null ||
		die "this is no Debian system" \
			"install the equivalents of packages.list, then: ./autogen.sh && ./configure && make"
	mapfile -t list < <(missing_packages "$@")
	if [ ${#list[@]} -eq 0 ]; then
		say "[1/$steps] packages: all there"
		return
	fi
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "packages are missing, and there is no sudo" \
				"as root: apt-get install ${list[*]}"
		sudo -v || die "packages are missing, and sudo refused" \
			"as root: apt-get install ${list[*]}"
	fi
	step 1 "packages (${#list[@]} to install)" \
		"look at the network and at /etc/apt/sources.list; as root: apt-get update && apt-get install ${list[*]}" \
		install_packages "${list[@]}"
}

# As root, QEMU runs as this user.  libvirt insists on it; Debian makes it, with
# these numbers, only for libvirt's own daemon, which we do without.
ensure_qemu_user() {
	local id=64055
	[ "$(id -u)" -eq 0 ] && ! getent passwd libvirt-qemu >/dev/null ||
		return 0
	getent group libvirt-qemu >/dev/null ||
		groupadd --system --gid $id libvirt-qemu
	useradd --system --uid $id --gid libvirt-qemu --no-create-home \
		--home-dir /nonexistent --shell /usr/sbin/nologin libvirt-qemu ||
		die "cannot make the user libvirt-qemu, as whom QEMU is to run" \
			"make it by hand: adduser --system --group --no-create-home libvirt-qemu"
}

# ---- building

# configure_tree DIR OPTION...: make notices by itself when it must be redone.
configure_tree() {
	local dir=$1
	shift
	[ ! -e config.status ] || {
		say "the source folder itself is configured; clean it with: make distclean"
		return 1
	}
	[ -e configure ] || ./autogen.sh || return
	mkdir -p "$dir"
	[ -e "$dir/config.status" ] ||
		(cd "$dir" && "$top/configure" --quiet "$@")
}

build_tree() {
	configure_tree "$@" && make -C "$1" -j"$jobs" --no-print-directory
}

# ---- ./quickstart.sh

sandboxctl() { "$top/build/run" sandboxctl "$@"; }

build_image() {
	local since=$SECONDS
	say "[3/$steps] guest image"
	sandboxctl image build base || die "the image could not be built" \
		"read the message above; \"build/run sandboxctl doctor\" looks for the usual causes"
	say "[3/$steps] guest image: done ($((SECONDS - since)) s)"
}

start_demo() {
	local since=$SECONDS
	if sandboxctl info demo --json 2>/dev/null |
		grep -Eq '"state": *"ready"'; then
		say "[4/$steps] sandbox demo: runs already"
		return
	fi
	say "[4/$steps] sandbox demo"
	sandboxctl up demo || die "the sandbox did not start" \
		"\"build/run sandboxctl logs demo --source serial\" shows its console, \"build/run sandboxctl doctor\" looks for the usual causes"
	say "[4/$steps] sandbox demo: ready ($((SECONDS - since)) s)"
}

run_python() {
	local code='
import os, platform
import numpy as np
print("Hello from", platform.node(), "- Linux", platform.release())
print("processors:", os.cpu_count())
print("a table of squares:", (np.arange(1, 9) ** 2).tolist())'
	say "[5/$steps] Python inside of it:"
	printf '%s\n' "$code" | sed '1d; s/^/  >>> /'
	sandboxctl py demo "$code" | sed 's/^/  /' ||
		die "the code did not run" \
			"\"build/run sandboxctl logs demo\" shows what the guest says"
}

quickstart() {
	steps=5
	mkdir -p build
	: >$log
	ensure_packages build run image
	ensure_qemu_user
	step 2 "build" "read $log; after a change of the system: rm -rf build" \
		build_tree build
	build_image
	start_demo
	run_python
	cat <<'END'

It works.  To go on:
  build/run sandboxctl exec demo -- uname -a     a command
  build/run sandboxctl exec -t demo -- bash      a shell
  build/run sandboxctl py demo                   Python, with what it knows
  build/run sandboxctl view demo --open          its desktop, in a browser
  build/run sandboxctl cp FILE demo:/shared/     a file
  build/run sandboxctl ls                        all sandboxes
To stop it, leaving nothing:
  build/run sandboxctl down demo
END
}

# ---- ./quickstart.sh check

# Tests leave automake's *.trs files in their build tree.  A stage that runs
# no such tests writes one itself, so that one counter serves all.
check=build/check
bad='FAIL|XPASS|ERROR'

# results PATTERN DIR: lines "RESULT TEST TEXT" for these results below DIR.
results() {
	find "$2" -name '*.trs' -exec awk -v pattern="^($1)\$" '
		$1 == ":test-result:" && $2 ~ pattern {
			test = FILENAME
			gsub(/.*\/|\.trs$/, "", test)
			text = $0
			sub(/^:test-result: *[A-Z]+ */, "", text)
			print $2, test, text
		}' {} +
}

count() { results "$1" "$2" | wc -l; }

# failed_logs DIR: what some of the tests that failed below it have written.
failed_logs() {
	grep -rlE --include='*.trs' "^:test-result: ($bad)\>" "$1" |
		sed 's/trs$/log/' | head -n 5
}

# show_end LOG
show_end() {
	say "  The end of $1:"
	tail -n 40 "$1" | sed 's/^/  | /'
}

# begin_stage NAME DIR: forget what an earlier run found there.
begin_stage() {
	mkdir -p "$2"
	find "$2" -name '*.trs' -delete
	: >"$check/$1.log"
}

# end_stage NAME DIR STATUS TEXT: a command that fails without a failed test
# (it does not compile, say) is a failed test as well, and one that succeeds
# without any test is a passed one.
end_stage() {
	local failed log
	failed=$(count "$bad" "$2")
	if [ "$3" -ne 0 ] && [ "$failed" -eq 0 ]; then
		echo ":test-result: FAIL $1" >"$2/stage.trs"
	elif [ "$(count '[A-Z]+' "$2")" -eq 0 ]; then
		echo ":test-result: PASS $1" >"$2/stage.trs"
	fi
	if [ "$3" -eq 0 ] && [ "$failed" -eq 0 ]; then
		say "$4: ok"
		return
	fi
	say "$4: FAILED"
	results "$bad" "$2" | sed 's/^/  /' | head -n 20
	if [ "$failed" -eq 0 ]; then
		show_end "$check/$1.log"
	else
		failed_logs "$2" | while read -r log; do show_end "$log"; done
	fi
	return 1
}

# stage NAME DIR TEXT COMMAND...: run it and say how it ended.
stage() {
	local name=$1 dir=$check/$2 text=$3 since=$SECONDS rc=0
	shift 3
	begin_stage "$name" "$dir"
	$tty || say "$text ..."
	quietly "$text" "$check/$name.log" "$@" || rc=$?
	end_stage "$name" "$dir" $rc "$text ($((SECONDS - since)) s)"
}

# make_in TREE ARG...: VERBOSE shows the log of each failed test.
make_in() {
	make -C "$check/$1" -k --no-print-directory VERBOSE=1 "${@:2}"
}

check_asan() {
	build_tree $check/asan --enable-werror --enable-asan &&
		make_in asan -j"$jobs" check
}

check_fuzz() {
	build_tree $check/fuzz CC=clang --enable-werror --enable-asan \
		--enable-fuzzing && make_in fuzz/tests/fuzz check
}

# summary: what failed, what was skipped, and the one line.
summary() {
	local passed failed skipped
	[ "${CI:-}" != true ] || bad="$bad|SKIP"
	passed=$(count 'PASS|XFAIL' $check)
	failed=$(count "$bad" $check)
	skipped=$(count SKIP $check)
	results "$bad|SKIP" $check | sed 's/^/  /' | sort
	if [ "${CI:-}" = true ] || [ "$skipped" -eq 0 ]; then
		say "$passed passed, $failed failed"
	else
		say "$passed passed, $failed failed, $skipped skipped"
	fi
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

check_all() {
	local image rc=0
	steps=1
	mkdir -p $check
	: >$log
	ensure_packages build run image test
	ensure_qemu_user
	find $check -name '*.trs' -delete
	if ! stage gcc gcc "build with gcc, warnings fatal" \
		build_tree $check/gcc --enable-werror; then
		summary
		return
	fi

	# The image takes minutes of unpacking: let it run beside the rest.
	begin_stage image $check/image
	make_in gcc/tests/vm image >>$check/image.log 2>&1 </dev/null &
	image=$!
	trap 'kill $image 2>/dev/null; wait' EXIT

	# A failure does not keep the other stages from running.
	stage unit gcc/tests "unit and native tests" \
		make_in gcc -j"$jobs" check || true
	stage asan asan "the same with AddressSanitizer and UBSan" \
		check_asan || true
	stage fuzz fuzz "fuzz targets (clang)" check_fuzz || true
	stage lint gcc/tests/lint "format, cppcheck, shellcheck" \
		make_in gcc/tests/lint -j"$jobs" check-lint || true
	# The tests ran twice by now, and lint knows that the tarball has them.
	stage dist dist "make distcheck" \
		make_in gcc -j"$jobs" distcheck TESTS= || true

	watch_job "guest image" $check/image.log $image || rc=$?
	trap - EXIT
	end_stage image $check/image $rc "guest image" || true
	stage vm gcc/tests/vm "real guests" make_in gcc -j2 check-vm || true
	summary
}

case "${1:-}" in
'') quickstart ;;
check) check_all ;;
-h | --help | help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
