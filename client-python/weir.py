"""Client for a Weir gateway in one file: info requests with their cost, streams, self-verifying books, and replay.

Requires websockets and httpx (Debian: python3-websockets, python3-httpx). Prices and sizes are decimal strings; use Decimal.

    async with weir.Client(url, key) as client:
        answer = await client.info("l2Book", coin="BTC")
        async for book in client.books("BTC"):
            print(book.coin, book.levels(1), book.height)
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import random
import time
import urllib.parse
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import websockets

PING_EVERY_S = 10
# The client confirms that it has read its data after this many characters (WS-60 of the protocol).
PROVE_EVERY_CHARS = 32 * 1024
# The gateway answers pings, so a connection that is silent for this long is lost.
SILENT_S = 25
# A dead peer does not answer a close frame, so the client waits only this long.
CLOSE_S = 0.5
ACK_S = 15
STEADY_S = 5
# A request with a longer `Retry-After` fails at once.
MAX_RETRY_WAIT_S = 30
TRANSIENT = {"rate_limited", "unavailable", "upstream_failed", "upstream_timeout", "internal", "network", "timeout"}
CODES = {401: "unauthorized", 402: "credits_exhausted", 403: "forbidden", 404: "not_found", 429: "rate_limited"}
CODES |= {502: "upstream_failed", 503: "unavailable", 504: "upstream_timeout"}
# Close codes and upgrade statuses that a retry cannot fix.
FINAL = {401: "unauthorized", 402: "credits_exhausted", 403: "forbidden"}
FINAL |= {4401: "unauthorized", 4402: "credits_exhausted", 4403: "forbidden"}


class WeirError(Exception):
    """Error of a request or stream. Branch on `code`. `retry_after` is in seconds; None if the gateway sent none."""

    def __init__(self, code: str, message: str, status=None, retry_after=None, request_id=None):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status = code, message, status
        self.retry_after, self.request_id = retry_after, request_id


@dataclasses.dataclass(frozen=True)
class Answer:
    """Response of an info request with its cost in credits, block height, and age in seconds.

    `next_cursor` is the cursor of the next page of a list; None if no page follows.
    """

    data: Any
    cost: str | None
    remaining: str | None
    height: int | None
    age_s: int | None
    request_id: str | None
    next_cursor: str | None = None


@dataclasses.dataclass(frozen=True)
class Gap:
    """Events may be missing from block `start` to block `end`, both inclusive. None: unknown or still open."""

    reason: str
    start: int | None = None
    end: int | None = None


class Book:
    """Book of one coin. It has levels only while all changes arrived in order and every checksum matched."""

    def __init__(self, coin: str):
        self.coin = coin
        self.epoch, self.height, self.seq, self.time, self.checks = "", -1, -1, 0, 0
        self.step, self.why = "syncing", "not fetched yet"
        self._sides: tuple[dict, dict] = ({}, {})
        self._kept: list[dict] = []

    def levels(self, depth: int | None = None) -> tuple[list, list]:
        """Returns bids and asks, best first. Both are empty if the book is not in step."""
        return self._levels(depth) if self.step == "in step" else ([], [])

    def _levels(self, depth):
        bids, asks = (sorted(side.values(), key=lambda level: float(level["px"])) for side in self._sides)
        return bids[::-1][:depth], asks[:depth]

    def _lost(self, why: str) -> None:
        self.step, self.why, self._sides, self._kept = "out of step", why, ({}, {}), []

    def _seed(self, snapshot: dict) -> str | None:
        """Applies a snapshot. Returns why the book does not match the server's book; None if it matches."""
        self.epoch, self.height, self.seq = snapshot["epoch"], snapshot["height"], snapshot["seq"]
        self.time, self.step, self.why, self._sides = snapshot["time"], "in step", "", ({}, {})
        self._put(snapshot["levels"])
        kept, self._kept = self._kept, []
        for batch in kept:
            if batch["epoch"] == self.epoch and batch["block_height"] <= self.height:
                continue
            if why := self._take(batch):
                return why
        return None

    def _take(self, batch: dict) -> str | None:
        if batch["epoch"] != self.epoch:
            return f"epoch changed to {batch['epoch']}"
        change = next((one for one in batch["book_diffs"] if one["coin"] == self.coin), None)
        if change is None or batch["block_height"] <= self.height:
            return None
        if change["prev_seq"] != self.seq:
            return f"gap: prev_seq {change['prev_seq']} follows seq {self.seq}"
        self._put(change["levels"])
        self.seq, self.height, self.time = change["seq"], batch["block_height"], batch["time"]
        if "checksum" in change:
            if self._checksum() != change["checksum"]:
                return f"checksum differs at seq {self.seq}"
            self.checks += 1
        return None

    def _put(self, levels) -> None:
        for side, changed in zip(self._sides, levels):
            for level in changed:
                if level["n"] == 0:
                    side.pop(level["px"], None)
                else:
                    side[level["px"]] = level

    def _checksum(self) -> int:
        sides = (":".join(f"{level['px']}:{level['sz']}:{level['n']}" for level in side) for side in self._levels(10))
        return zlib.crc32("/".join(sides).encode())


