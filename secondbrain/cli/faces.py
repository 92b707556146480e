"""``serve`` and ``mcp``: the HTTP and MCP faces."""

from dataclasses import replace

import click

from secondbrain.cli.output import as_json, payload
from secondbrain.settings import Settings


@click.command(epilog="Example: secondbrain serve --port 8000")
@click.option("--host", help="Address to bind (SECOND_BRAIN_HOST).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to bind (SECOND_BRAIN_PORT).")
@click.option("--mcp", "with_mcp", is_flag=True, help="Serve MCP at /mcp too.")
@as_json
def serve(host: str | None, port: int | None, with_mcp: bool, as_json: bool) -> int:
    """Serve the HTTP API and the page until stopped; logs are JSON lines."""
    from secondbrain.space.app import serve as run

    settings = Settings.from_environment()
    settings = replace(settings, host=host or settings.host, port=port or settings.port)
    if as_json:
        payload({"host": settings.host, "mcp": with_mcp, "port": settings.port})
    run(settings, with_mcp=with_mcp)
    return 0


@click.command(epilog="Example: secondbrain mcp")
@as_json
def mcp(as_json: bool) -> int:
    """Speak the Model Context Protocol on standard input and output; nothing else is written there."""
    if as_json:
        raise click.UsageError("standard output is the protocol's: --json has nothing to print")
    from secondbrain.mcp import run_stdio

    run_stdio()
    return 0
