#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A foreign disk image, with a partition table and none of our libraries, is
# imported, gets guestd over SSH with its libraries, and works.
. "${0%/*}/functions.sh"
requires command -v mmdebstrap
requires command -v sfdisk

# Our own store, with base's kernel in it, so that nothing is left in the
# shared one.
base=$(realpath "$(sbctl image info base --json | json .path)")
pid=$(daemon_pid)
kill "$pid"
wait_until 30 gone "$pid"
export SANDBOX_IMAGES=$SANDBOX_STATE/images
mkdir -m 755 "$SANDBOX_IMAGES"
mkdir "$SANDBOX_IMAGES/${base##*/}"
for f in "$base"/*; do
	case $f in
	*/rootfs.tar*) ;;
	*) ln "$f" "$SANDBOX_IMAGES/${base##*/}/" 2>/dev/null ||
		cp "$f" "$SANDBOX_IMAGES/${base##*/}/" ;;
	esac
done
ln -s "${base##*/}" "$SANDBOX_IMAGES/base"

work=$SANDBOX_STATE/foreign
mkdir "$work"
mmdebstrap --quiet --variant=minbase \
	--include=systemd,systemd-sysv,dbus,openssh-server \
	bookworm "$work/tree" >"$work/log" 2>&1 ||
	fail "mmdebstrap: $(tail -n 3 "$work/log")"
truncate -s 2G "$work/disk.raw"
echo 'start=1MiB, type=83' | sfdisk -q "$work/disk.raw"
mke2fs -q -t ext4 -d "$work/tree" -E offset=1048576 "$work/disk.raw" 2000M

fails_with 2 sbctl image import foreign "$work/disk.raw" --format vmdk
fails_with 4 sbctl image import foreign "$work/none.raw" --format raw
succeeds sbctl image import foreign "$work/disk.raw" --format raw
eq "$(sbctl image info foreign --json | json .imported)" true "it is listed"

# A qcow2 that names a file of the host as its backing file gets none of it.
echo secret >"$work/secret"
truncate -s 1M "$work/secret"
qemu-img create -q -f qcow2 -F raw -b "$work/secret" "$work/evil.qcow2"
sbctl image import evil "$work/evil.qcow2" --format qcow2 || :
[ ! -e "$SANDBOX_IMAGES/evil" ] ||
	! qemu-img convert -O raw "$SANDBOX_IMAGES/evil/root.qcow2" /dev/stdout |
	grep -aq secret || fail "a backing file of the host was read"
pass "a backing file inside an image is not followed"

succeeds sbctl up alien --image foreign
url=$(sbctl info alien --json | json .url)
contains "$(curl -sf --max-time 10 "$url/health")" ok "guestd answers"
eq "$(sbctl exec -u root alien -- cat /opt/sandbox/.hash)" \
	"$(cat "$top_builddir/guest/bundle-full/.hash")" "it is our bundle"
fails_with 1 sbctl exec -u root alien -- \
	sh -c 'find /usr -name "libwebsockets.so*" | grep .'
pass "and the image has none of its libraries"
eq "$(sbctl exec -u root alien -- hostname)" alien "it was personalised"
eq "$(sbctl exec alien -- id -un)" user "and has our user"
token=$(cat "$(sbctl info alien --json | json .token_file)")
eq "$(curl -s --max-time 30 -H "Authorization: Bearer $token" \
	-H 'Content-Type: application/json' "$url/v1/code/execute" \
	-d '{"language": "bash", "code": "echo hello"}' | json .stdout)" hello \
	"and knows its languages"