class Client:
    """Client for one gateway. Each stream has its own socket, which stays open as long as its loop runs.

    `on_notice` is called with the text and the code (or None) of each notice of the gateway. The code `late` means that
    a loop reads more slowly than data arrives.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = 10,
        retries: int = 3,
        on_notice: Callable[[str, str | None], None] | None = None,
    ):
        self._url, self._key, self._retries = url.rstrip("/"), key, retries
        self._notify = on_notice or (lambda text, code: None)
        self._http = httpx.AsyncClient(timeout=timeout_s, headers={"authorization": f"Bearer {key}"}, trust_env=False)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def info(self, type: str, **fields: Any) -> Answer:
        """Sends POST /info, and retries temporary failures.

        Raises:
            WeirError: on a gateway error, a timeout or a network failure.
        """
        for attempt in range(self._retries + 1):
            try:
                return await self._post({"type": type, **fields})
            except WeirError as error:
                wait_s = max(error.retry_after or 0, _backoff(attempt, 0.25, 10))
                if error.code not in TRANSIENT or attempt == self._retries or wait_s > MAX_RETRY_WAIT_S:
                    raise
            await asyncio.sleep(wait_s)
        raise AssertionError

    async def _post(self, request: dict) -> Answer:
        try:
            reply = await self._http.post(f"{self._url}/info", json=request)
        except httpx.TimeoutException as error:
            raise WeirError("timeout", str(error) or "no response in time") from error
        except httpx.HTTPError as error:
            raise WeirError("network", str(error) or type(error).__name__) from error
        head, status = reply.headers, reply.status_code
        try:
            data = reply.json()
        except ValueError:
            data, status = {}, status if status != 200 else 502
        if status != 200:
            known = data if isinstance(data, dict) else {}
            after = head.get("retry-after", "")
            raise WeirError(
                known.get("code") or CODES.get(status, "unreadable"),
                known.get("msg") or f"HTTP {status}",
                status,
                float(after) if after.isdigit() else None,
                head.get("x-request-id"),
            )
        number = lambda name: int(head[name]) if name in head else None
        cost, remaining = head.get("x-credits-cost"), head.get("x-credits-remaining")
        height, age_s, request_id = number("x-block-height"), number("age"), head.get("x-request-id")
        return Answer(data, cost, remaining, height, age_s, request_id, head.get("x-next-cursor"))

    async def history(self, type: str, **fields: Any) -> AsyncIterator[Answer]:
        """Yields the non-empty pages of a list that has a `cursor`, such as userFillsByTime. Each row comes once.

        Raises:
            WeirError: on any error of a request. Pages that were received before it are complete.
        """
        fields = {"cursor": "", **fields}
        while fields["cursor"] is not None:
            page = await self.info(type, **fields)
            if page.data:
                yield page
            fields["cursor"] = page.next_cursor

    async def stream(self, type: str, *, from_block: int | None = None, **fields: Any) -> AsyncIterator[dict | Gap]:
        """Yields frames of a channel across reconnects, and a Gap if events may be missing.

        After a reconnect, event channels resume without duplicates. The gateway stores five minutes of events.
        Leaving the loop unsubscribes.

        Args:
            from_block: first block to receive.

        Raises:
            WeirError: if the gateway rejects the subscription or the key.
        """
        body = {"type": type, **fields}
        seen = _Seen(from_block)
        async for frame in self._sockets(body, seen):
            yield frame

    async def books(self, *coins: str) -> AsyncIterator[Book]:
        """Yields a coin's book after each change, and when it gets out of step (see `step` and `why`)."""
        books = {coin: Book(coin) for coin in coins}
        body = {"type": "l2BookDiff2", "coin": coins[0] if len(coins) == 1 else list(coins), "checksum": True}
        waiting: dict[str, asyncio.Task] = {}
        wrong = dict.fromkeys(coins, 0)
        events: asyncio.Queue = asyncio.Queue(1_024)

        async def repair(book: Book, wait_s: float) -> None:
            await asyncio.sleep(wait_s)
            try:
                snapshot = (await self.info("l2BookDiffSnapshot", coin=book.coin)).data
            except WeirError as error:
                snapshot = error
            await events.put((book, snapshot))

        def lose(book: Book, why: str) -> None:
            book._lost(why)
            wrong[book.coin] += 1
            if book.coin not in waiting:  # A coin has at most one repair at a time.
                waiting[book.coin] = asyncio.create_task(repair(book, _backoff(wrong[book.coin] - 1, 0.2, 60)))

        async def read() -> None:
            try:
                async for frame in self._sockets(body, None, with_status=True):
                    await events.put((None, frame))
            except BaseException as error:
                await events.put((None, error))

        reading = asyncio.create_task(read())
        try:
            while True:
                book, event = await events.get()
                if book is None and isinstance(event, BaseException):
                    raise event
                if book is None and event == "live":
                    for one in books.values():
                        if one.coin not in waiting:
                            one.step, one.why = "syncing", "not fetched yet"
                            waiting[one.coin] = asyncio.create_task(repair(one, 0))
                elif book is None and isinstance(event, Gap):
                    for task in waiting.values():
                        task.cancel()
                    waiting.clear()
                    for one in books.values():
                        one._lost(event.reason)
                        yield one
                elif book is None:
                    batch = event["data"]["Updates"]
                    for one in books.values():
                        if one.step != "in step":
                            one._kept = [*one._kept[-1_023:], batch]
                            continue
                        before = one.seq
                        if why := one._take(batch):
                            lose(one, why)
                            one._kept = [batch]
                        elif one.seq == before:
                            continue
                        else:
                            wrong[one.coin] = 0
                        yield one
                elif waiting.pop(book.coin, None) is None:
                    continue  # This snapshot was requested before the connection was lost.
                elif isinstance(event, WeirError):
                    if event.code not in TRANSIENT:
                        raise event
                    lose(book, str(event))
                else:
                    kept = book._kept
                    if why := book._seed(event):
                        lose(book, why)
                        book._kept = kept[-1:]
                    yield book
        finally:
            for task in [reading, *waiting.values()]:
                task.cancel()
            await asyncio.gather(reading, *waiting.values(), return_exceptions=True)

    async def replay(self, type: str, *, replay: dict, **fields: Any) -> AsyncIterator[dict | Gap]:
        """Replays archived blocks in the format of live frames.

        Args:
            replay: `fromTime` or `fromBlock`, `toTime` or `toBlock`, and `speed`.
        """
        async with self._socket() as link:
            await link.send({"method": "subscribe", "subscription": {"type": type, **fields}, "replay": replay})
            async for frame in link.frames():
                channel, data = frame["channel"], frame.get("data")
                if channel == "error":
                    raise WeirError(frame.get("code", "invalid_request"), data)
                if channel == "replay" and data["event"] in ("gap", "unknown"):
                    yield Gap("not archived", data.get("from"), data.get("to"))
                elif channel == "replay" and data["event"] == "ended":
                    return
                elif channel not in ("replay", "pong", "subscriptionResponse", "notification"):
                    yield frame
        raise WeirError("network", "the connection closed before the replay finished")

    async def _sockets(self, body: dict, seen: _Seen | None, with_status: bool = False) -> AsyncIterator[Any]:
        """Yields frames of a body over successive sockets. `with_status` adds "live" after each acknowledgement."""
        attempt, was_live = 0, False
        while True:
            opened, why = float("inf"), "the connection closed"
            try:
                # A busy gateway serves abandoned attempts first, so later ones wait longer.
                async with self._socket(min(5 * 2**attempt, 40)) as link:
                    opened = time.monotonic()
                    message = {"method": "subscribe", "subscription": body}
                    if seen is not None and seen.next_block is not None:
                        message["fromBlock"] = seen.next_block
                    await link.send(message)
                    live = False
                    async for frame in link.frames(ack_s=ACK_S):
                        channel = frame["channel"]
                        if channel == "subscriptionResponse":
                            live = was_live = True
                            link.acknowledged()
                            if with_status:
                                yield "live"
                        elif channel == "pong":
                            if live and seen is not None and "block_height" in frame:  # The height covers acknowledged bodies.
                                seen.complete(frame["block_height"])
                        elif channel == "error":
                            code, text = frame.get("code", ""), frame["data"]
                            if code in ("gap", "replay_unavailable"):
                                if seen is not None:
                                    seen.forget()
                                yield Gap(text)
                            elif not live and code not in TRANSIENT:
                                raise WeirError(code or "invalid_request", text)
                            elif not live:
                                raise ConnectionError(text)
                            else:
                                self._notify(text, code or None)
                        else:
                            if channel == "notification":
                                self._notify(frame["data"]["notification"], frame.get("code"))
                            if channel != "notification" or body["type"] == "notification":
                                if live and (seen is None or seen.take(frame)):
                                    yield frame
            except (websockets.exceptions.InvalidStatusCode, websockets.exceptions.InvalidStatus) as error:
                status = getattr(error, "status_code", None) or error.response.status_code
                if status in FINAL:
                    raise await self._refusal(status) from error
                why = f"HTTP {status}"
            except websockets.exceptions.ConnectionClosed as error:
                code = error.rcvd.code if error.rcvd else 1006
                why = f"close {code}: {error.rcvd.reason if error.rcvd else 'the network'}"
                if code in FINAL:
                    raise WeirError(FINAL[code], why, code) from error
            except (OSError, asyncio.TimeoutError, ValueError, websockets.exceptions.WebSocketException) as error:
                why = str(error) or "no response in time"
            if was_live and (seen is None or seen.lost()):
                yield Gap(why)
                was_live = False
            attempt = 0 if time.monotonic() - opened > STEADY_S else attempt + 1
            await asyncio.sleep(_backoff(attempt, 0.2, 15))

    async def _refusal(self, status: int) -> WeirError:
        """Returns why an upgrade was rejected. The same key gets the same error over HTTP, free of charge."""
        try:
            await self._post({"type": "l2BookDiffSnapshot"})
        except WeirError as error:
            if error.status == status:
                return error
        return WeirError(FINAL[status], f"HTTP {status}", status)

    @contextlib.asynccontextmanager
    async def _socket(self, open_s: float = 5) -> AsyncIterator[_Link]:
        base = self._url.replace("http", "ws", 1)
        address = f"{base}/ws?key={urllib.parse.quote(self._key, safe='')}"
        options = {"max_size": 32 << 20, "open_timeout": open_s, "ping_interval": None, "close_timeout": CLOSE_S}
        async with websockets.connect(address, **options) as socket:
            link = _Link(socket)
            pinging = asyncio.create_task(link.pings())
            try:
                yield link
            finally:
                pinging.cancel()
                await asyncio.gather(pinging, return_exceptions=True)


