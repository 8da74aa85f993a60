#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel for bash through jupyter_client, as people use it.
. "${srcdir:-.}/kernel/setup.sh"

choose_python jupyter_client jupyter_kernel_test
install_kernels
"$python" "$kernel/kernelspec.py" install --language bash --prefix "$dir" \
	>/dev/null
preload_asan

run_tests bash_conformance bash
