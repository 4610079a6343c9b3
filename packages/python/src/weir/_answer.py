"""Reads responses to info requests, without I/O."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._dataframe import to_df
from ._errors import BY_STATUS, TRANSIENT, WeirError, backoff_s
from ._shapes import read_json

# A longer `Retry-After` is shortened to a day.
_RETRY_AFTER_MAX_S = 86_400.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """Response of an info request.

    Attributes:
        cost: Credits that the request cost, as a decimal string; None if the gateway does not report it.
        remaining: Credits that remain, as a decimal string.
        height: Block that the response shows; None if it shows no particular block.
        age_s: Age in seconds; None if the response is current.
        next_cursor: Cursor of the next page of a list; None if no page follows.
    """

    data: Any
    cost: str | None = None
    remaining: str | None = None
    height: int | None = None
    age_s: int | None = None
    request_id: str | None = None
    next_cursor: str | None = None

    def to_df(self, *, backend: str | None = None, floats: bool = False) -> Any:
        """Returns the rows as a data frame. See `weir.to_df`."""
        return to_df(self.data, backend=backend, floats=floats)


def read_answer(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """Interprets an HTTP response.

    Raises:
        WeirError: if the response is an error or has no JSON.
    """
    request_id = headers.get("x-request-id")

    def number(name: str) -> int | None:
        text = headers.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None

    after = number("retry-after")
    retry_after = None if after is None else min(float(after), _RETRY_AFTER_MAX_S)
    try:
        data = read_json(body)
    except ValueError:
        code = BY_STATUS.get(status, "unreadable")
        raise WeirError(code, f"HTTP {status} without JSON", status, retry_after, request_id) from None
    if status != 200:
        known: dict[str, Any] = data if isinstance(data, dict) else {}
        code = str(known.get("code") or BY_STATUS.get(status, "unreadable"))
        raise WeirError(code, str(known.get("msg") or f"HTTP {status}"), status, retry_after, request_id)

    return Answer(
        data,
        cost=headers.get("x-credits-cost"),
        remaining=headers.get("x-credits-remaining"),
        height=number("x-block-height"),
        age_s=number("age"),
        request_id=request_id,
        next_cursor=headers.get("x-next-cursor"),
    )


@dataclasses.dataclass(frozen=True)
class Retries:
    """Decides whether and when a failed request is sent again. A longer wait than `max_wait_s` is not worth it."""

    count: int
    max_wait_s: float

    def wait_s(self, error: WeirError, attempt: int) -> float:
        """Returns the delay before the next attempt. Raises the error if there is none."""
        wait_s = max(error.retry_after or 0, backoff_s(attempt, 0.25, 10))
        if error.code not in TRANSIENT or attempt >= self.count or wait_s > self.max_wait_s:
            raise error
        return wait_s