class _Link:
    """One socket. Each ping confirms the data that it has read."""

    def __init__(self, socket):
        self._socket, self._nonce, self._unproved, self._pinged = socket, "", 0, False
        self._deadline: float | None = None

    async def send(self, message: dict) -> None:
        await self._socket.send(json.dumps(message))

    async def ping(self) -> None:
        self._unproved, self._pinged = 0, True
        await self.send({"method": "ping", "nonce": self._nonce})

    async def pings(self) -> None:
        while True:
            with contextlib.suppress(websockets.exceptions.ConnectionClosed):
                await self.ping()
            await asyncio.sleep(PING_EVERY_S)

    def acknowledged(self) -> None:
        self._deadline = None

    async def frames(self, ack_s: float | None = None) -> AsyncIterator[dict]:
        """Yields frames. Raises TimeoutError if no frame, or no acknowledgement, arrives in time."""
        self._deadline = None if ack_s is None else time.monotonic() + ack_s
        while True:
            left = SILENT_S if self._deadline is None else min(SILENT_S, self._deadline - time.monotonic())
            text = await asyncio.wait_for(self._socket.recv(), max(0, left))
            frame = json.loads(text)
            if not isinstance(frame, dict) or not isinstance(frame.get("channel"), str):
                raise ValueError("a frame has no channel")
            self._unproved += len(text)
            if frame["channel"] == "pong":
                self._nonce, self._pinged = frame.get("nonce", ""), False
            if self._unproved >= PROVE_EVERY_CHARS and not self._pinged:
                await self.ping()
            yield frame


