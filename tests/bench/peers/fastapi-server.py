# SPDX-License-Identifier: Apache-2.0
"""The peer of bench-guestd: a sandbox server as they are commonly built.

FastAPI on uvicorn with uvloop and httptools, plain dicts in and out, no
logging, no authentication.  Started with the port as its argument.
"""
import asyncio
import sys

import uvicorn
from fastapi import Body, FastAPI, Request
from fastapi.responses import FileResponse

app = FastAPI()


@app.get("/health")
async def health():
    return {"status": "ok"}


@app.post("/v1/shell/exec")
async def shell_exec(command: str = Body(embed=True)):
    process = await asyncio.create_subprocess_exec(
        "/bin/bash", "-c", command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True)
    out, err = await process.communicate()
    return {"exit_code": process.returncode,
            "stdout": out.decode(errors="replace"),
            "stderr": err.decode(errors="replace")}


@app.get("/v1/file/read")
async def file_read(path: str):
    with open(path, encoding="utf-8") as file:
        content = file.read()
    return {"path": path, "content": content, "size": len(content)}


@app.put("/v1/file")
async def file_write(path: str, request: Request):
    size = 0
    with open(path, "wb") as file:
        async for piece in request.stream():
            file.write(piece)
            size += len(piece)
    return {"path": path, "size": size}


@app.get("/v1/file/download")
async def file_download(path: str):
    return FileResponse(path)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]),
                loop="uvloop", http="httptools", access_log=False,
                log_level="error")
