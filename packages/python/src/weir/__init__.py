"""Client for a Weir gateway: queries with their cost, streams, self-verifying books, history and replay.

Prices and sizes are decimal strings; calculate with `decimal.Decimal`.

    with weir.Client(url, key) as client:
        print(client.info("l2Book", coin="BTC").data)
        for book in client.books("BTC"):
            print(book.coin, book.levels(1), book.height)

`AsyncClient` has the same calls for asyncio.
"""

from ._answer import Answer
from ._async_client import AsyncClient
from ._async_streams import AsyncHistory, AsyncReplay, AsyncStream, AsyncSubscription
from ._book import Book, Level
from ._client import Client, History, Replay, Stream, Subscription
from ._dataframe import to_df
from ._errors import WeirError
from ._subscription import Gap

__all__ = [
    "Answer",
    "AsyncClient",
    "AsyncHistory",
    "AsyncReplay",
    "AsyncStream",
    "AsyncSubscription",
    "Book",
    "Client",
    "Gap",
    "History",
    "Level",
    "Replay",
    "Stream",
    "Subscription",
    "WeirError",
    "to_df",
]
