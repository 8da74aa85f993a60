# SPDX-License-Identifier: Apache-2.0
"""nbclient runs a notebook on the gateway of JUPYTER_GATEWAY_URL."""
import os
import traceback

import nbformat
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import (GatewayKernelClient,
                                             GatewayKernelManager)
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

GatewayClient.instance().url = os.environ["JUPYTER_GATEWAY_URL"]


def run(*cells, kernel="python3"):
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell(c) for c in cells]
    nb.metadata["kernelspec"] = {"name": kernel, "display_name": "",
                                 "language": "python"}
    km = GatewayKernelManager()
    km.client_factory = GatewayKernelClient
    # The manager asks for python3 unless it is told by this very argument.
    NotebookClient(nb, km=km, timeout=60, startup_timeout=60,
                   iopub_timeout=60).execute(kernel_name=kernel)
    return nb


def text_of(cell):
    return "".join(o["text"] for o in cell.outputs
                   if o["output_type"] == "stream")


def run_lines(kernel, module, lines):
    nb = run("x = 6", "print('hello')\nx * 7",
             f"for i in range({lines}): print(i, flush=True)",
             f"import sys\nassert {module!r} in sys.modules", kernel=kernel)
    assert text_of(nb.cells[1]) == "hello\n", nb.cells[1]
    assert nb.cells[1].outputs[-1]["data"]["text/plain"] == "42", nb.cells[1]
    text = text_of(nb.cells[2])
    assert text == "".join(f"{i}\n" for i in range(lines)), len(text)


def main():
    run_lines("sandbox-python", "sandbox_kernel", 10000)
    # ipykernel makes up to two messages of a line, and drops all but 1000 of
    # those that its own thread could not send yet.
    run_lines("python3", "ipykernel", 400)
    try:
        run("1 / 0")
    except CellExecutionError as e:
        assert "ZeroDivisionError" in str(e), e
    else:
        raise AssertionError("no error")
    try:
        run("import os", "os.kill(os.getpid(), 9)")
    except CellExecutionError as e:
        assert "SIGKILL" in str(e), e
    else:
        raise AssertionError("no death")


status = 1
try:
    main()
    status = 0
except BaseException:
    traceback.print_exc()
# Its clients leave threads behind that read from sockets they have closed.
os._exit(status)
