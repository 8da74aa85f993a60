# SPDX-License-Identifier: Apache-2.0
"""jupyter_kernel_test: every check it has."""

import unittest

import jupyter_kernel_test

from driver import NAME


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = NAME
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}]
    complete_code_samples = ["1", "print('hello')", "def f(x):\n  return x*2\n\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]
    invalid_code_samples = ["import = 7q"]
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
    ]
    code_display_data = [
        {
            "code": "from IPython.display import HTML, display\ndisplay(HTML('<b>test</b>'))",
            "mime": "text/html",
        },
        {
            "code": "from IPython.display import Math, display\ndisplay(Math('x'))",
            "mime": "text/latex",
        },
    ]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"


if hasattr(jupyter_kernel_test, "IopubWelcomeTests"):

    class Welcome(jupyter_kernel_test.IopubWelcomeTests):
        kernel_name = NAME
        support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main()
