"""A gateway for tests: sockets that follow a script, in a thread of their own."""

import asyncio
import contextlib
import json
import threading

import websockets
import websockets.exceptions


class Gateway:
    """Calls `script(self, socket, message)` for each subscribe message. Answers pings with `height`."""

    def __init__(self, script):
        self.script = script
        self.height = 70
        self.subscribes = []
        self.messages = []
        self.open = 0
        self.changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._server = self._run(self._start())
        self.url = "http://127.0.0.1:%d" % self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait(self, condition, timeout_s=5):
        with self.changed:
            return self.changed.wait_for(condition, timeout_s)

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    async def _start(self):
        return await websockets.serve(self._serve, "127.0.0.1", 0)

    async def _stop(self):
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, socket, *_):
        self._count(1)
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            async for text in socket:
                await self._take(socket, json.loads(text))
        self._count(-1)

    async def _take(self, socket, message):
        if message["method"] == "subscribe":
            self.subscribes.append(message)
            await self.script(self, socket, message)
        elif message["method"] == "ping":
            await send(socket, {"channel": "pong", "nonce": "n", "block_height": self.height})
        else:
            self.messages.append(message)
            self._count(0)

    def _count(self, more):
        with self.changed:
            self.open += more
            self.changed.notify_all()


async def send(socket, frame):
    await socket.send(json.dumps(frame))


async def acknowledge(socket, message):
    await send(socket, {"channel": "subscriptionResponse", "data": message})


def trades(number):
    return {"channel": "trades", "data": [{"coin": "BTC", "tid": number}]}


async def three_trades(_, socket, message):
    await acknowledge(socket, message)
    for number in range(3):
        await send(socket, trades(number))
