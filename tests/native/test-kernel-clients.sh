#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel through jupyter_client and jupyter console, as people use it.
. "${srcdir:-.}/kernel/setup.sh"

choose_python jupyter_client jupyter_kernel_test jupyter_console IPython \
	numpy pandas PIL
install_kernels

# sandbox-kernelspec: what was installed is listed, and can be removed.
spec() { "$python" "$kernel/kernelspec.py" "$@"; }
[ "$(spec list | wc -l)" = 2 ] || fail "list: $(spec list)"
spec install --prefix "$dir" --name other >/dev/null
spec list | grep -q "^other  *$dir/share/jupyter/kernels/other" || fail list
spec remove --prefix "$dir" --name other >/dev/null
! spec remove --prefix "$dir" --name other 2>"$dir/err" || fail "removed twice"
grep -q 'sandbox-kernelspec list' "$dir/err" || fail "no remedy"
! spec install --prefix "$dir" --name ../evil 2>/dev/null || fail "a bad name"
"$dir/venv/bin/python" "$kernel/kernelspec.py" install --sys-prefix --pth \
	>/dev/null
[ -f "$dir/venv/share/jupyter/kernels/sandbox-python/kernel.json" ] ||
	fail "--sys-prefix"
[ -n "$asan" ] || (cd / && "$dir/venv/bin/python" -m sandbox_kernel 2>&1) |
	grep -q usage || fail "python -m"

run_tests conformance execute requests plain result console life
