"""What the asynchronous client returns for `async for`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any, Dict, Generic, TypeVar, Union

from ._answer import Answer
from ._dataframe import to_df
from ._socket import Link
from ._shapes import Frame
from ._subscription import Gap, ReplayState, SubscriptionState, start_of

T = TypeVar("T")
Item = Union[Dict[str, Any], Gap]


class AsyncStream(Generic[T]):
    """An asynchronous iterator. Leave it with `aclose`, or use it in `async with`.

    Cancelling the task that waits for the next item ends the stream.
    """

    def __init__(self, items: AsyncGenerator[T, None]) -> None:
        self._items = items
        self._step: asyncio.Future[T] | None = None
        self._is_closed = False

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> T:
        if self._is_closed:
            raise StopAsyncIteration
        # A task of its own, so that `aclose` can end the wait of another task.
        self._step = asyncio.ensure_future(self._items.__anext__())
        try:
            return await self._step
        except asyncio.CancelledError:
            if self._is_closed:
                raise StopAsyncIteration from None
            raise
        finally:
            self._step = None

    async def aclose(self) -> None:
        """Ends the iteration, and unsubscribes."""
        self._is_closed = True
        if self._step is not None:
            self._step.cancel()
            await asyncio.wait([self._step])
        await self._items.aclose()

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


S = TypeVar("S", bound=AsyncStream[Any])


class AsyncHistory(AsyncStream[Answer]):
    """Pages of a list."""

    async def to_df(self, *, backend: str | None = None, floats: bool = False) -> Any:
        """Reads the remaining pages and returns their rows as a data frame. See `weir.to_df`."""
        rows = [row async for page in self for row in page.data]
        return to_df(rows, backend=backend, floats=floats)


class AsyncSubscription(AsyncStream[Item]):
    """Frames of a channel, and a `Gap` where events may be missing."""

    def __init__(self, items: AsyncGenerator[Item, None], state: SubscriptionState) -> None:
        super().__init__(items)
        self._state = state

    @property
    def height(self) -> int | None:
        """All events up to this block were yielded; None while unknown. Store it to resume with `from_block`."""
        return self._state.height


class LinkHolder:
    """Holds the socket of a replay while it is open."""

    link: Link | None = None


class AsyncReplay(AsyncStream[Item]):
    """Frames of archived data, and a `Gap` where blocks are missing."""

    def __init__(self, items: AsyncGenerator[Item, None], state: ReplayState, holder: LinkHolder) -> None:
        super().__init__(items)
        self._state = state
        self._holder = holder

    @property
    def is_live(self) -> bool:
        """Whether the replay has reached the end of the archive and continues live."""
        return self._state.is_live

    async def pause(self) -> None:
        await self._control("pause")

    async def resume(self) -> None:
        await self._control("resume")

    async def seek(self, *, from_time: int | datetime | None = None, from_block: int | None = None) -> None:
        """Continues at another time or block."""
        await self._control("seek", start_of(from_time, from_block))

    async def _control(self, action: str, to: Frame | None = None) -> None:
        if self._holder.link is None:
            raise RuntimeError(f"{action}: the replay is not open. Read its first frame before you control it")
        await self._holder.link.send(self._state.control(action, to or {}))
