#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Films where it is not easy: over slow lines, of X servers that hang, on full
# disks.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires ffprobe -version

echo film-secret > "$dir/token"
# shellcheck disable=SC2034 # start_desktop reads it
desktop_token=film-secret
start_desktop 640x480 --token-file "$dir/token"
WALLPAPER=${top_builddir:=../..}/guest/bundle/bin/sandbox-wallpaper
export WALLPAPER
asan=
! ldd "$guestd" | grep -q libasan || asan=asan
"$python" "$srcdir/film.py" "$port" film-secret "$dir/run" "$HOME" \
	"$guestd_pid" $asan || fail "film.py"

# On a small disk: who is not root mounts it as the root of a name space, and is
# himself again in another.
as_root="unshare -m" again=
if [ "$(id -u)" -ne 0 ]; then
	as_root="unshare -rm"
	again="unshare -U --map-user=$(id -u) --map-group=$(id -g)"
fi
# shellcheck disable=SC2086 # words
$as_root $again true 2>/dev/null || {
	echo "SKIP: films on a full disk: no disk can be mounted here" >&2
	exit 77
}
stop_guestd
end_desktop
rm -rf "$dir/run" "$HOME/recordings"
mkdir "$HOME/recordings"
cat > "$dir/small-disk" <<END
#!/bin/sh
mount -t tmpfs -o size=64m films "$HOME/recordings" &&
	exec $again "$guestd" "\$@"
END
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$as_root" "$dir/small-disk" > "$dir/guestd"
chmod 755 "$dir/small-disk" "$dir/guestd"
guestd=$dir/guestd
start_desktop 640x480 --token-file "$dir/token"
"$python" "$srcdir/film-disk.py" "$port" film-secret "$dir/run" "$HOME" ||
	fail "film-disk.py"
