#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tool shellcheck has nothing to say about any script.
set -euo pipefail
cd "${top_srcdir:?}"
command -v shellcheck git >/dev/null || exit 77
mapfile -t scripts < <(
	git ls-files | while read -r f; do
		case $f in
		*/profile.d/*) ;; # sourced by any shell, and has no first line
		*.sh | *.bash) echo "$f" ;;
		*) [ ! -f "$f" ] || ! head -n 1 "$f" | tr -d '\0' |
			grep -Eq '^#! *(/usr)?/bin/(env )?(ba|da)?sh' || echo "$f" ;;
		esac
	done
)
# SC1090, SC1091: a file that is sourced by a computed name is checked on its
# own.  SC2154: what it sets is not seen then.
shellcheck -S warning -e SC1090,SC1091,SC2154 "${scripts[@]}"
