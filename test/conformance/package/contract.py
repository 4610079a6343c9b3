"""What the Python package promises, against a gateway that runs. Prints what failed of each clause, or null."""

import asyncio
import decimal
import json
import sys
import threading
import time
import traceback
import urllib.parse
import urllib.request

import weir
from weir import _socket

URL, KEY, CUT, PAST = sys.argv[1:]


def cut():
    urllib.request.urlopen(CUT).read()


async def questions(client):
    answer = await client.info("l2Book", coin="BTC")
    assert answer.data["levels"][0][0]["px"] and answer.cost == "1" and float(answer.remaining) > 0, answer
    assert answer.height > 0 and answer.request_id, answer


async def refusals(client):
    codes = []
    for asked in (client, "l2Book"), (client, "laterType"), (weir.AsyncClient(URL, "cqt_nonsense"), "allMids"):
        try:
            await asked[0].info(asked[1])
        except weir.WeirError as error:
            codes.append(error.code)
    assert codes == ["invalid_request", "unsupported_type", "unauthorized"], codes


async def streams(client):
    seen, cut_at, twice, gaps = set(), None, 0, 0
    async for frame in client.stream("allFills"):
        if isinstance(frame, weir.Gap):
            gaps += 1
            continue
        for user, fill in frame["fills"]:
            name = (user, fill["tid"], fill["coin"], fill["time"])
            twice += name in seen
            seen.add(name)
        if cut_at is None and len(seen) > 5:
            await asyncio.to_thread(cut)
            cut_at = len(seen)
        if cut_at is not None and len(seen) > cut_at + 5:
            break
    assert twice == 0 and gaps <= 1, (twice, gaps)


async def refused_streams(client):
    for asked, fields, code in (client, {"coin": "NO COIN"}, "invalid_request"), (
        weir.AsyncClient(URL, "cqt_nonsense"),
        {"coin": "BTC"},
        "unauthorized",
    ):
        try:
            async for _ in asked.stream("trades", **fields):
                raise AssertionError("a frame")
        except weir.WeirError as error:
            assert error.code == code and (code != "unauthorized" or "API key" in error.message), error


async def books(client):
    was_cut = was_out = False
    async for book in client.books("BTC", "ETH"):
        if book.step != "in step":
            was_out = was_out or was_cut
            assert book.levels() == ([], []), book.levels()
        elif book.checks > 2 and was_out:
            assert book.levels(3)[0] and book.levels(3)[1]
            break
        elif book.checks > 2 and not was_cut:
            was_cut = True
            await asyncio.to_thread(cut)


class Frozen:
    """A way to the gateway that can stop, as a network does: nothing comes, and nothing ends."""

    async def __aenter__(self):
        self.flowing, self.ways = asyncio.Event(), []
        self.flowing.set()
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.url = "http://127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for way in self.ways:
            way.cancel()
        await asyncio.gather(*self.ways, return_exceptions=True)

    async def accept(self, reader, writer):
        host = urllib.parse.urlsplit(URL)
        there = await asyncio.open_connection(host.hostname, host.port)
        self.ways += [asyncio.create_task(self.carry(*way)) for way in ((reader, there[1]), (there[0], writer))]

    async def carry(self, reader, writer):
        try:
            while data := await reader.read(65536):
                await self.flowing.wait()
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def silent_links(_):
    _socket.SILENT_S, _socket.PING_EVERY_S = 3, 1
    try:
        async with Frozen() as frozen, weir.AsyncClient(frozen.url, KEY) as client, client.books("BTC") as books:
            silent_at = None
            async for book in books:
                if book.step == "in step" and silent_at is None:
                    frozen.flowing.clear()
                    silent_at = time.monotonic()
                elif book.step != "in step" and silent_at is not None:
                    break
            took_s = time.monotonic() - silent_at
            assert 2.5 < took_s < 6.5 and book.levels() == ([], []), (took_s, book.levels())
    finally:
        _socket.SILENT_S, _socket.PING_EVERY_S = 25, 10


async def replays(client):
    past = json.loads(PAST)
    replay = client.replay("allFills", from_time=past["fromTime"], to_time=past["toTime"], speed="max")
    assert in_past([frame async for frame in replay], past)


def in_past(frames, past):
    times = [fill["time"] for frame in frames if not isinstance(frame, weir.Gap) for _, fill in frame["fills"]]
    return times and all(past["fromTime"] <= time <= past["toTime"] for time in times)


async def unknown_coins(client):
    try:
        async for _ in client.books("BTC", "NO COIN"):
            raise AssertionError("a book")
    except weir.WeirError as error:
        assert error.code in ("invalid_request", "not_found"), error


async def histories(client):
    now = int(time.time() * 1000)
    req = {"coin": "BTC", "interval": "1m", "startTime": now - 7_200_000, "endTime": now}
    starts = [candle["t"] async for page in client.history("candleSnapshot", req=req) for candle in page.data]
    assert starts and starts == sorted(set(starts)), starts


async def data_frames(client):
    now = int(time.time() * 1000)
    req = {"coin": "BTC", "interval": "1m", "startTime": now - 7_200_000, "endTime": now}
    try:
        frame = await client.history("candleSnapshot", req=req).to_df()
    except ImportError as error:
        assert "pip install 'weir[pandas]'" in str(error), error
        return
    assert len(frame) > 0 and str(frame["t"].dtype).endswith("UTC]"), frame.dtypes
    assert isinstance(frame["c"][0], decimal.Decimal), frame["c"]


async def synchronous(_):
    await asyncio.to_thread(in_sync)


def in_sync():
    with weir.Client(URL, KEY) as client:
        assert client.info("l2Book", coin="BTC").cost == "1"
        for book in client.books("BTC"):
            if book.checks > 2:
                assert book.levels(1)[0] and book.levels(1)[1]
                break
        past = json.loads(PAST)
        with client.replay("allFills", from_time=past["fromTime"], to_time=past["toTime"], speed="max") as replay:
            assert in_past(list(replay), past)
        with client.stream("allFills") as frames:
            for number, _ in enumerate(frames):
                if number == 3:
                    cut()
                if number > 6:
                    break
    assert "weir" not in [thread.name for thread in threading.enumerate()]


CLAUSES = (
    questions,
    refusals,
    streams,
    refused_streams,
    books,
    unknown_coins,
    silent_links,
    replays,
    histories,
    data_frames,
    synchronous,
)


async def main():
    found = {}
    for clause in CLAUSES:
        async with weir.AsyncClient(URL, KEY) as client:
            try:
                await asyncio.wait_for(clause(client), 200)
                found[clause.__name__] = None
            except BaseException:
                found[clause.__name__] = traceback.format_exc()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    # A link that was cut ends with the closing handshake.
    pending = (await asyncio.wait(left, timeout=30))[1] if left else None
    found["nothing is left running"] = str(pending) if pending else None
    print(json.dumps(found))


asyncio.run(main())
