"""The error of the client, and the codes that decide what it does next."""

from __future__ import annotations

import random

# Error codes after which the same request may succeed later.
TRANSIENT = frozenset(
    {"rate_limited", "unavailable", "upstream_failed", "upstream_timeout", "internal", "network", "timeout"}
)
# Upgrade statuses and close codes that a retry cannot fix.
FINAL = {401: "unauthorized", 402: "credits_exhausted", 403: "forbidden"}
FINAL.update({4000 + status: code for status, code in FINAL.items()})
# Codes of responses without a readable code.
BY_STATUS = {
    **FINAL,
    404: "not_found",
    429: "rate_limited",
    502: "upstream_failed",
    503: "unavailable",
    504: "upstream_timeout",
}


class WeirError(Exception):
    """Error of a request or stream. Branch on `code`; `message` is for people.

    Attributes:
        status: HTTP status or close code; None if there was none.
        retry_after: Minimum time before a retry, in seconds; None if the gateway sent none.
        request_id: Id to quote to the operator; None if there was no response.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id


def backoff_s(attempt: int, first_s: float, cap_s: float) -> float:
    """Returns an exponential delay of at most `cap_s`. Half of it is random."""
    longest: float = min(cap_s, first_s * 2 ** min(attempt, 30))
    return longest * (0.5 + 0.5 * random.random())
