# SPDX-License-Identifier: Apache-2.0
"""A kernel's life: restart, many cells, and no growth."""

import os
import unittest

from driver import Kernel

CELLS = int(os.environ.get("KERNEL_SOAK", "5000"))
# What a kernel may grow by in the second half of the run.
GROWTH_KB = 2048


class Life(unittest.TestCase):
    def test_restart(self):
        kernel = Kernel()
        try:
            kernel.run("kept = 1")
            kernel.manager.restart_kernel(now=False)
            kernel.client.wait_for_ready(timeout=60)
            cell = kernel.run("kept")
            self.assertEqual(cell.reply["ename"], "NameError")
            self.assertEqual(cell.reply["execution_count"], 1)
        finally:
            kernel.stop()

    def test_soak(self):
        kernel = Kernel()
        try:
            half = CELLS // 2
            self.many(kernel, half)
            before = rss(kernel)
            self.many(kernel, CELLS - half)
            self.assertLess(rss(kernel) - before, GROWTH_KB)
        finally:
            kernel.stop()

    def many(self, kernel, count):
        for i in range(0, count, 50):
            # Batches, as the client is what takes the time.
            sent = [
                kernel.send(self.cell(i + j), stop_on_error=False)
                for j in range(min(50, count - i))
            ]
            for identity in sent:
                status = kernel.client.get_shell_msg(timeout=60)
                self.assertEqual(status["parent_header"]["msg_id"], identity)
            last = sent[-1]
            while True:
                message = kernel.client.get_iopub_msg(timeout=60)
                done = message["content"].get("execution_state") == "idle"
                if done and message["parent_header"]["msg_id"] == last:
                    break

    def cell(self, i):
        return (
            "v%d = [1, 2, 3]\nv%d" % (i % 10, i % 10),
            "print('line %d')" % i,
            "'text %d'" % i,
            "1/0",
            "def f(x):\n    return x + %d\nf(1)" % i,
        )[i % 5]


def rss(kernel):
    with open("/proc/%d/status" % kernel.manager.provisioner.process.pid) as file:
        return int([line for line in file if line.startswith("VmRSS")][0].split()[1])


if __name__ == "__main__":
    unittest.main()
