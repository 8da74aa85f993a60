#!/bin/sh
# Make configure from configure.ac.  Run once in a fresh clone.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
command -v autoreconf >/dev/null || {
	echo "autogen.sh: autoreconf is missing: apt-get install autoconf automake" >&2
	exit 1
}
[ -e "$(aclocal --print-ac-dir)/pkg.m4" ] || {
	echo "autogen.sh: pkg.m4 is missing: apt-get install pkgconf" >&2
	exit 1
}
exec autoreconf --install --force
