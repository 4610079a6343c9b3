"""An event loop in a thread of its own, on which the synchronous client runs the asynchronous one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from ._errors import WeirError

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for other threads. The thread ends with `stop`, or when this object is garbage."""

    def __init__(self) -> None:
        loop = asyncio.new_event_loop()
        self._loop = loop
        self._thread = threading.Thread(target=_serve, args=(loop,), name="weir", daemon=True)
        self._thread.start()
        self._on_stop: list[Callable[[], Awaitable[None]]] = []
        # It must not refer to this object. Python also calls it at exit.
        self._finish = weakref.finalize(self, _stop, loop, self._thread, self._on_stop)

    @property
    def is_running(self) -> bool:
        return self._finish.alive

    def on_stop(self, close: Callable[[], Awaitable[None]]) -> None:
        """Registers what to close on the loop before it stops."""
        self._on_stop.append(close)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Waits for the result of a coroutine. If the wait is interrupted, for example by Ctrl-C, it is cancelled."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("on_notice runs in the client's own thread, so it cannot wait for the client")
        if not self.is_running:
            coroutine.close()
            raise WeirError("closed", "the client is closed")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise WeirError("closed", "the client was closed") from None
        finally:
            future.cancel()

    def call(self, function: Callable[[], T]) -> T:
        """Calls a function in the thread of the loop."""

        async def coroutine() -> T:
            return function()

        return self.run(coroutine())

    def stop(self) -> None:
        self._finish()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _stop(
    loop: asyncio.AbstractEventLoop, thread: threading.Thread, closing: list[Callable[[], Awaitable[None]]]
) -> None:
    async def finish() -> None:
        try:
            for close in closing:
                await close()
        finally:
            loop.stop()

    asyncio.run_coroutine_threadsafe(finish(), loop)
    # Garbage may be collected in the thread itself, which cannot wait for its own end.
    if threading.current_thread() is not thread:
        thread.join()