class _Seen:
    """Remembers received events, so that a reconnect requests only the rest and yields nothing twice."""

    MAX_FRAMES = 100_000
    MAX_BLOCKS_BEHIND = 1_000

    def __init__(self, from_block: int | None):
        self.next_block = from_block
        self._since: dict[str, int] = {}
        self._again: dict[str, int] = {}
        self._is_known = False
        self._first: int | None = None

    def complete(self, height: int) -> None:
        """Marks the blocks up to a confirmed height as complete. A restarted gateway may be behind and repeat events."""
        self._first = height if self._first is None else self._first
        if height - self._first > self.MAX_BLOCKS_BEHIND:
            self._again = {}
        self.next_block, self._is_known, self._since = height + 1, True, dict(self._again)

    def take(self, frame: dict) -> bool:
        text = json.dumps(frame, sort_keys=True)
        if self._again.get(text):
            self._again[text] -= 1
            return False
        if self._is_known:
            self._since[text] = self._since.get(text, 0) + 1
            if len(self._since) > self.MAX_FRAMES:
                self.forget()
        return True

    def lost(self) -> bool:
        """Handles the end of a socket. Returns True if the next socket cannot continue from the received data."""
        self._first = None
        if not self._is_known:
            return True
        self._again = dict(self._since)
        return False

    def forget(self) -> None:
        self.next_block, self._is_known, self._since, self._again = None, False, {}, {}


def _backoff(attempt: int, first_s: float, cap_s: float) -> float:
    """Returns an exponential delay of at most `cap_s`. Half of it is random."""
    longest = min(cap_s, first_s * 2 ** min(attempt, 30))
    return longest * (0.5 + 0.5 * random.random())
