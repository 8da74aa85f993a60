# SPDX-License-Identifier: Apache-2.0
# Shared by the image tools: messages, progress, recipes, ext4 edits.
# shellcheck shell=sh

PATH=$PATH:/usr/sbin:/sbin
LC_ALL=C.UTF-8
export PATH LC_ALL

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# progress PERCENT TEXT: for the caller on fd 3, for people on stdout.
progress() {
	if { true >&3; } 2>/dev/null; then
		echo "progress $*" >&3
	fi
	echo "== $*%" | sed 's/^== \([0-9]*\) \(.*\)%$/[\1%] \2/'
}

# recipe_get FILE KEYWORD: the values of every line with that keyword.
recipe_get() {
	sed -n "s/^$2[[:blank:]]\{1,\}//p" "$1" | sed 's/[[:blank:]]*$//'
}

# recipe_check FILE: refuse what no tool would act upon.
recipe_check() {
	[ -r "$1" ] || die "recipe $1 cannot be read; give an existing file"
	awk '
	BEGIN {
		n = split("description suite parent size files user package " \
			"stub module initrd-module mask mask-generator link prune venv warm", k)
		for (i = 1; i <= n; i++)
			known[k[i]] = 1
	}
	/^[[:blank:]]*(#|$)/ { next }
	!($1 in known) || NF < 2 {
		printf "%s:%d: \"%s\" is not a recipe line\n",
			FILENAME, FNR, $0 > "/dev/stderr"
		bad = 1
	}
	END { exit bad }' "$1" || die "correct the recipe $1 (see README.md)"
}

# ext4_apply RAW SCRIPT LOG: run a debugfs script.  debugfs reports errors
# on stderr only, after a line with its version.
ext4_apply() {
	debugfs -w -f "$2" "$1" >/dev/null 2>"$3"
	if sed 1d "$3" | grep . >&2; then
		die "the changes could not be written to the file system"
	fi
	e2fsck -fn "$1" >"$3" 2>&1 || {
		cat "$3" >&2
		die "the file system is damaged after the changes"
	}
}
