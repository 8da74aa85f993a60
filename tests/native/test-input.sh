#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mouse, keyboard, clipboard and the actions of models, as programs see them.
. "${srcdir:=.}/functions.sh"

python=/usr/bin/python3
requires "$python" -c 'import PIL'
requires curl --version
requires xclip -version
start_desktop 1024x768 --no-auth
"$python" "$srcdir/input.py" "$port" "$dir" || fail "input.py"
