"""One subscription across sockets, and one replay, without I/O."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional, Union

from ._errors import TRANSIENT, WeirError
from ._shapes import Frame

Notify = Callable[[str, Optional[str]], None]

_BLOCKS = re.compile(r"\bblocks? (\d{1,15})(?: to (\d{1,15}))?", re.IGNORECASE)


@dataclass(frozen=True)
class Gap:
    """Events may be missing from block `start` to block `end`, both inclusive. None: unknown or still open."""

    reason: str
    start: Optional[int] = None
    end: Optional[int] = None


class Live:
    """The gateway acknowledged the subscription. After a gap, the data does not continue the earlier data."""


Event = Union[Frame, Gap, Live]


class SeenFrames:
    """Remembers received events, so that a reconnect requests only the rest and yields nothing twice."""

    MAX_FRAMES = 100_000
    # A gateway that restarted may lack its last few seconds of blocks.
    MAX_BLOCKS_BEHIND = 1_000

    def __init__(self, from_block: int | None) -> None:
        self.next_block = from_block
        self.is_known = False
        self._since: dict[str, int] = {}
        self._again: dict[str, int] = {}
        self._first: int | None = None

    def complete(self, height: int) -> None:
        """Marks the blocks up to a confirmed height as complete. A restarted gateway may be behind and repeat some."""
        self._first = height if self._first is None else self._first
        if height - self._first > self.MAX_BLOCKS_BEHIND:
            self._again = {}
        self.next_block = height + 1
        self.is_known = True
        self._since = dict(self._again)

    def is_new(self, text: str) -> bool:
        """Records a frame. Returns False if it is a repetition."""
        if self._again.get(text):
            self._again[text] -= 1
            return False
        if self.is_known:
            self._since[text] = self._since.get(text, 0) + 1
            if len(self._since) > self.MAX_FRAMES:
                self.forget()
        return True

    def end_socket(self) -> bool:
        """Handles the end of a socket. Returns whether the next socket can continue from the received data."""
        self._first = None
        self._again = dict(self._since)
        return self.is_known

    def forget(self) -> None:
        self.next_block = None
        self.is_known = False
        self._since = {}
        self._again = {}


class SubscriptionState:
    """Interprets the frames of one body. Books do not resume, because their snapshots replace what was missed."""

    def __init__(self, body: Frame, notify: Notify, *, resumes: bool = True, from_block: int | None = None) -> None:
        self.body = body
        self._notify = notify
        self._seen = SeenFrames(from_block) if resumes else None
        self._is_live = False
        self._was_live = False

    @property
    def height(self) -> int | None:
        seen = self._seen
        return seen.next_block - 1 if seen is not None and seen.is_known and seen.next_block is not None else None

    def message(self) -> Frame:
        """Returns the message that subscribes on a new socket."""
        message: Frame = {"method": "subscribe", "subscription": self.body}
        if self._seen is not None and self._seen.next_block is not None:
            message["fromBlock"] = self._seen.next_block
        return message

    def take(self, frame: Frame, text: str) -> list[Event]:
        """Handles a frame.

        Raises:
            WeirError: if the gateway rejects the body.
            ConnectionError: if the body may be accepted on another socket.
        """
        channel = frame["channel"]
        if channel == "subscriptionResponse":
            self._is_live = self._was_live = True
            return [Live()]
        if channel == "pong":
            # The height covers only acknowledged bodies.
            if self._is_live and self._seen is not None and frame.get("block_height") is not None:
                self._seen.complete(frame["block_height"])
            return []
        if channel == "error":
            return self._take_error(frame["data"], frame.get("code"))
        if channel == "notification":
            self._notify(frame["data"]["notification"], frame.get("code"))
            if self.body["type"] != "notification":
                return []
        is_new = self._is_live and (self._seen is None or self._seen.is_new(text))
        return [frame] if is_new else []

    def end_socket(self, why: str) -> list[Event]:
        """Handles the end of a socket."""
        self._is_live = False
        if not self._was_live or (self._seen is not None and self._seen.end_socket()):
            return []
        self._was_live = False
        return [Gap(why)]

    def _take_error(self, text: str, code: str | None) -> list[Event]:
        if code in ("gap", "replay_unavailable"):
            if self._seen is not None:
                self._seen.forget()
            found = _BLOCKS.search(text)
            gap = Gap(text, *(int(block) if block else None for block in (found.groups() if found else ())))
            return [gap, Live()] if self._is_live else [gap]
        if self._is_live:
            self._notify(text, code)
            return []
        if code in TRANSIENT:
            raise ConnectionError(text)
        raise WeirError(code or "invalid_request", text)


class ReplayState:
    """Interprets the frames of a replay."""

    def __init__(self, body: Frame, span: Frame) -> None:
        self._body = body
        self._span = span
        self.is_live = False
        self.is_finished = False

    def message(self) -> Frame:
        return {"method": "subscribe", "subscription": self._body, "replay": self._span}

    def control(self, action: str, to: Frame) -> Frame:
        return {"method": "replay", "action": action, "subscription": self._body, **to}

    def take(self, frame: Frame) -> list[Frame | Gap]:
        channel, data = frame["channel"], frame.get("data")
        if channel == "error":
            raise WeirError(frame.get("code", "invalid_request"), str(data))
        if channel == "replay" and isinstance(data, dict):
            return self._take_event(data)
        return [] if channel in ("pong", "subscriptionResponse", "notification") else [frame]

    def _take_event(self, data: Frame) -> list[Frame | Gap]:
        event, start, end = data["event"], data.get("from"), data.get("to")
        self.is_finished = event == "ended"
        self.is_live = self.is_live or event == "live"
        if event == "gap":
            return [Gap("not archived", start, end)]
        return [Gap("no books are archived from here on", start)] if event == "unknown" else []


def start_of(from_time: int | datetime.datetime | None, from_block: int | None) -> Frame:
    """Returns the fields of a replay's start, which must be exactly one of the two."""
    if (from_time is None) == (from_block is None):
        raise ValueError("replay: set exactly one of from_time and from_block")
    return _fields(fromTime=_millis("from_time", from_time), fromBlock=from_block)


def span_of(
    from_time: int | datetime.datetime | None,
    to_time: int | datetime.datetime | None,
    from_block: int | None,
    to_block: int | None,
    speed: float | str | None,
) -> Frame:
    """Returns the fields of a replay's range."""
    if to_time is not None and to_block is not None:
        raise ValueError("replay: set only one of to_time and to_block")
    end = _fields(toTime=_millis("to_time", to_time), toBlock=to_block, speed=speed)
    return {**start_of(from_time, from_block), **end}


def _fields(**fields: Any) -> Frame:
    return {name: value for name, value in fields.items() if value is not None}


def _millis(name: str, time: int | datetime.datetime | None) -> int | None:
    if not isinstance(time, datetime.datetime):
        return time
    if time.tzinfo is None:
        raise ValueError(f"{name}: the datetime has no time zone. Use datetime.now(timezone.utc) or add tzinfo")
    return int(time.timestamp() * 1000)
