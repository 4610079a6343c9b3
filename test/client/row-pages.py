"""Reads a list with weir.py and prints the pages."""

import asyncio
import json
import sys

import weir


async def main() -> None:
    url, key, type, fields = sys.argv[1:]
    async with weir.Client(url, key) as client:
        print(json.dumps([page.data async for page in client.history(type, **json.loads(fields))]))


asyncio.run(main())
