# SPDX-License-Identifier: Apache-2.0
"""python3 -m sandbox_kernel -f connection.json"""
import sys
from . import _core as core


def run(request, scope):
    content = request.content
    sys.stdout = core.Stream("stdout")
    sys.stderr = core.Stream("stderr")
    try:
        exec(compile(content.get("code", ""), "<cell>", "exec"), scope)
    except BaseException as e:
        core.disarm()
        error = {"ename": type(e).__name__, "evalue": str(e), "traceback": []}
        core.publish("error", error)
        core.abort_queued()
        core.reply(request, {"status": "error", "execution_count": 0, **error})
    else:
        core.reply(request, {"status": "ok", "execution_count": 0,
                             "user_expressions": {}})


def main():
    core.start(sys.argv[sys.argv.index("-f") + 1])
    scope = {"__name__": "__main__"}
    while True:
        request = core.next()
        if request is None:
            break
        if request.type == "execute_request":
            run(request, scope)
        else:
            core.reply(request, None)


main()
