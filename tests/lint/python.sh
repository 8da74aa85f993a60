#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python's own compiler and pyflakes have nothing to say.
set -euo pipefail
cd "${top_srcdir:?}"
command -v git >/dev/null || exit 77
python=/usr/bin/python3
"$python" -c 'import pyflakes' || exit 77
mapfile -t files < <(git ls-files '*.py')
"$python" -W error - "${files[@]}" <<'END'
import sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        compile(file.read(), name, "exec")
END
# What a test takes by a star is known when it runs.
! "$python" -m pyflakes "${files[@]}" | grep -v 'import \*\|star imports'
