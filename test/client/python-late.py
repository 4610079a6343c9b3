"""A gateway closes a socket of client-python/weir.py because it reads late. Prints the notices and what the client does next."""

import asyncio
import contextlib
import json

import weir
import websockets

ACK = {"channel": "subscriptionResponse", "data": {"method": "subscribe", "subscription": {"type": "trades", "coin": "BTC"}}}
LATE = {"channel": "notification", "data": {"notification": "reads late"}, "code": "late", "age_ms": 12_000}
subscribes = []


async def gateway(socket, *_):
    is_first = len(subscribes) == 0
    async for text in socket:
        message = json.loads(text)
        if message["method"] == "subscribe":
            subscribes.append(message)
            await socket.send(json.dumps(ACK))
            if not is_first:
                await socket.send(json.dumps({"channel": "trades", "data": []}))
            await socket.send(json.dumps({"channel": "pong", "nonce": "n", "block_height": 70}))
            if is_first:
                await socket.send(json.dumps(LATE))
                await socket.send(json.dumps({"channel": "error", "data": "too late", "code": "too_late"}))
                await socket.close(4413, "unread data is too old")
                return


async def main():
    notices = []
    async with websockets.serve(gateway, "127.0.0.1", 0) as server:
        url = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
        async with weir.Client(url, "k", on_notice=lambda *notice: notices.append(notice)) as client:
            async with contextlib.aclosing(client.stream("trades", coin="BTC")) as frames:
                first = await anext(frames)
    print(json.dumps({"notices": notices, "first": first, "from": [one.get("fromBlock") for one in subscribes]}))


asyncio.run(main())
