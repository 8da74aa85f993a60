#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long a machine takes, and what we add to it: printed, never asserted.
# Peers are measured in the same run: QEMU started by hand on the same image,
# the OpenSSH client, curl.
. "$(dirname "$0")/../vm/functions.sh"

runs=${RUNS:-3}
sock=$SANDBOX_STATE/run/sandboxd.sock

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# ms COMMAND...: how long it takes.
ms() {
	local start
	start=$(now_ms)
	"$@" >/dev/null 2>&1 || fail "$*"
	echo $(($(now_ms) - start))
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# many N COMMAND...: microseconds for one of N.
many() {
	local n=$1 start i
	shift
	start=$(date +%s%N)
	for ((i = 0; i < n; i++)); do "$@" >/dev/null; done
	echo $((($(date +%s%N) - start) / n / 1000))
}

row() { printf '| %-44s | %12s | %14s | %s\n' "$@"; }

cold() {
	local start
	start=$(now_ms)
	sbctl up bench >/dev/null 2>&1 || fail "up"
	echo "$(($(now_ms) - start))" >>"$SANDBOX_STATE/ready"
	sbctl exec bench -- true || fail "exec"
	echo "$(($(now_ms) - start))" >>"$SANDBOX_STATE/exec"
	sbctl down bench >/dev/null
	wait_until 60 no_guests
}

# The peer of an up: QEMU on the same disk, kernel and initrd, until ssh
# answers.  It shows what sandboxd, libvirt and personalising add.
by_hand() {
	local dir=$SANDBOX_STATE/hand image start port=$1
	image=$(sbctl image info base --json | json .path)
	mkdir -p "$dir"
	ssh-keygen -q -t ed25519 -N '' -f "$dir/host" <<<y >/dev/null
	ssh-keygen -q -t ed25519 -N '' -f "$dir/user" <<<y >/dev/null
	echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$dir/host.pub")" >"$dir/known"
	qemu-img create -q -f qcow2 -F qcow2 -b "$image/root.qcow2" "$dir/disk"
	start=$(now_ms)
	qemu-system-x86_64 -nodefaults -no-user-config -display none \
		-machine pc -accel tcg,thread=multi -cpu max -smp 2 -m 1024 \
		-kernel "$image/kernel" -initrd "$image/initrd" \
		-append "$(json .cmdline <"$image/image.json")" \
		-drive "file=$dir/disk,if=none,id=d,format=qcow2,cache=unsafe" \
		-device virtio-blk-pci,drive=d -device virtio-rng-pci \
		-netdev "user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" \
		-device virtio-net-pci,netdev=n,romfile= -serial null \
		-fw_cfg "name=opt/sandbox/ssh-host-key,file=$dir/host" \
		-fw_cfg "name=opt/sandbox/authorized-keys,file=$dir/user.pub" &
	local qemu=$!
	until ssh -F none -i "$dir/user" -o UserKnownHostsFile="$dir/known" \
		-o ConnectTimeout=1 -p "$port" user@127.0.0.1 true 2>/dev/null; do
		[ $(($(now_ms) - start)) -lt 120000 ] || break
		sleep 0.1
	done
	echo $(($(now_ms) - start))
	kill "$qemu"
	wait "$qemu" || :
}

# With guestd in the image, as whoever installs us has it.
sbctl image build base >/dev/null 2>&1 || fail "image build"
for ((i = 0; i < runs; i++)); do cold; done
for ((i = 0; i < runs; i++)); do
	by_hand $((20000 + RANDOM % 10000)) >>"$SANDBOX_STATE/hand.ms"
done

sbctl up bench >/dev/null 2>&1
pid=$(daemon_pid)
rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
switches() {
	cat "/proc/$pid/task"/*/status |
		awk '/^(non)?voluntary_ctxt/ { n += $2 } END { print n }'
}
before=$(switches)
sleep 10
idle=$(($(switches) - before))
info=$(sbctl info bench --json)
for ((i = 0; i < 15; i++)); do
	ms sbctl exec bench -- true >>"$SANDBOX_STATE/exec.ms"
	ms sbctl exec bench --via ssh -- true >>"$SANDBOX_STATE/via.ms"
	ms ssh -F none -i "$(json .ssh.key_file <<<"$info")" \
		-o UserKnownHostsFile="$(json .ssh.known_hosts_file <<<"$info")" \
		-p "$(json .ssh.port <<<"$info")" user@127.0.0.1 true \
		>>"$SANDBOX_STATE/ssh.ms"
done
head -c 32000000 /dev/urandom >"$SANDBOX_STATE/blob"
put=$(ms sbctl cp "$SANDBOX_STATE/blob" bench:blob)
scp=$(ms scp -F none -i "$(json .ssh.key_file <<<"$info")" \
	-o UserKnownHostsFile="$(json .ssh.known_hosts_file <<<"$info")" \
	-P "$(json .ssh.port <<<"$info")" -O "$SANDBOX_STATE/blob" \
	user@127.0.0.1:blob2)
ctl=$(many 100 "$top_builddir/host/sandboxctl" ls --json)
peer=$(many 100 curl -s --unix-socket "$sock" http://localhost/v1/sandboxes)
empty=$(many 100 /bin/true)

hand=$(median <"$SANDBOX_STATE/hand.ms")
echo
row "on $(nproc) cores, median of $runs" ours peer "what the peer is"
row -------------------------------------------- ------------ -------------- ---
row "cold up to ready, ms" "$(median <"$SANDBOX_STATE/ready")" - \
	"guestd answers through the forwarded port"
row "cold up to the end of the first exec, ms" \
	"$(median <"$SANDBOX_STATE/exec")" "$hand" \
	"QEMU by hand, same image, to the end of ssh true"
row "exec true, ms" "$(median <"$SANDBOX_STATE/exec.ms")" \
	"$(median <"$SANDBOX_STATE/ssh.ms")" "OpenSSH's client"
row "exec --via ssh true, ms" "$(median <"$SANDBOX_STATE/via.ms")" \
	"$(median <"$SANDBOX_STATE/ssh.ms")" "OpenSSH's client"
row "cp of 32 MB into the guest, ms" "$put" "$scp" "scp"
row "sandboxctl ls, us (an empty process: $empty)" "$ctl" "$peer" "curl"
row "sandboxd with one sandbox, kB of RSS" "$rss" 49000 \
	"libvirtd alone (docs/DESIGN.md)"
row "its context switches in 10 idle seconds" "$idle" - ""
