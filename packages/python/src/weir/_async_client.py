"""The asynchronous client: sends what the modules without I/O decide."""

from __future__ import annotations

import asyncio
import re
import time
import urllib.parse
import weakref
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import httpx
import websockets.exceptions

from ._answer import Answer, Retries, read_answer
from ._async_streams import AsyncHistory, AsyncReplay, AsyncStream, AsyncSubscription, LinkHolder
from ._book import Book
from ._books import MAX_FETCHES, BookFollower, Fetch
from ._errors import FINAL, WeirError, backoff_s
from ._history import Pager
from ._shapes import Frame
from ._socket import open_link, status_of
from ._subscription import Gap, Live, Notify, ReplayState, SubscriptionState, span_of

# A socket that lasted this long was no failed attempt.
STEADY_S = 5.0
CONNECT_S = 5.0
# A busy gateway serves abandoned attempts first, so later ones get up to eight times as long.
MAX_DOUBLINGS = 3
ACK_S = 15.0
# `l2BookDiff` may wait two minutes in the queue for full books.
TURN_S = 135.0
# Changes of books that wait for the caller's loop. When there are more, the socket is not read.
_MAX_STEPS = 1_024

_S = TypeVar("_S", bound=AsyncStream[Any])
_Steps = asyncio.Queue[Callable[[], list[Book]]]
_SOCKET_ERRORS = (OSError, asyncio.TimeoutError, ValueError, websockets.exceptions.WebSocketException)


