#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ssh/ against a real sshd of our own on a private port.
set -euo pipefail

: "${top_builddir:?run this through make check}"
tool=$top_builddir/tests/native/ssh-tool
dir=$(mktemp -d)
pids=()

finish() {
	local status=$?
	# Also a client whose command did not end.
	mapfile -t -O ${#pids[@]} pids < <(jobs -p)
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || :
	wait
	chmod -R u+rwx "$dir"
	rm -rf "$dir"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() {
	printf 'not ok - %s\n' "$*"
	tail -n 20 "$dir"/*.log
	exit 1
}
pass() { printf 'ok - %s\n' "$*"; }
# eq GOT WANT TEXT
eq() {
	[ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"
	pass "$3"
}
# wait_until COMMAND...
wait_until() {
	local end=$((SECONDS + 30))
	until "$@" 2>/dev/null; do
		[ $SECONDS -lt $end ] || fail "never: $*"
		sleep 0.05
	done
}
gone() { ! kill -0 "$1"; }
# status COMMAND...: its exit status on stdout; its output in $dir/out, $dir/err
status() {
	local rc=0
	"$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
	echo $rc
}
# says TEXT: the last command had it on stderr
says() { grep -qF -- "$1" "$dir/err" || fail "no '$1' in: $(cat "$dir/err")"; }

for program in /usr/sbin/sshd ssh-keygen python3 script tar; do
	command -v $program >/dev/null || {
		echo "skip - there is no $program"
		exit 77
	}
done
# An sshd of root wants it; it is left for others who may have come to use it.
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd

for key in host client wrong; do
	ssh-keygen -q -t ed25519 -N '' -f "$dir/$key"
done
listening() { grep -q 'Server listening' "$dir/$1.log"; }
# start_sshd NAME [VARIABLE=VALUE...]: a daemon, and what its commands have in
# their environment; sets $port
start_sshd() {
	local name=$1 pid
	shift
	printf '%s\n' 'ListenAddress 127.0.0.1' "HostKey $dir/host" \
		"AuthorizedKeysFile $dir/client.pub" 'StrictModes no' \
		'UsePAM no' 'PidFile none' 'PasswordAuthentication no' \
		'KbdInteractiveAuthentication no' 'UseDNS no' \
		"SetEnv HOME=$dir $*" >"$dir/$name.conf"
	while :; do
		port=$((20000 + RANDOM % 12000))
		"${run_in[@]}" /usr/sbin/sshd -D -e -f "$dir/$name.conf" \
			-p "$port" 2>"$dir/$name.log" &
		pid=$!
		wait_until eval "listening $name || gone $pid"
		! listening "$name" || break
		grep -q 'Cannot bind' "$dir/$name.log" || fail "sshd does not start"
	done
	pids+=("$pid")
}
run_in=(env)
start_sshd plain
PORT=$port
LOGIN=$(id -un)
KEY=$dir/client
HOST_KEY=$(cat "$dir/host.pub")
export PORT LOGIN KEY HOST_KEY

echo '# logging in'
eq "$(status "$tool" open)" 0 'the right keys log in'
eq "$(HOST_KEY=$(cat "$dir/wrong.pub") status "$tool" open)" 203 \
	'another host key is refused'
says 'host key of the guest differs'
eq "$(HOST_KEY=ssh-rsa status "$tool" open)" 201 'so is one of another kind'
eq "$(KEY=$dir/wrong status "$tool" open)" 202 'the server refuses another key'
says 'does not accept the SSH key'
eq "$(KEY=$dir/none status "$tool" open)" 214 'a missing key file is an error'
eq "$(LOGIN=nobody-here status "$tool" open)" 202 'so is an unknown user'

# A port that takes connections and stays silent, as a guest that boots does.
python3 -c '
import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
time.sleep(600)' >"$dir/silent" &
pids+=($!)
wait_until test -s "$dir/silent"
eq "$(PORT=$(cat "$dir/silent") OPEN_MS=2500 status "$tool" open)" 209 \
	'a silent port ends in a timeout'
says 'silent'
mkfifo "$dir/cancel"
exec 7<>"$dir/cancel"
PORT=$(cat "$dir/silent") CANCEL_FD=7 OPEN_MS=600000 "$tool" open \
	2>"$dir/err" &
echo >&7
rc=0
wait $! || rc=$?
eq $rc 210 'a cancelled try ends'
exec 7>&-
closed=$(python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
eq "$(PORT=$closed OPEN_MS=300 status "$tool" open)" 209 \
	'a closed port ends in a timeout'
says 'refused'
PORT=$closed "$tool" exec 'echo late' >"$dir/late" &
late=$!
/usr/sbin/sshd -D -e -f "$dir/plain.conf" -p "$closed" 2>"$dir/late.log" &
pids+=($!)
wait $late
eq "$(cat "$dir/late")" late 'a server that comes up later is found'

echo '# commands'
eq "$(status "$tool" exec 'echo out; echo err >&2; exit 7')" 7 'exit status'
eq "$(cat "$dir/out")" out 'stdout'
eq "$(cat "$dir/err")" err 'stderr'
eq "$(status "$tool" exec -s 'echo out; echo err >&2; exit 7')" 7 \
	'exit status, with signals forwarded'
eq "$(cat "$dir/out" "$dir/err")" $'out\nerr' 'and the same output'
eq "$(status "$tool" exec 'kill -SEGV $$')" 139 'a signal is 128 + n'
eq "$(status "$tool" exec -s 'kill -KILL $$')" 137 'so is SIGKILL'
eq "$(status "$tool" exec nosuchprogram)" 127 'an unknown program'
eq "$(printf 'a\0b\377' | "$tool" exec -s cat | od -An -c | tr -d ' ')" \
	'a\0b377' 'stdin and bytes that are no text'
eq "$(IN_FD=-1 "$tool" exec 'cat; echo end')" end 'no stdin'
eq "$("$tool" exec 'head -c 1; kill -9 $$' </dev/zero | od -An -c |
	tr -d ' ')" '\0' 'a command that leaves its input'
eq "$("$tool" exec -u 'echo out; echo err >&2' 2>&1 </dev/null | sort)" \
	$'ERR\nOUT' 'a filter gets both streams'
head -c 50000000 /dev/urandom >"$dir/random"
sum=$(sha256sum <"$dir/random")
eq "$("$tool" exec "cat '$dir/random'" </dev/null | sha256sum)" "$sum" \
	'50 MB out'
eq "$("$tool" exec -s sha256sum <"$dir/random")" "$sum" '50 MB in'
eq "$("$tool" exec 'tee /dev/stderr' <"$dir/random" 2>"$dir/err" |
	sha256sum)" "$sum" '50 MB round'
eq "$(sha256sum <"$dir/err")" "$sum" 'with both streams'
eq "$("$tool" exec 'echo $$; exec sleep 1000' </dev/null 2>"$dir/err" |
	(read -r pid; kill "$pid"; echo $((pid > 1))))" 1 'output comes at once'
eq "$(EXEC_MS=2000 status "$tool" exec -s "echo \$\$ >'$dir/pid';
	exec sleep 1000")" 209 'a command may not take too long'
wait_until gone "$(cat "$dir/pid")"

# A slow reader must stop the command, not fill the memory.
"$tool" exec "cat '$dir/random' /dev/zero" </dev/null 2>/dev/null >"$dir/cancel" &
slow=$!
exec 8<"$dir/cancel"
head -c 1000000 <&8 >/dev/null
rss=$(awk '/^VmHWM/ { print $2 }' /proc/$slow/status)
# AddressSanitizer's own memory is larger than the whole rest.
! nm "$tool" | grep -q __asan_init || rss=0
[ "$rss" -lt 32000 ] || fail "a slow reader costs $rss kB"
pass 'memory stays small'
exec 8<&-
rc=0
wait $slow || rc=$?
[ $rc != 0 ] || fail 'the end of the reader ends nothing'
pass 'the end of the reader ends the command'

echo '# signals'
# Whether what would end the command with its client is there.
leashed() {
	pgrep -f -- "kill -s HUP -- -$(ps -o pgid= -p "$(cat "$dir/pid")" | tr -d ' ')\$"
}
# run_signalled SIGNAL COMMAND [WHEN]: what becomes of a command that has touched
# "ready"; its exit status in $rc
run_signalled() {
	rm -f "$dir/ready"
	# A shell would start it with SIGINT ignored.
	env --default-signal=INT "$tool" exec -s "$2" >"$dir/out" \
		2>"$dir/err" </dev/null &
	local pid=$!
	wait_until test -e "$dir/ready"
	wait_until "${3:-true}"
	kill "-$1" $pid
	rc=0
	wait $pid 2>/dev/null || rc=$?
}
# A shell loses a signal that comes while it starts a program: not before.
group="sleep 1000 & echo \$! >'$dir/pid'
	sh -c \"touch '$dir/ready'; exec sleep 1000\" | cat"
# The first sleep ignores SIGINT, as a shell has it, and holds stdout.
for signal in INT TERM HUP; do
	run_signalled $signal "$group"
	eq $rc $((128 + $(kill -l $signal))) "SIG$signal ends the command"
	wait_until gone "$(cat "$dir/pid")"
done
run_signalled INT "trap 'echo caught; exit 5' INT; touch '$dir/ready'
	while :; do sleep 0.05; done"
eq "$rc $(cat "$dir/out")" '5 caught' 'a command can catch SIGINT'
# Who is killed before it can hold the command does not take it along.
run_signalled KILL "$group" leashed
wait_until gone "$(cat "$dir/pid")"
pass 'a command ends with its client'

echo '# terminals'
# in_pty COMMAND: run it in a terminal of its own
in_pty() { SHELL=/bin/sh script -qec "$1" /dev/null >/dev/null; }
test_terminals() {
	in_pty "stty rows 31 cols 77; '$tool' exec -t 'stty size >$dir/size'" </dev/null
	eq "$(cat "$dir/size")" '31 77' 'a terminal has its size'
	rm -f "$dir/ready"
	in_pty "(until [ -e '$dir/ready' ]; do sleep 0.05; done
		stty rows 40 cols 100 </dev/tty) &
		'$tool' exec -t 'touch $dir/ready
		until [ \"\$(stty size)\" = \"40 100\" ]; do sleep 0.05; done'" </dev/null
	pass 'and hears of a new size'
	rm -f "$dir/ready"
	{
		wait_until test -e "$dir/ready"
		printf '\003'
	} | in_pty "stty -g >'$dir/before'; '$tool' exec -t 'trap \"exit 9\" INT
		touch $dir/ready; while :; do sleep 0.05; done'
		echo \$? >'$dir/status'; stty -g >'$dir/after'"
	eq "$(cat "$dir/status")" 9 'Ctrl-C is typed into it'
	cmp "$dir/before" "$dir/after"
	pass 'the terminal is restored'
	rm -f "$dir/ready"
	in_pty "stty -g >'$dir/before'
		(until [ -e '$dir/ready' ]; do sleep 0.05; done
		kill -TERM \$(cat '$dir/pid')) &
		sh -c 'echo \$\$ >$dir/pid
		exec $tool exec -t \"touch $dir/ready; sleep 1000\"'
		echo \$? >'$dir/status'; stty -g >'$dir/after'" </dev/null
	eq "$(cat "$dir/status")" 210 'SIGTERM hangs up'
	cmp "$dir/before" "$dir/after"
	pass 'and restores the terminal, too'
}
if [ "$(id -u)" = 0 ] || "$tool" exec -t true </dev/null; then
	test_terminals
else
	echo 'skip - this system lets only root'"'"'s sshd give a terminal'
fi

echo '# copies'
list() { (cd "$1" && find . -printf '%p %y %m %l\n' | sort); }
src=$dir/src
long=$(printf 'n%.0s' {1..200})
mkdir -p "$src/a b/"$'new\nline' "$src/q'u\"o\$te" "$src/$long/$long" \
	"$src/empty" "$src/-n"
echo text >"$src/a b/file"
echo bytes >"$src/"$'\377\376'
echo deep >"$src/$long/$long/$long"
: >"$src/zero"
head -c 3000000 "$dir/random" >"$src/big"
ln "$src/big" "$src/hard"
ln -s ../big "$src/a b/link"
ln -s nowhere "$src/dangling"
ln -s "$long/$long/$long" "$src/longlink"
chmod 640 "$src/a b/file"
chmod 751 "$src/big"
mkdir "$dir/guest"
"$tool" put "$src" "$dir/guest/copy"
diff -r --no-dereference "$src" "$dir/guest/copy"
eq "$(list "$dir/guest/copy")" "$(list "$src")" 'a tree is put'
"$tool" get "$dir/guest/copy" "$dir/got"
diff -r --no-dereference "$src" "$dir/got"
eq "$(list "$dir/got")" "$(list "$src")" 'a tree is got'
rm -r "$dir/got"
"$tool" get "$src" "$dir/got"
[ "$dir/got/big" -ef "$dir/got/hard" ] || fail 'a hard link is two files'
pass 'hard links stay'
"$tool" put "$src/big" "$dir/guest"
"$tool" get "$dir/guest/big" "$dir/got/empty/"
cmp "$src/big" "$dir/got/empty/big"
pass 'a file goes into a folder'
"$tool" put "$src/a b/file" "$dir/guest/big"
eq "$(cat "$dir/guest/big")" text 'a file takes the place of a file'
(cd "$src/a b" && "$tool" put . "$dir/guest/dot" &&
	"$tool" put . "$dir/guest")
eq "$(cat "$dir/guest/dot/file" "$dir/guest/a b/file")" $'text\ntext' \
	'the working folder is put'
ln -s "$src/a b/file" "$dir/to-file"
"$tool" put "$dir/to-file" "$dir/guest/followed"
"$tool" get "$dir/to-file" "$dir/followed"
eq "$(cat "$dir/guest/followed" "$dir/followed")" $'text\ntext' \
	'a symlink that is named is followed'

eq "$(status "$tool" put "$src" "$dir/guest/copy/../copy")" 0 \
	'a tree goes into an existing folder'
eq "$(status "$tool" put "$src" "$dir/guest/copy")" 206 'but not over one'
eq "$(status "$tool" get "$dir/guest/copy" "$dir/")" 0 'out of the guest, too'
eq "$(status "$tool" get "$dir/guest/copy" "$dir/")" 206 'the same way'
eq "$(status "$tool" put "$dir/none" "$dir/guest/x")" 204 'a missing file'
eq "$(status "$tool" get "$dir/none" "$dir/x")" 204 'a missing remote file'
eq "$(status "$tool" put "$src/big" "$dir/none/x")" 204 'a missing folder'
eq "$(status "$tool" get "$src/big" "$dir/none/x")" 204 'a missing own folder'
eq "$(status "$tool" get / "$dir/")" 201 'what has no name needs one'
mkfifo "$src/fifo"
eq "$(status "$tool" put "$src" "$dir/guest/fifo")" 201 'a pipe is not put'
eq "$(status "$tool" get "$src" "$dir/fifo")" 203 'nor got'
rm "$src/fifo"
ln -s /etc/passwd "$src/evil"
eq "$(status "$tool" get "$src" "$dir/evil")" 203 \
	'a symlink that points out is refused'
says 'points out of the folder'
rm "$src/evil"
if [ "$(id -u)" != 0 ]; then
	chmod 555 "$dir/guest"
	eq "$(status "$tool" put "$src/big" "$dir/guest/x")" 203 \
		'a folder that is read-only'
	chmod 755 "$dir/guest"
	chmod 0 "$src/zero"
	eq "$(status "$tool" get "$src" "$dir/x")" 203 'a file that is not readable'
	chmod 644 "$src/zero"
fi
eq "$(find "$dir" -name '.sandbox-*')" '' 'nothing half-made is left'

echo '# a hostile guest'
mkdir "$dir/evil-bin"
printf '#!/bin/sh\nexec cat "%s/evil.tar"\n' "$dir" >"$dir/evil-bin/tar"
chmod 755 "$dir/evil-bin/tar"
start_sshd evil "PATH=$dir/evil-bin:/usr/bin:/bin"
export PORT_PLAIN=$PORT PORT=$port
mkdir -p "$dir/jail/in"
echo secret >"$dir/jail/out"
(cd "$dir/jail/in" && tar -cPf "$dir/evil.tar" . ../out)
eq "$(status "$tool" get "$src" "$dir/victim")" 213 'a path that climbs'
says 'leaves the folder'
mkdir "$dir/jail/in/d"
ln -s . "$dir/jail/in/link"
(cd "$dir/jail/in" && tar -cf "$dir/evil.tar" --transform 's,^\./d$,./link/d,' \
	. ./d)
eq "$(status "$tool" get "$src" "$dir/victim")" 213 'a path through a symlink'
ln -sf /dev/zero "$dir/evil.tar"
eq "$(status "$tool" get "$src" "$dir/victim")" 213 'a stream without end'
ln -sf "$dir/random" "$dir/evil.tar"
eq "$(status "$tool" get "$src" "$dir/victim")" 213 'no archive at all'
ln -sf /dev/null "$dir/evil.tar"
eq "$(status "$tool" get "$src" "$dir/victim")" 213 'nothing'
(cd "$src" && tar -cf "$dir/whole.tar" .)
rm "$dir/evil.tar"
head -c 20480 "$dir/whole.tar" >"$dir/evil.tar"
eq "$(status "$tool" get "$src" "$dir/victim")" 213 'an archive that is cut off'
[ ! -e "$dir/victim" ] || fail 'a bad copy is left'
eq "$(find "$dir" -name '.sandbox-*')" '' 'nothing is left of any of them'
PORT=$PORT_PLAIN

run_in=(unshare -m sh -c "mount -t tmpfs -o size=1m none '$dir/small' &&
	exec \"\$@\"" sh)
mkdir "$dir/small"
if [ "$(id -u)" = 0 ] && "${run_in[@]}" true 2>/dev/null; then
	start_sshd small
	PORT=$port
	eq "$(status "$tool" put "$src/big" "$dir/small/x")" 212 'a full disk'
	says 'disk is full'
	eq "$("$tool" exec "ls -A '$dir/small'" </dev/null)" '' 'leaves nothing'
	PORT=$PORT_PLAIN
else
	echo 'skip - a full disk needs a file system of its own, so root'
fi

echo '# install'
bundle=$dir/bundle
mkdir -p "$bundle/bin"
printf '#!/bin/sh\n' >"$bundle/bin/guestd"
chmod 755 "$bundle/bin/guestd"
echo '[Unit]' >"$bundle/sandbox-guestd.service"
"$top_builddir/ssh/bundle-hash" "$bundle" >"$dir/hash"
cp "$dir/hash" "$bundle/.hash"
# Stands for systemctl: there is no systemd to test with, only its orders.
cat >"$dir/systemctl" <<EOF
#!/bin/sh
echo "\$*" >>"$dir/orders"
[ ! -e "$dir/broken" ] || { echo 'Job failed' >&2; exit 1; }
EOF
chmod 755 "$dir/systemctl"
# An odd name shows that the script quotes.
export PREFIX="$dir/opt dir/sand'box" SYSTEMCTL=$dir/systemctl
orders() { cat "$dir/orders" && rm "$dir/orders"; }
eq "$("$tool" install "$bundle")" installed 'a bundle is installed'
eq "$(orders)" "--quiet enable $PREFIX/sandbox-guestd.service
restart sandbox-guestd.service" 'its service is enabled and started'
eq "$(list "$PREFIX")" "$(list "$bundle")" 'the bundle is as it was sent'
cmp "$PREFIX/.hash" "$dir/hash"
eq "$("$tool" install "$bundle")" same 'a second time nothing is done'
eq "$(orders)" 'start sandbox-guestd.service' 'but to see that it runs'
echo '# new' >>"$bundle/bin/guestd"
touch "$dir/broken"
eq "$(status "$tool" install "$bundle")" 213 'a service that does not start'
says 'Job failed'
cmp "$PREFIX/.hash" "$dir/hash"
pass 'the old bundle is back'
rm "$dir/broken" "$dir/orders"
eq "$("$tool" install "$bundle")" installed 'a new bundle takes its place'
cmp "$PREFIX/bin/guestd" "$bundle/bin/guestd"
eq "$(ls -A "$dir/opt dir")" "sand'box" 'and leaves nothing else'
eq "$(status "$tool" install "$dir/none")" 204 'a bundle that is missing'
