#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandboxctl kernel and jupyter: Jupyter on the host, its kernels in a guestd
# that runs here.
. "${srcdir:=.}/functions.sh"
. "$srcdir/ctl-functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import jupyter_client, jupyter_console'

token=0123456789abcdef0123456789abcdef
mkdir "$dir/box"
echo "$token" > "$dir/box/token"
bundle_kernels
start_guestd --share ../../guest/bundle/share --token-file "$dir/box/token" \
	--jupyterlab "$dir/lab"

start_host "$dir/box/token"

# Nothing of this account's own Jupyter.
JUPYTER_CONFIG_DIR=$dir/config JUPYTER_DATA_DIR=$dir/data
JUPYTER_RUNTIME_DIR=$dir/runtime IPYTHONDIR=$dir/ipython
export JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR IPYTHONDIR

forwards()
{
	ctl port demo --json | jq '.ports | length'
}

# clients CASE...: jupyter_client on the file.
clients()
{
	CONNECTION_FILE=$file "$python" -W ignore "$srcdir/kernel-ports.py" \
		"$url" "$token" "$guestd_pid" "$@" > "$dir/case" 2>&1 || {
		cat "$dir/case" >&2
		fail "clients: $*"
	}
}

# The file: where it is, whose, and the same when it is asked for again.
file=$(ctl kernel demo 2> "$dir/why")
is "$file" "$dir/box/kernels/default.json" "the file"
grep -q "jupyter console --existing $file" "$dir/why" || fail "no command"
is "$(stat -c %a "$file")" 600 "its mode"
is "$(jq -r '"\(.transport) \(.ip) \(.signature_scheme)"' "$file")" \
	"tcp 127.0.0.1 hmac-sha256" "the file"
is "$(forwards)" 5 "how many forwards"
before=$(cat "$file")
is "$(ctl kernel demo 2>/dev/null; cat "$file")" "$file
$before" "asked again"
is "$(forwards)" 5 "forwards, asked again"
is "$(ctl kernel demo --json | jq -r '"\(.connection_file) \(.key)"')" \
	"$file null" "--json"

# Clients: cells, the default kernel of /v1/run, interrupt, 100 MB, restart,
# kill -9.
"$python" "$srcdir/gateway-zmq.py" "$file" || fail "jupyter_client"
request /v1/run -H "Authorization: Bearer $token" -d '{"code": "earlier = 20"}'
expect 200 '"ok"'
"$python" -W ignore "$srcdir/console.py" jupyter-console --existing "$file" ||
	fail "jupyter console"
"$python" -W ignore "$srcdir/console.py" "$top_builddir/host/sandboxctl" \
	jupyter demo console || fail "sandboxctl jupyter console"
clients interrupt output restart

# When the kernel has ended, the next one takes its place, with its forwards.
request "/api/kernels/$(jq -r .kernel_id "$file")" -X DELETE \
	-H "Authorization: Bearer $token"
expect 204
ctl kernel demo > "$dir/said" 2>&1 || fail "no new kernel: $(cat "$dir/said")"
[ "$(cat "$file")" != "$before" ] || fail "the old kernel's file"
is "$(forwards)" 5 "forwards of the new kernel"
"$python" "$srcdir/gateway-zmq.py" "$file" || fail "the new kernel"

# By name it is the kernel that all share; by ID it may be another.
same=$(ctl kernel demo -k sandbox-python 2>/dev/null)
is "$same" "$dir/box/kernels/sandbox-python.json" "a file of that name"
is "$(jq -r .kernel_id "$same")" "$(jq -r .kernel_id "$file")" "its kernel"
request /api/kernels -H "Authorization: Bearer $token" -d '{}'
expect 201
id=$(jq -r .id "$dir/body")
other=$(ctl kernel demo --kernel "$id" 2>/dev/null)
is "$other" "$dir/box/kernels/$id.json" "another file"
is "$(jq -r .kernel_id "$other")" "$id" "another kernel"
"$python" "$srcdir/gateway-zmq.py" "$other" || fail "the other kernel"
ctl kernel demo -k "$id" -o "$dir/mine.json" > "$dir/said" 2>&1
is "$(cat "$dir/mine.json")" "$(cat "$other")" "a file of one's own"
is "$(forwards)" 10 "forwards of two kernels"

