#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kernel beside ipykernel, in one run.
set -euo pipefail
KERNEL_PYTHONPATH=${top_builddir:?}/guest/kernel/python
export KERNEL_PYTHONPATH PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "${0%/*}/bench-kernel.py"
