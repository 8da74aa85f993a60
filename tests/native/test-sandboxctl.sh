#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandboxctl starts one sandboxd, however many ask at once, and says clearly
# what is wrong.  No machine is started.
. "${srcdir:=.}/functions.sh"
requires jq --version
: "${top_builddir:=../..}" "${dir:?}"
broken=

# A socket's path has at most 107 bytes: $TMPDIR may be too deep.
SANDBOX_STATE=$(mktemp -d /tmp/sb-XXXXXX)
SANDBOX_IMAGES=$SANDBOX_STATE/images
export SANDBOX_STATE SANDBOX_IMAGES
at_exit rm -rf "$SANDBOX_STATE"
at_exit ctl daemon stop

ctl()
{
	"$top_builddir/run" env ${broken:+SANDBOXD="$broken"} sandboxctl "$@"
}

# refused STATUS TEXT ARG...: it ends so, and says so on stderr only.
refused()
{
	refused_want=$1 refused_text=$2 refused_got=0
	shift 2
	ctl "$@" > "$dir/out" 2> "$dir/err" || refused_got=$?
	[ "$refused_got" = "$refused_want" ] ||
		fail "$*: status $refused_got, not $refused_want"
	grep -qF -- "$refused_text" "$dir/err" || fail "$*: no '$refused_text'"
	[ ! -s "$dir/out" ] || fail "$*: said on stdout: $(cat "$dir/out")"
}

pid_of_daemon()
{
	ctl daemon status --json | jq -er .pid
}

refused 9 "sandboxd does not run" daemon status

# Many at once: all are answered, by one daemon.
callers=
for i in 1 2 3 4 5 6 7 8; do
	ctl ls --json > "$dir/ls.$i" 2> "$dir/err.$i" &
	callers="$callers $!"
done
for p in $callers; do
	wait "$p" || fail "a caller failed: $(cat "$dir"/err.*)"
done
for i in 1 2 3 4 5 6 7 8; do
	[ "$(jq -c . "$dir/ls.$i")" = '{"sandboxes":[]}' ] ||
		fail "said: $(cat "$dir/ls.$i")"
done
pid=$(pid_of_daemon)
[ "$(pid_of_daemon)" = "$pid" ] || fail "the daemon is not the same"
[ "$(grep -c 'serves' "$SANDBOX_STATE/sandboxd.log")" = 1 ] ||
	fail "more than one daemon served: $(cat "$SANDBOX_STATE/sandboxd.log")"

# After kill -9 a stale socket is left; the next call starts another.
kill -9 "$pid"
[ -S "$SANDBOX_STATE/run/sandboxd.sock" ] || fail "no stale socket to test"
ctl ls > "$dir/out" 2> "$dir/err" || fail "after kill -9"
[ "$(pid_of_daemon)" != "$pid" ] || fail "the dead daemon answered"

# What fails before it boots tells its cause, however fast it fails.
for i in 1 2 3 4 5; do
	refused 4 "there is no image 'none'" up demo --image none
done
refused 4 '"code":"not-found"' --json up demo --image none
jq -e '.remediation and .message' "$dir/err" > /dev/null ||
	fail "no problem object: $(cat "$dir/err")"

# The logs of a sandbox whose guest is dead.
ctl daemon stop > /dev/null
dead=$SANDBOX_STATE/sandboxes/sb-0badcafe
mkdir -p "$dead/share/logs"
cat > "$dead/journal" <<'END'
{"entry":"create","id":"sb-0badcafe","name":"dead","token":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","created_ms":1769860800000,"spec":{"name":"dead","server_log":"guestd.log","jupyter_log":"k.log"},"time":1769860800000}
{"entry":"state","state":"failed","cause":"it died","code":"guest","time":1769860800000}
END
echo '{"ts":"T0","level":"info","msg":"older"}' > "$dead/share/logs/guestd.log.1"
printf '{"ts":"T1","level":"warn","msg":"a\\u001b[2Jb","status":503}\nno JSON\n' \
	> "$dead/share/logs/guestd.log"
ctl logs dead --source guestd > "$dir/out" || fail "logs of the dead"
cat "$dead/share/logs/guestd.log.1" "$dead/share/logs/guestd.log" |
	cmp -s - "$dir/out" || fail "not as it is: $(cat "$dir/out")"
ctl logs dead -s guestd -n 2 --json > "$dir/out"
jq -e '.lines[0].status == 503 and .lines[1].msg == "no JSON" and
	(.lines | length) == 2' "$dir/out" > /dev/null || fail "$(cat "$dir/out")"
ctl logs dead -s guestd -n 1 -f > "$dir/out" || fail "following the dead"
[ "$(cat "$dir/out")" = 'no JSON' ] || fail "$(cat "$dir/out")"
printf 'Traceback\n' > "$dead/share/logs/k.log"
[ "$(ctl logs dead -s kernel)" = Traceback ] || fail "the kernels' log"
[ "$(ctl logs dead -s kernel --json | jq -c .lines)" = '[{"msg":"Traceback"}]' ] ||
	fail "the kernels' log as JSON"
if script --version > /dev/null 2>&1; then
	script -qec "$top_builddir/run sandboxctl logs dead -s guestd -n 2" \
		/dev/null > "$dir/out" < /dev/null
	grep -qF 'T1 warn: a\x1b[2Jb status=503' "$dir/out" ||
		fail "not readable: $(cat "$dir/out")"
fi

refused 4 "there is no sandbox 'nobody'" info nobody
refused 4 "there is no sandbox 'nobody'" exec nobody -- true
refused 4 "there is no sandbox 'nobody'" logs nobody
refused 4 "there is no sandbox 'a/b'" info a/b
refused 2 "unknown option '--cpu'" up --cpu 2
refused 2 "did you mean: sandboxctl down" dwon
refused 2 "needs --format" image import x /dev/null

# A daemon that cannot start says why.
ctl daemon stop > /dev/null
printf '#!/bin/sh\necho no luck today >&2\nexit 3\n' > "$dir/sandboxd"
chmod +x "$dir/sandboxd"
broken=$dir/sandboxd
refused 1 "ended with status 3: no luck today" ls
