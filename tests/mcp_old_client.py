"""A client on mcp 1.x, run by another interpreter: asks a question over a transport, prints what it got."""

import asyncio
import json
import os
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


def transport(how: str) -> Any:
    if how.startswith("http"):
        return streamablehttp_client(how)
    command, *args = json.loads(how)
    return stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))


async def main(how: str) -> None:
    async with transport(how) as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        # This client validates structured content against the tool's output schema itself.
        context = (
            await session.call_tool("search_handles", {"query": "chain of receipts", "k": 2})
        ).structuredContent
        verified = await session.call_tool("verify_receipt", {"context": context})
        refused = await session.call_tool("search_handles", {"query": "receipts", "surprise": 1})
    print(json.dumps([tools, context, verified.structuredContent, refused.isError]))


asyncio.run(main(sys.argv[1]))
