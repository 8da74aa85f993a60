#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The window manager, its menu and the panel: they are there, work, and come back.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import PIL'
requires curl --version
requires xterm -version
requires tint2 -v
start_desktop 1024x768 --no-auth
"$python" "$srcdir/session.py" "$port" "$dir/run" || fail "session.py"
