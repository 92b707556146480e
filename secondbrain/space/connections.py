"""What a connection may cost before a request is there: uvicorn's httptools protocol, bounded.

The rules:

 1. A request's head, its address included, has at most MAX_HEAD_BYTES; more is answered 431.
 2. A head arrives within HEAD_SECONDS of its first byte, and the first one of the connection's opening;
    otherwise the connection is closed.
 3. A client that does not read its answer is let go after SEND_SECONDS, and its place with it.

uvicorn's other protocol, h11, bounds the head by itself and knows no time for it.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from secondbrain.space.limits import HEAD_SECONDS, MAX_HEAD_BYTES, SEND_SECONDS

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes = 0
        self._head_due: asyncio.TimerHandle | None = None
        self._read_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of the first head."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        self._stop_reading_clock()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the clock of a client that does not read; whatever waits to be sent to it is dropped."""
        super().pause_writing()
        self._read_due = self.loop.call_later(SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        self._stop_reading_clock()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head before it is parsed."""
        if self._head_due is None and (self.cycle is None or self.cycle.response_complete):
            # What comes after an answer is the head of a request, or nothing that keeps a connection.
            self._start_clock()
        if self._head_due is not None:
            end = data.find(b"\r\n\r\n")
            self._head_bytes += len(data) if end < 0 else end + 4
            if self._head_bytes > MAX_HEAD_BYTES:
                self.transport.write(_TOO_LARGE)
                self.transport.close()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Start the clock of a head on a connection that is kept."""
        super().on_message_begin()
        if self._head_due is None:
            self._start_clock()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._stop_clock()
        super().on_headers_complete()

    def _stop_reading_clock(self) -> None:
        if self._read_due is not None:
            self._read_due.cancel()
            self._read_due = None

    def _start_clock(self) -> None:
        self._head_bytes = 0
        self._head_due = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_clock(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None
