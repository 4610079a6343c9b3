"""Keeps the books of one subscription in step, without I/O: decides which snapshots to fetch, and when."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._book import Batch, Book
from ._errors import TRANSIENT, WeirError, backoff_s
from ._shapes import Frame, is_snapshot
from ._subscription import Event, Gap, Live

# Maximum number of concurrent snapshot requests.
MAX_FETCHES = 4
# Delay before an unknown coin is requested again, because it may be listed later.
_UNKNOWN_RETRY_S = 5.0
_UNKNOWN = frozenset({"not_found", "invalid_request"})


class Fetch(NamedTuple):
    """A snapshot to request after a delay."""

    coin: str
    wait_s: float
    # Number of times that the stream was lost before. After another loss, the snapshot is useless.
    generation: int


class BookFollower:
    """Applies what the stream and the snapshot requests return. Methods return the books to report.

    After each call, start the fetches of `take_fetches`.
    """

    def __init__(self, coins: tuple[str, ...]) -> None:
        self._books = {coin: Book(coin) for coin in coins}
        # Number of attempts since the coin was last in step; absent if no snapshot is being fetched.
        self._attempts: dict[str, int] = {}
        # Consecutive mismatches of checksums. Snapshots cost credits, and the next one would rarely help.
        self._mismatches: dict[str, int] = {}
        self._fetches: list[Fetch] = []
        self._generation = 0

    @property
    def body(self) -> dict[str, Any]:
        coins = list(self._books)
        return {"type": "l2BookDiff2", "coin": coins[0] if len(coins) == 1 else coins, "checksum": True}

    def take_fetches(self) -> list[Fetch]:
        """Returns the new fetches."""
        fetches, self._fetches = self._fetches, []
        return fetches

    def take(self, event: Event) -> list[Book]:
        """An event of the stream arrived."""
        if isinstance(event, Live):
            for coin in self._books:
                self._fetch(coin)
            return []
        return self._lose(event.reason) if isinstance(event, Gap) else self._take_frame(event)

    def is_current(self, fetch: Fetch) -> bool:
        return fetch.generation == self._generation

    def start_fetch(self, fetch: Fetch) -> list[Book]:
        """The snapshot is being requested now."""
        if self.is_current(fetch):
            self._books[fetch.coin]._start_fetch()
        return []

    def seed(self, fetch: Fetch, snapshot: Any) -> list[Book]:
        """A snapshot arrived. None: the gateway has no book of the coin. An invalid one is requested again."""
        if not self.is_current(fetch):
            return []
        book = self._books[fetch.coin]
        if snapshot is None:
            return self._miss(book)
        if not is_snapshot(snapshot):
            self._retry(book.coin, 0)
            return []
        outcome = book._seed(snapshot)
        if outcome == "in step":
            del self._attempts[book.coin]
        else:
            self._retry(book.coin, self._mismatch_s(book.coin) if outcome == "differs" else 0)
        return [book]

    def fail(self, fetch: Fetch, error: WeirError) -> list[Book]:
        """A snapshot request failed. Raises the error if a retry cannot help."""
        if not self.is_current(fetch):
            return []
        if error.code in _UNKNOWN:
            return self._miss(self._books[fetch.coin])
        if error.code not in TRANSIENT:
            raise error
        self._retry(fetch.coin, error.retry_after or 0)
        return []

    def _lose(self, why: str) -> list[Book]:
        self._generation += 1
        self._attempts.clear()
        self._fetches.clear()
        for book in self._books.values():
            book._lose(why)
        return list(self._books.values())

    def _take_frame(self, frame: Frame) -> list[Book]:
        if frame["channel"] != "l2BookDiff2":
            return []
        updates = frame["data"]["Updates"]
        changes = {change["coin"]: change for change in updates["book_diffs"]}
        changed = []
        for coin, book in self._books.items():
            batch = Batch(updates["epoch"], updates["block_height"], updates["time"], changes.get(coin))
            outcome = book._take(batch)
            if outcome in ("dropped", "buffered"):
                continue
            changed.append(book)
            if outcome == "applied":
                self._mismatches.pop(coin, None)
            else:
                self._fetch(coin, self._mismatch_s(coin) if outcome == "differs" else 0)
        return changed

    def _miss(self, book: Book) -> list[Book]:
        why, before = f"the gateway has no book of {book.coin}", book.why
        book.step, book.why = "out of step", why
        self._retry(book.coin, _UNKNOWN_RETRY_S)
        return [] if why == before else [book]

    def _fetch(self, coin: str, wait_s: float = 0) -> None:
        if wait_s == 0 and coin in self._attempts:
            return
        self._attempts.setdefault(coin, 0)
        self._fetches.append(Fetch(coin, wait_s, self._generation))

    def _retry(self, coin: str, at_least_s: float) -> None:
        attempt = self._attempts[coin]
        self._attempts[coin] = attempt + 1
        self._fetch(coin, max(0.001, at_least_s, backoff_s(attempt, 0.2, 1.5)))

    def _mismatch_s(self, coin: str) -> float:
        """Returns the delay before a fetch after a mismatch."""
        count = self._mismatches.get(coin, 0)
        self._mismatches[coin] = count + 1
        return 0 if count == 0 else backoff_s(count - 1, 1, 60)
