"""Checks the parts of frames and snapshots that this client reads.

Books are checked down to each level, because a wrong book is worse than none. Other fields, values and channels are
accepted, because a newer gateway must not break an older client.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Dict

Frame = Dict[str, Any]
_Check = Callable[[Any], bool]

_DECIMAL = re.compile(r"\d{1,60}(\.\d{1,60})?")


def read_frame(text: str | bytes) -> Frame:
    """Parses a frame. Raises ValueError if it has no channel, or if a part that this client reads is invalid."""
    frame = read_json(text)
    if not isinstance(frame, dict) or not isinstance(frame.get("channel"), str):
        raise ValueError("a frame has no channel")
    check = _FRAMES.get(frame["channel"])
    if check is not None and not check(frame):
        raise ValueError(f"a frame of {frame['channel']} is invalid")
    return frame


def read_json(text: str | bytes) -> Any:
    """Parses JSON. Raises ValueError if it is invalid, or too deep for Python."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def is_snapshot(value: Any) -> bool:
    return _SNAPSHOT(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _integer(value: Any) -> bool:
    return type(value) is int


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _decimal(value: Any) -> bool:
    return isinstance(value, str) and _DECIMAL.fullmatch(value) is not None


def _optional(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


def _object(**fields: _Check) -> _Check:
    return lambda value: isinstance(value, dict) and all(check(value.get(name)) for name, check in fields.items())


def _list(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _levels(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_SIDE, value))


_SIDE = _list(_object(px=_decimal, sz=_decimal, n=_whole))
_SNAPSHOT = _object(coin=_text, epoch=_text, height=_integer, time=_integer, seq=_integer, levels=_levels)
_CHANGE = _object(coin=_text, seq=_whole, prev_seq=_integer, checksum=_optional(_whole), levels=_levels)
_UPDATES = _object(epoch=_text, block_height=_whole, time=_whole, book_diffs=_list(_CHANGE))
_FRAMES: dict[str, _Check] = {
    "pong": _object(nonce=_optional(_text), block_height=_optional(_whole)),
    "error": _object(data=_text, code=_optional(_text)),
    "notification": _object(data=_object(notification=_text), code=_optional(_text)),
    "replay": _object(data=_object(event=_text, **{"from": _optional(_whole), "to": _optional(_whole)})),
    "l2BookDiff2": _object(data=_object(Updates=_UPDATES)),
}