# --stop leaves nothing.
port=$(jq .shell_port "$other")
ctl kernel demo -k "$id" --stop
is "$(forwards)" 5 "forwards after --stop"
[ ! -e "$other" ] || fail "the file is still there"
! curl -sm 5 "telnet://127.0.0.1:$port" || fail "port $port is still open"
ctl kernel demo -o "$dir/mine.json" --stop
[ ! -e "$dir/mine.json" ] || fail "the file of one's own is still there"
is "$(forwards)" 5 "another's forwards"
is "$(ctl kernel demo --stop --json)" "{\"removed\":\"$file\"}" "--stop --json"
is "$(forwards)" 0 "forwards after all"
refused 4 "no connection file" kernel demo --stop

# What cannot be.
refused 2 "neither the ID" kernel demo -k ../evil
refused 4 "no kernel '00000000-0000-4000-8000-000000000000'" \
	kernel demo -k 00000000-0000-4000-8000-000000000000
refused 4 "nonesuch" kernel demo -k nonesuch
box ready ', "full": true'
refused 2 "cannot forward" kernel demo
[ ! -e "$file" ] || fail "a file without forwards"
box stopped
refused 5 "is stopped, not ready" kernel demo
box ready

# The gateway's URL, with the token in it: for those who can send no header.
gateway=$(ctl jupyter demo --url)
is "$gateway" "$url/k/$token/" "the URL"
curl -fsS -m 20 "${gateway}api/kernelspecs" > "$dir/specs" || fail "$gateway"
is "$(jq -r .default "$dir/specs")" sandbox-python "kernelspecs"
box ready ', "ports": [{"host": 4711, "name": "jupyter"}]'
is "$(ctl jupyter demo --url)" "http://127.0.0.1:4711/k/$token/" "its own port"
box ready
refused 2 "'nonesuch' is not lab" jupyter demo nonesuch
refused 2 "--kernel is for the console" jupyter demo lab -k sandbox-python
is "$(ctl jupyter demo --json -k sandbox-python 2> "$dir/why" |
	jq -r '.command[0]')" jupyter-console "--kernel is for the console"
# The sandbox's own JupyterLab: none, then a program in its place.
refused 9 JupyterLab jupyter demo --browser
printf '#!/bin/sh\nexec sleep 600\n' > "$dir/lab"
chmod 755 "$dir/lab"
ctl jupyter demo --browser > "$dir/said" 2> "$dir/why" || fail "no link"
grep -q "^$url/lab?ticket=" "$dir/said" || fail "another link"
curl -fsS -m 60 "$(cat "$dir/said")" > "$dir/body" || fail "the link"
mkdir "$dir/empty"
got=0
PATH=$dir/empty "$top_builddir/host/sandboxctl" jupyter demo \
	> "$dir/said" 2> "$dir/why" || got=$?
is "$got" 9 "the status without a Jupyter"
grep -q 'pip install jupyterlab' "$dir/why" || fail "no remedy"
is "$(cat "$dir/said")" "$gateway" "the URL without a Jupyter"

# Real notebook on it.
requires command -v jupyter-notebook
is "$(ctl jupyter demo notebook --json -- --x | jq -c .command)" \
	"[\"jupyter-notebook\",\"--gateway-url\",\"$url\",\"--x\"]" "command"
front=$("$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
(cd "$dir/empty" && exec "$top_builddir/host/sandboxctl" jupyter demo notebook \
	-- --ip 127.0.0.1 --port "$front" --NotebookApp.token=front \
	--no-browser --allow-root) > "$dir/notebook" 2>&1 &
notebook=$!
# Asked to end it would look for its gateway, and wait.
at_exit "kill -9 $notebook"
specs_there()
{
	curl -fsS -m 20 "http://127.0.0.1:$front/api/kernelspecs?token=front" \
		> "$dir/specs"
}
wait_until 60 specs_there
is "$(jq -r '.kernelspecs["sandbox-python"].name' "$dir/specs")" \
	sandbox-python "notebook's kernelspecs"
! tr '\0' ' ' < "/proc/$notebook/cmdline" | grep -q "$token" ||
	fail "ps shows the token"
is "$(curl -fsS -m 60 -d '{"name": "sandbox-python"}' \
	"http://127.0.0.1:$front/api/kernels?token=front" | jq -r .name)" \
	sandbox-python "a kernel by the notebook"
