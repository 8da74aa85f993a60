# SPDX-License-Identifier: Apache-2.0
"""Run many short commands over a few connections that stay open.

usage: many-commands.py HOST PORT COUNT

Ends with 1 and says which when an answer is not the right one.
"""
import http.client
import json
import sys
import threading

host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
THREADS = 4
wrong = []


def work(first):
    client = http.client.HTTPConnection(host, port, timeout=60)
    for i in range(first, count, THREADS):
        body = json.dumps({"command": f"echo {i}; exit {i % 7}"})
        client.request("POST", "/v1/shell/exec", body,
                       {"Content-Type": "application/json"})
        answer = client.getresponse().read()
        result = json.loads(answer)
        if (result.get("stdout") != f"{i}\n"
                or result.get("exit_code") != i % 7):
            wrong.append(f"command {i}: {answer}")
            return


threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if wrong:
    sys.exit("\n".join(wrong))
