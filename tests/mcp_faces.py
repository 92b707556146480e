"""Both transports of the MCP face, as a client meets them: a real subprocess, a real uvicorn on loopback."""

import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from conftest import ROOT
from mcp import StdioServerParameters
from starlette.applications import Starlette

from secondbrain import HybridSecondBrain
from secondbrain.mcp import mount_mcp
from secondbrain.store.opened import Store

RUN_STDIO = "from secondbrain.mcp import run_stdio; run_stdio()"


def over_stdio(store: Store, program: str = RUN_STDIO) -> StdioServerParameters:
    """Return how a client starts the server over a store."""
    environment = {"SECOND_BRAIN_CORPUS": str(store.path), "PYTHONPATH": str(ROOT)}
    return StdioServerParameters(command=sys.executable, args=["-c", program], env=environment)


def application(
    brain: HybridSecondBrain, allowed_hosts: Sequence[str] = ("*",), allowed_origins: Sequence[str] = ()
) -> Starlette:
    """Return an application that has MCP among its routes, as ``serve --mcp`` makes it."""
    route, mcp_lifespan = mount_mcp(brain, allowed_hosts, allowed_origins)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        async with mcp_lifespan():
            yield

    return Starlette(routes=[route], lifespan=lifespan)


@contextmanager
def over_http(app: Starlette) -> Iterator[str]:
    """Serve an application on a free port of 127.0.0.1; gives the address of ``/mcp``."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "uvicorn ended while it started"
                time.sleep(0.005)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()
