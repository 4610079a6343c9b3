"""The synchronous client: a thin face of the asynchronous one, which runs on an event loop in a background thread."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar

from ._answer import Answer
from ._async_client import AsyncClient
from ._async_streams import AsyncHistory, AsyncReplay, AsyncStream, AsyncSubscription, Item
from ._book import Book
from ._loop_thread import LoopThread
from ._subscription import Notify

T = TypeVar("T")
A = TypeVar("A", bound=AsyncStream[Any])


class Stream(Generic[T]):
    """An iterator. Leave it with `close`, or use it in `with`. Leaving a `for` loop over it drops and closes it."""

    def __init__(self, thread: LoopThread, items: AsyncStream[T]) -> None:
        self._thread = thread
        self._items = items

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> T:
        for item in self._thread.run(self._next()):
            return item
        raise StopIteration

    async def _next(self) -> tuple[T, ...]:
        """Returns the next item, or nothing at the end."""
        try:
            return (await self._items.__anext__(),)
        except StopAsyncIteration:
            return ()

    def close(self) -> None:
        """Ends the iteration, and unsubscribes. Does nothing if the client is closed."""
        if self._thread.is_running:
            self._thread.run(self._items.aclose())

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


S = TypeVar("S", bound=Stream[Any])


class History(Stream[Answer]):
    """Pages of a list."""

    _items: AsyncHistory

    def to_df(self, *, backend: str | None = None, floats: bool = False) -> Any:
        """Reads the remaining pages and returns their rows as a data frame. See `weir.to_df`."""
        return self._thread.run(self._items.to_df(backend=backend, floats=floats))


class Subscription(Stream[Item]):
    """Frames of a channel, and a `Gap` where events may be missing."""

    _items: AsyncSubscription

    @property
    def height(self) -> int | None:
        """All events up to this block were yielded; None while unknown. Store it to resume with `from_block`."""
        return self._items.height


class Replay(Stream[Item]):
    """Frames of archived data, and a `Gap` where blocks are missing."""

    _items: AsyncReplay

    @property
    def is_live(self) -> bool:
        """Whether the replay has reached the end of the archive and continues live."""
        return self._items.is_live

    def pause(self) -> None:
        self._thread.run(self._items.pause())

    def resume(self) -> None:
        self._thread.run(self._items.resume())

    def seek(self, *, from_time: int | datetime | None = None, from_block: int | None = None) -> None:
        """Continues at another time or block."""
        self._thread.run(self._items.seek(from_time=from_time, from_block=from_block))


class Client:
    """Client for one gateway and one key, with the calls and options of `AsyncClient`.

    Use it in `with`, or call `close`. It may be used by several threads. `on_notice` is called in a background thread.
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
        self._client = AsyncClient(
            url, key, timeout_s=timeout_s, retries=retries, max_retry_wait_s=max_retry_wait_s, on_notice=on_notice
        )
        self._thread = LoopThread()
        self._thread.on_stop(self._client.aclose)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all streams and connections, and the background thread."""
        self._thread.stop()

    def info(self, type: str, **fields: Any) -> Answer:
        """Sends `POST /info`, and retries temporary failures. See `AsyncClient.info`."""
        return self._thread.run(self._client.info(type, **fields))

    def history(self, type: str, **fields: Any) -> History:
        """Reads a list with pages to its end. See `AsyncClient.history`."""
        return History(self._thread, self._open(lambda: self._client.history(type, **fields)))

    def stream(self, type: str, *, from_block: int | None = None, **fields: Any) -> Subscription:
        """Yields frames of a channel across reconnects. See `AsyncClient.stream`."""
        return Subscription(
            self._thread, self._open(lambda: self._client.stream(type, from_block=from_block, **fields))
        )

    def books(self, *coins: str) -> Stream[Book]:
        """Yields a coin's book after each change. See `AsyncClient.books`.

        A book changes only while the loop waits for the next one.
        """
        return Stream(self._thread, self._open(lambda: self._client.books(*coins)))

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
    ) -> Replay:
        """Replays archived blocks in the format of live frames. See `AsyncClient.replay`."""
        span: dict[str, Any] = {
            "from_time": from_time,
            "to_time": to_time,
            "from_block": from_block,
            "to_block": to_block,
            "speed": speed,
        }
        return Replay(self._thread, self._open(lambda: self._client.replay(type, **span, **fields)))

    def _open(self, open_stream: Callable[[], A]) -> A:
        return self._thread.call(open_stream)
