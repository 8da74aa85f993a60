# SPDX-License-Identifier: Apache-2.0
"""jupyter_client on the connection file of a kernel of the gateway."""
import sys

from jupyter_client import BlockingKernelClient

c = BlockingKernelClient(connection_file=sys.argv[1])
c.load_connection_file()
c.start_channels()
c.wait_for_ready(timeout=60)
out = []
reply = c.execute_interactive(
    "print('over zmq')", timeout=60,
    output_hook=lambda m: out.append(m["content"].get("text", "")))
assert reply["content"]["status"] == "ok", reply
assert "over zmq\n" in "".join(out), out
c.stop_channels()
