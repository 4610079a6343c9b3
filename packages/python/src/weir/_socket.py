"""A socket to the gateway. Each ping confirms the data that was read (WS-60)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import websockets
import websockets.exceptions

from ._shapes import Frame, read_frame

PING_EVERY_S = 10.0
# The client confirms that it has read its data after this many characters.
PROVE_EVERY_CHARS = 32 * 1024
# The gateway answers pings, so a connection that is silent for this long is lost.
SILENT_S = 25.0
# A dead peer does not answer a close frame, so the client waits only this long.
CLOSE_S = 0.5
MAX_FRAME_BYTES = 32 << 20


class _KeyFilter(logging.Filter):
    """Removes the key from the request line that `websockets` logs at the level DEBUG."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = re.sub(r"\?key=[^\s&]*", "?key=…", record.getMessage()), None
        return True


_LOGGER = logging.getLogger("weir.socket")
_LOGGER.addFilter(_KeyFilter())


class Link:
    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._nonce = ""
        self._unproved_chars = 0
        self._is_pinged = False
        self._deadline: float | None = None

    async def send(self, message: Frame) -> None:
        await self._socket.send(json.dumps(message))

    def acknowledge(self) -> None:
        """Ends the time limit of the acknowledgement."""
        self._deadline = None

    async def frames(self, ack_s: float | None = None) -> AsyncIterator[tuple[Frame, str]]:
        """Yields frames with their texts. Raises TimeoutError if no frame, or no acknowledgement, arrives in time."""
        self._deadline = None if ack_s is None else time.monotonic() + ack_s
        while True:
            left_s = SILENT_S if self._deadline is None else min(SILENT_S, self._deadline - time.monotonic())
            text = await asyncio.wait_for(self._socket.recv(), max(0, left_s))
            frame = read_frame(text)
            self._unproved_chars += len(text)
            if frame["channel"] == "pong":
                self._nonce = frame.get("nonce") or ""
                self._is_pinged = False
            if self._unproved_chars >= PROVE_EVERY_CHARS and not self._is_pinged:
                await self._ping()
            yield frame, text

    async def ping_forever(self) -> None:
        while True:
            with contextlib.suppress(websockets.exceptions.ConnectionClosed):
                await self._ping()
            await asyncio.sleep(PING_EVERY_S)

    async def _ping(self) -> None:
        self._unproved_chars = 0
        self._is_pinged = True
        await self.send({"method": "ping", "nonce": self._nonce})


@contextlib.asynccontextmanager
async def open_link(address: str, open_s: float) -> AsyncIterator[Link]:
    """Opens a socket that is pinged until the block ends."""
    # Type declarations of older versions lack `connect`.
    connect = getattr(websockets, "connect")
    connecting = connect(
        address,
        max_size=MAX_FRAME_BYTES,
        open_timeout=open_s,
        ping_interval=None,
        close_timeout=CLOSE_S,
        logger=_LOGGER,
    )
    async with connecting as socket:
        link = Link(socket)
        pinging = asyncio.create_task(link.ping_forever())
        try:
            yield link
        finally:
            pinging.cancel()
            await asyncio.gather(pinging, return_exceptions=True)


def status_of(error: websockets.exceptions.InvalidHandshake) -> int | None:
    """Returns the HTTP status of a rejected upgrade; None if there was no response."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return status if isinstance(status, int) else None
