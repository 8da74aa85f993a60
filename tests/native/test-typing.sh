#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Any text, typed into programs and read back.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import PIL, gi; gi.require_version("Gtk", "3.0")'
requires chromium --version
requires xterm -version
requires xclip -version
start_desktop 1024x768 --no-auth
"$python" "$srcdir/typed.py" "$port" "$dir" || fail "typing.py"
