"""The book of one coin, as a state machine without I/O.

It buffers batches, applies the snapshot, and drops batches that the snapshot includes. It requires a constant epoch,
continuous `prev_seq` values and matching checksums. Invariants: a book in step equals the server's book at (epoch,
seq); a book that may be wrong has no levels and is fetched again.
"""

from __future__ import annotations

import bisect
import zlib
from collections import deque
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Deque, NamedTuple, Optional, TypedDict

# More than a minute of the busiest coin. Beyond it, the oldest batches are dropped, and `prev_seq` detects it.
_BUFFER_MAX = 1_024
# Levels on each side that a checksum covers (WS-147).
_CHECKSUM_DEPTH = 10


class Level(TypedDict):
    """One price level. Price and size are decimal strings; `n` is the number of orders."""

    px: str
    sz: str
    n: int


class Batch(NamedTuple):
    """What a block changed in one coin. `change` is None if it did not change the coin."""

    epoch: str
    height: int
    time: int
    change: Optional[dict[str, Any]]


class _Side:
    """Levels of one side, best first."""

    def __init__(self, levels: Iterable[Level], is_bids: bool) -> None:
        self._is_bids = is_bids
        self._levels: dict[Decimal, Level] = {}
        for level in levels:
            self._levels[self._rank(level)] = level
        self._ranks = sorted(self._levels)

    def put(self, level: Level) -> None:
        rank = self._rank(level)
        is_known = rank in self._levels
        if level["n"] == 0 or not Decimal(level["sz"]):
            if is_known:
                del self._levels[rank]
                del self._ranks[bisect.bisect_left(self._ranks, rank)]
            return
        if not is_known:
            bisect.insort(self._ranks, rank)
        self._levels[rank] = level

    def best(self, depth: int | None) -> list[Level]:
        return [self._levels[rank] for rank in self._ranks[:depth]]

    def _rank(self, level: Level) -> Decimal:
        price = Decimal(level["px"])
        # Unlike a minus sign, this keeps all digits.
        return price.copy_negate() if self._is_bids else price


class Book:
    """Book of one coin. It has levels only while all changes arrived in order and every checksum matched.

    Attributes:
        step: `in step`, `syncing` or `out of step`.
        why: Reason why the book is not in step; empty if it is in step.
        height: Block up to which the book is current.
        time: Time of that block, in Unix milliseconds.
        seq: Height of the last block that changed the coin, within `epoch`.
        checks: Number of checksums that matched.
    """

    def __init__(self, coin: str) -> None:
        self.coin = coin
        self.epoch = ""
        self.height = -1
        self.seq = -1
        self.time = 0
        self.checks = 0
        self.step = "syncing"
        self.why = "not fetched yet"
        self._sides: tuple[_Side, _Side] | None = None
        # Batches of the stream's latest epoch. A replaced epoch never returns.
        self._buffer: Deque[Batch] = deque()
        # Number of buffered batches that arrived before the snapshot was requested.
        self._before_fetch = 0

    def levels(self, depth: int | None = None) -> tuple[list[Level], list[Level]]:
        """Returns bids and asks, best first. Both are empty if the book is not in step."""
        if self._sides is None:
            return [], []
        bids, asks = self._sides
        return bids.best(depth), asks.best(depth)

    def _lose(self, why: str) -> None:
        """Handles the loss of the stream, after which all earlier data is discontinuous."""
        self._forget(why)
        self._buffer.clear()

    def _start_fetch(self) -> None:
        """Records that a snapshot is requested now. The batches in the buffer arrived before this request."""
        self.step = "syncing"
        self._before_fetch = len(self._buffer)

    def _take(self, batch: Batch) -> str:
        """Handles a batch. Returns `applied`, `buffered` or `dropped`.

        Returns `refetch` if the book is out of step, and `differs` if it is because a checksum did not match.
        """
        if self._sides is None:
            return self._keep(batch)
        if batch.epoch != self.epoch:
            return self._restart(f"epoch changed to {batch.epoch}", batch, "refetch")
        if batch.change is None or batch.height <= self.height:
            return "dropped"
        if why := self._gap(batch.change):
            return self._restart(why, batch, "refetch")
        if why := self._apply(self._sides, batch, batch.change):
            return self._restart(why, batch, "differs")
        return "applied"

    def _seed(self, snapshot: dict[str, Any]) -> str:
        """Applies the requested snapshot. Returns `in step`, `refetch` or `differs`."""
        later = [
            batch
            for index, batch in enumerate(self._buffer)
            if batch.height > snapshot["height"]
            or (index >= self._before_fetch and batch.epoch != snapshot["epoch"])
        ]
        foreign = next((batch.epoch for batch in later if batch.epoch != snapshot["epoch"]), None)
        if foreign is not None:
            self._forget(f"snapshot of epoch {snapshot['epoch']}, stream of {foreign}")
            return "refetch"
        bids, asks = snapshot["levels"]
        sides = _Side(bids, True), _Side(asks, False)
        self.epoch, self.height = snapshot["epoch"], snapshot["height"]
        self.seq, self.time = snapshot["seq"], snapshot["time"]
        for batch in later:
            if batch.change is None:
                continue
            if why := self._gap(batch.change):
                self._forget(why)
                return "refetch"
            if why := self._apply(sides, batch, batch.change):
                self._forget(why)
                return "differs"
        self._buffer.clear()
        self._sides, self.step, self.why = sides, "in step", ""
        return "in step"

    def _gap(self, change: dict[str, Any]) -> str:
        return "" if change["prev_seq"] == self.seq else f"gap: prev_seq {change['prev_seq']} follows seq {self.seq}"

    def _apply(self, sides: tuple[_Side, _Side], batch: Batch, change: dict[str, Any]) -> str:
        """Applies a change. Returns why the book does not match the server's book; empty if it matches."""
        for side, levels in zip(sides, change["levels"]):
            for level in levels:
                side.put(level)
        self.seq, self.height, self.time = change["seq"], batch.height, batch.time
        if "checksum" not in change:
            return ""
        checksum = _checksum(sides)
        if checksum != change["checksum"]:
            return f"checksum {checksum} at seq {self.seq} does not match the server's {change['checksum']}"
        self.checks += 1
        return ""

    def _keep(self, batch: Batch) -> str:
        last = self._buffer[-1] if self._buffer else None
        if last is not None and last.epoch != batch.epoch:
            self._buffer.clear()
        # Of the batches without this coin, only the latest is kept, because its epoch matters.
        elif last is not None and last.change is None and batch.change is None:
            self._buffer.pop()
        self._before_fetch = min(self._before_fetch, len(self._buffer))
        self._buffer.append(batch)
        if len(self._buffer) > _BUFFER_MAX:
            self._buffer.popleft()
            self._before_fetch = max(0, self._before_fetch - 1)
        return "buffered"

    def _restart(self, why: str, batch: Batch, outcome: str) -> str:
        self._lose(why)
        self._buffer.append(batch)
        return outcome

    def _forget(self, why: str) -> None:
        self._sides, self.step, self.why = None, "out of step", why
        self._before_fetch = 0


def _checksum(sides: tuple[_Side, _Side]) -> int:
    texts = (
        ":".join(f"{level['px']}:{level['sz']}:{level['n']}" for level in side.best(_CHECKSUM_DEPTH)) for side in sides
    )
    return zlib.crc32("/".join(texts).encode())
