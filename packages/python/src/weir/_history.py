"""Reads all pages of a list, without I/O.

Most lists are read by the gateway's cursor. A gateway without an archive has none, and some types have none: their next
page starts at the time of the last row. Invariant: no row is repeated or missed.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Optional

from ._answer import Answer
from ._errors import WeirError

Fields = Dict[str, Any]

# As long as more rows follow, a page of the exchange has at least this many rows.
_FULL_PAGE = 500


@dataclasses.dataclass(frozen=True)
class _Paging:
    # Whether the gateway returns the cursor of the next page.
    by_row: bool = False
    # Path of the time in a row.
    time: tuple[str, ...] = ("time",)
    # Whether each time has only one row, and the last row may still change.
    is_running: bool = False
    is_newest_first: bool = False
    # The field that contains the other fields of the request.
    within: Optional[str] = None
    # Fields of the last row that form the next cursor.
    cursor: tuple[str, ...] = ()


_BY_ROW = _Paging(by_row=True)
_PAGING = {
    "builderFills": _BY_ROW,
    "builderFillsByTime": _BY_ROW,
    "candleSnapshot": _Paging(time=("t",), is_running=True, within="req"),
    "fundingHistory": _Paging(),
    "userCompletedTradesByTime": _Paging(time=(), cursor=("close_time", "tx_index")),
    "userFillsByTime": _BY_ROW,
    "userFunding": _BY_ROW,
    "userNonFundingLedgerUpdates": _BY_ROW,
    "userTwapSliceFillsByTime": _Paging(by_row=True, time=("fill", "time"), is_newest_first=True),
}


class Pager:
    """Says which request to send next, until `request` is None. Pass each result to `take` or `fail`."""

    def __init__(self, type: str, fields: Fields) -> None:
        if type not in _PAGING:
            raise ValueError(f"history: {type} has no pages. Use info. Types with pages: {', '.join(_PAGING)}")
        self.type = type
        self._fields = fields
        self._paging = _PAGING[type]
        self._by_row = self._paging.by_row
        self._is_first = True
        # JSON strings of those rows on the previous page that have its last time.
        self._seen: frozenset[str] = frozenset()
        self._last_time = float("-inf")
        self.request: Fields | None = {"cursor": "", **fields} if self._by_row else fields

    def fail(self, error: WeirError) -> None:
        """Continues by time if the gateway has no cursors for this list. Raises any other error."""
        has_no_cursors = self._by_row and error.message.startswith("cursor: needs ")
        if not has_no_cursors or not self._is_first or "cursor" in self._fields:
            raise error
        self._by_row = False
        self.request = self._fields

    def take(self, answer: Answer) -> Answer | None:
        """Returns the page with only its new rows; None if it has none."""
        self._is_first = False
        if not self._by_row:
            return self._take_by_time(answer)
        cursor = answer.next_cursor
        self.request = None if cursor is None else {**self._fields, "cursor": cursor}
        return answer if answer.data else None

    def _take_by_time(self, answer: Answer) -> Answer | None:
        rows = answer.data if isinstance(answer.data, list) else []
        new = [row for row in rows if self._is_new(row)]
        self.request = None
        if not new:
            self._check_density(rows)
            return None
        self._continue_after(rows)
        return dataclasses.replace(answer, data=new)

    def _is_new(self, row: Any) -> bool:
        if self._paging.is_running:
            return bool(self._time_of(row) > self._last_time)
        return _identity(row) not in self._seen

    def _check_density(self, rows: list[Any]) -> None:
        if self._paging.time and len(rows) >= _FULL_PAGE and self._time_of(rows[0]) == self._time_of(rows[-1]):
            raise WeirError(
                "page_too_dense", f"{self.type} has more rows at {self._time_of(rows[-1])} than fit on a page"
            )

    def _continue_after(self, rows: list[Any]) -> None:
        last, within = rows[-1], self._paging.within
        if self._paging.cursor:
            cursor = "_".join(str(last[name]) for name in self._paging.cursor)
            self.request = {**self._fields, "cursor": cursor}
            return
        self._last_time = self._time_of(last)
        self._seen = frozenset(_identity(row) for row in rows if self._time_of(row) == self._last_time)
        is_newest_first = self._paging.is_newest_first or self._fields.get("reversed")
        more: Fields = {"endTime" if is_newest_first else "startTime": self._last_time}
        if within is not None:
            more = {within: {**self._fields[within], **more}}
        self.request = {**self._fields, **more}

    def _time_of(self, row: Any) -> Any:
        value = row
        for name in self._paging.time:
            value = value.get(name) if isinstance(value, dict) else None
        if type(value) is not int:
            raise WeirError("unreadable", f"{self.type}: a row has no time")
        return value


def _identity(row: Any) -> str:
    return json.dumps(row, sort_keys=True)
