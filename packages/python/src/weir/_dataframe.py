"""Turns rows into a data frame of pandas or polars, which are optional.

Prices and sizes become `Decimal`, so that nothing is rounded and sums are sums. Times become UTC timestamps.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

_BACKENDS = ("pandas", "polars")
_DECIMAL = re.compile(r"-?\d{1,38}(\.\d{1,18})?")
# Unix milliseconds.
_TIMES = frozenset({"time", "t", "T", "timestamp", "statusTimestamp", "open_time", "close_time"})
# Texts that could consist of digits, but are names.
_NAMES = frozenset({"coin", "s", "token", "feeToken", "name", "user", "dex", "sourceDex", "destinationDex"})
_INT64 = 2**63


class _Column(NamedTuple):
    name: str
    kind: str
    values: list[Any]


def to_df(rows: Iterable[Any], *, backend: str | None = None, floats: bool = False) -> Any:
    """Returns rows of a list, such as fills, candles or trades, as a data frame.

    Fields of nested objects become columns such as `delta.usdc`. A pair `[user, fill]` becomes one row with `user`.

    Args:
        backend: `pandas` or `polars`. By default, pandas, or polars if pandas is not installed.
        floats: Whether decimals become 64-bit floats. By default, they stay exact as `decimal.Decimal`.

    Raises:
        ImportError: if the backend is not installed.
        TypeError: if `rows` is not a list of objects.
    """
    columns = _columns(rows, floats)
    name = _choose(backend)
    return _pandas(columns) if name == "pandas" else _polars(columns)


def _choose(backend: str | None) -> str:
    if backend is not None and backend not in _BACKENDS:
        raise ValueError(f"backend: {backend!r} is not supported. Use 'pandas' or 'polars'")
    for name in _BACKENDS if backend is None else (backend,):
        if importlib.util.find_spec(name) is not None:
            return name
    extra = backend or "pandas"
    raise ImportError(f"to_df needs {extra}, which is not installed. Run: pip install 'weir[{extra}]'")


def _columns(rows: Iterable[Any], floats: bool) -> list[_Column]:
    if isinstance(rows, (dict, str)):
        raise TypeError("to_df: rows must be a list of objects, but the response is one object. Pass one of its lists")
    flat = [_flatten(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return [_column(name, [row.get(name) for row in flat], floats) for name in names]


def _flatten(row: Any) -> dict[str, Any]:
    if isinstance(row, (list, tuple)) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict):
        row = {"user": row[0], **row[1]}
    if not isinstance(row, dict):
        raise TypeError(f"to_df: each row must be an object, not {type(row).__name__}")
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{inner}": each for inner, each in _flatten(value).items()})
        else:
            flat[name] = value
    return flat


def _column(name: str, values: list[Any], floats: bool) -> _Column:
    leaf = name.rpartition(".")[2]
    present = [value for value in values if value is not None]
    if present and all(type(value) is int and abs(value) < _INT64 for value in present):
        return _Column(name, "time" if leaf in _TIMES else "int", values)
    if not present or leaf in _NAMES or not all(_is_decimal(value) for value in present):
        return _Column(name, "other", values)
    convert = float if floats else Decimal
    return _Column(name, convert.__name__, [None if value is None else convert(value) for value in values])


def _is_decimal(value: Any) -> bool:
    return isinstance(value, str) and _DECIMAL.fullmatch(value) is not None


def _pandas(columns: list[_Column]) -> Any:
    pandas = importlib.import_module("pandas")

    def series(column: _Column) -> Any:
        _, kind, values = column
        if kind == "time":
            return pandas.Series(pandas.to_datetime(pandas.Series(values, dtype="Int64"), unit="ms", utc=True))
        if kind == "int":
            return pandas.Series(values, dtype="Int64" if None in values else "int64")
        return pandas.Series(values, dtype="float64" if kind == "float" else "object")

    return pandas.DataFrame({column.name: series(column) for column in columns})


def _polars(columns: list[_Column]) -> Any:
    polars = importlib.import_module("polars")

    def series(column: _Column) -> Any:
        name, kind, values = column
        if kind == "time":
            return polars.Series(name, values, dtype=polars.Int64).cast(polars.Datetime("ms", "UTC"))
        if kind == "int":
            return polars.Series(name, values, dtype=polars.Int64)
        if kind == "float":
            return polars.Series(name, values, dtype=polars.Float64)
        if kind == "Decimal":
            scale = max(_digits(value) for value in values if value is not None)
            return polars.Series(name, values, dtype=polars.Decimal(38, scale))
        return polars.Series(name, values, strict=False)

    return polars.DataFrame([series(column) for column in columns])


def _digits(value: Decimal) -> int:
    """Returns the number of digits after the decimal point."""
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0