class AsyncClient:
    """Client for one gateway and one key. Each stream has its own socket.

    Use it in `async with`, or call `aclose`.

    Args:
        url: Gateway URL, such as `https://weir.example.com`.
        key: API key or stream token.
        timeout_s: Time limit of one attempt of a request.
        retries: Further attempts after a temporary failure.
        max_retry_wait_s: A longer `Retry-After` becomes an error.
        on_notice: Called with the text and the code (or None) of each notice of the gateway. The code `late` means that
            a loop reads more slowly than data arrives.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = 10,
        retries: int = 3,
        max_retry_wait_s: float = 30,
        on_notice: Notify | None = None,
    ) -> None:
        if not _is_gateway_url(url):
            raise ValueError(f"url: {url!r} must be a URL such as https://weir.example.com, without query or fragment")
        if not key:
            raise ValueError("key: an API key is required")
        self._url = url.rstrip("/")
        self._address = f"{self._url.replace('http', 'ws', 1)}/ws?key={urllib.parse.quote(key, safe='')}"
        self._retries = Retries(retries, max_retry_wait_s)
        self._notify: Notify = on_notice or (lambda text, code: None)
        self._http = httpx.AsyncClient(timeout=timeout_s, headers={"authorization": f"Bearer {key}"}, trust_env=False)
        self._streams: weakref.WeakSet[AsyncStream[Any]] = weakref.WeakSet()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends all streams and connections."""
        await asyncio.gather(*(stream.aclose() for stream in list(self._streams)))
        await self._http.aclose()

    async def info(self, type: str, **fields: Any) -> Answer:
        """Sends `POST /info`, and retries temporary failures.

        Raises:
            WeirError: on a gateway error, a timeout or a network failure.
        """
        attempt = 0
        while True:
            try:
                return await self._post({"type": type, **fields})
            except WeirError as error:
                wait_s = self._retries.wait_s(error, attempt)
            attempt += 1
            await asyncio.sleep(wait_s)

    def history(self, type: str, **fields: Any) -> AsyncHistory:
        """Reads a list, such as `userFillsByTime`, to its end. Pages are never empty, and each row comes once.

        Pass the `next_cursor` of the last page that you stored as `cursor` to resume there.

        Raises:
            ValueError: if the type has no pages.
            WeirError: while iterating, as `info`, and `page_too_dense` if the gateway has no cursors and a page is full
                of rows with the same time.
        """
        return self._opened(AsyncHistory(self._pages(Pager(type, fields))))

    def stream(self, type: str, *, from_block: int | None = None, **fields: Any) -> AsyncSubscription:
        """Yields frames of a channel across reconnects, and a `Gap` where events may be missing.

        After a reconnect, channels of events resume without duplicates. The gateway stores five minutes of events.

        Args:
            from_block: First block to receive, for example the `height` of an earlier stream plus one.

        Raises:
            WeirError: while iterating, if the gateway rejects the subscription or the key.
        """
        state = SubscriptionState({"type": type, **fields}, self._notify, from_block=from_block)
        return self._opened(AsyncSubscription(self._follow(state), state))

    def books(self, *coins: str) -> AsyncStream[Book]:
        """Yields a coin's book after each change, and when it gets out of step (see `step` and `why`).

        Each coin has one object, which changes in place.
        """
        if not coins:
            raise ValueError("books: name at least one coin")
        return self._opened(AsyncStream(self._books(BookFollower(coins))))

    def replay(
        self,
        type: str,
        *,
        from_time: int | datetime | None = None,
        to_time: int | datetime | None = None,
        from_block: int | None = None,
        to_block: int | None = None,
        speed: float | str | None = None,
        **fields: Any,
    ) -> AsyncReplay:
        """Replays archived blocks in the format of live frames, and yields a `Gap` where blocks are missing.

        Without an end, live data follows the archived data.

        Args:
            from_time: Start in Unix milliseconds or as a datetime. Set it or `from_block`.
            speed: Speed factor from 1 to 300, or `max`. The default is 1.
        """
        state = ReplayState({"type": type, **fields}, span_of(from_time, to_time, from_block, to_block, speed))
        holder = LinkHolder()
        return self._opened(AsyncReplay(self._replayed(state, holder), state, holder))

    def _opened(self, stream: _S) -> _S:
        self._streams.add(stream)
        return stream

    async def _post(self, request: Frame) -> Answer:
        if self._http.is_closed:
            raise WeirError("closed", "the client is closed")
        try:
            reply = await self._http.post(f"{self._url}/info", json=request)
        except httpx.TimeoutException as error:
            raise WeirError("timeout", str(error) or "no response in time") from error
        except httpx.HTTPError as error:
            raise WeirError("network", str(error) or type(error).__name__) from error
        return read_answer(reply.status_code, reply.headers, reply.content)

    async def _pages(self, pager: Pager) -> AsyncGenerator[Answer, None]:
        while pager.request is not None:
            try:
                answer = await self.info(pager.type, **pager.request)
            except WeirError as error:
                pager.fail(error)
                continue
            page = pager.take(answer)
            if page is not None:
                yield page

    async def _replayed(self, state: ReplayState, holder: LinkHolder) -> AsyncGenerator[Frame | Gap, None]:
        try:
            async with open_link(self._address, CONNECT_S) as link:
                await link.send(state.message())
                holder.link = link
                async for frame, _ in link.frames():
                    for item in state.take(frame):
                        yield item
                    if state.is_finished:
                        return
        except _SOCKET_ERRORS as error:
            raise WeirError("network", await self._why_ended(error)) from error
        finally:
            holder.link = None

    async def _follow(self, state: SubscriptionState, with_live: bool = False) -> AsyncGenerator[Any, None]:
        """Yields the events of a body over successive sockets."""
        attempt = 0
        ack_s = TURN_S if state.body["type"] == "l2BookDiff" else ACK_S
        while True:
            opened_at = float("inf")
            try:
                async with open_link(self._address, CONNECT_S * 2 ** min(attempt, MAX_DOUBLINGS)) as link:
                    opened_at = time.monotonic()
                    await link.send(state.message())
                    async for frame, text in link.frames(ack_s):
                        for event in state.take(frame, text):
                            if isinstance(event, Live):
                                link.acknowledge()
                            if with_live or not isinstance(event, Live):
                                yield event
            except _SOCKET_ERRORS as error:
                why = await self._why_ended(error)
            for event in state.end_socket(why):
                yield event
            attempt = 0 if time.monotonic() - opened_at > STEADY_S else attempt + 1
            await asyncio.sleep(backoff_s(attempt, 0.2, 15))

    async def _why_ended(self, error: Exception) -> str:
        """Returns why a socket ended. Raises an error if another socket would end in the same way."""
        if isinstance(error, websockets.exceptions.InvalidHandshake):
            status = status_of(error)
            if status in FINAL:
                raise await self._refusal(status) from error
            return f"HTTP {status}" if status else str(error)
        if isinstance(error, websockets.exceptions.ConnectionClosed):
            code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (1006, "the network")
            why = f"close {code}: {reason}"
            if code in FINAL:
                raise WeirError(FINAL[code], why, code) from error
            return why
        return str(error) or "no response in time"

    async def _refusal(self, status: int) -> WeirError:
        """Returns why an upgrade was rejected. The same key gets the same error over HTTP, free of charge."""
        try:
            await self._post({"type": "l2BookDiffSnapshot"})
        except WeirError as error:
            if error.status == status:
                return error
        return WeirError(FINAL[status], f"HTTP {status}", status)

    async def _books(self, follower: BookFollower) -> AsyncGenerator[Book, None]:
        steps: _Steps = asyncio.Queue(_MAX_STEPS)
        limit = asyncio.Semaphore(MAX_FETCHES)
        tasks = {asyncio.create_task(self._read_books(follower, steps))}
        try:
            while True:
                step = await steps.get()
                for book in step():
                    yield book
                for fetch in follower.take_fetches():
                    task = asyncio.create_task(self._fetch_book(follower, fetch, limit, steps))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read_books(self, follower: BookFollower, steps: _Steps) -> None:
        state = SubscriptionState(follower.body, self._notify, resumes=False)
        events = self._follow(state, with_live=True)
        try:
            async for event in events:
                await steps.put(partial(follower.take, event))
        except Exception as error:
            await steps.put(partial(_throw, error))
        finally:
            await events.aclose()

    async def _fetch_book(
        self, follower: BookFollower, fetch: Fetch, limit: asyncio.Semaphore, steps: _Steps
    ) -> None:
        await asyncio.sleep(fetch.wait_s)
        async with limit:
            if not follower.is_current(fetch):
                return
            # In the order of the frames, so that the book knows which of them arrived before the request.
            await steps.put(partial(follower.start_fetch, fetch))
            try:
                answer = await self._post({"type": "l2BookDiffSnapshot", "coin": fetch.coin})
            except WeirError as error:
                await steps.put(partial(follower.fail, fetch, error))
            else:
                await steps.put(partial(follower.seed, fetch, answer.data))


def _is_gateway_url(url: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and has_port
    return is_complete and re.search(r"[?#\s]", url) is None


def _throw(error: Exception) -> list[Book]:
    raise error
