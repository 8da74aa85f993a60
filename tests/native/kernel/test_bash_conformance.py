# SPDX-License-Identifier: Apache-2.0
"""jupyter_kernel_test on the kernel for bash: every check that fits."""

import unittest

import jupyter_kernel_test


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = "bash"
    language_name = "bash"
    file_extension = ".sh"
    code_hello_world = "echo 'hello, world'"
    code_stderr = "echo test >&2"
    completion_samples = [
        {"text": "mapfil", "matches": {"mapfile"}},
        {"text": "cd /et", "matches": {"/etc/"}},
        {"text": "echo $HOM", "matches": {"$HOME"}},
    ]
    complete_code_samples = ["ls", "for i in 1 2; do\n echo $i\ndone", "cat <<E\na\nE\n"]
    incomplete_code_samples = ["echo 'hello", "if true; then", "cat <<E\na", "ls \\"]
    invalid_code_samples = ["echo (", "fi"]
    code_generate_error = "false"
    code_history_pattern = "echo 1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "help"


if __name__ == "__main__":
    unittest.main()
