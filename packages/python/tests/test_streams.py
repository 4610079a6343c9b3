"""Streams and replays of both clients, against scripted sockets."""

import asyncio
import datetime
import gc
import json
import signal
import threading
import time
import unittest

import weir

from .gateway import Gateway, acknowledge, send, three_trades, trades


def client_threads():
    return [thread for thread in threading.enumerate() if thread.name == "weir"]


class AsyncStreams(unittest.IsolatedAsyncioTestCase):
    async def test_reports_that_it_reads_late_and_resumes_after_its_last_height(self):
        # WS-65
        async def script(gateway, socket, message):
            is_first = len(gateway.subscribes) == 1
            await acknowledge(socket, message)
            if not is_first:
                await send(socket, trades(1))
            await send(socket, {"channel": "pong", "nonce": "n", "block_height": 70})
            if is_first:
                notice = {"channel": "notification", "data": {"notification": "reads late"}, "code": "late"}
                await send(socket, notice)
                await send(socket, {"channel": "error", "data": "too late", "code": "too_late"})
                await socket.close(4413, "unread data is too old")

        notices = []
        with Gateway(script) as gateway:
            async with weir.AsyncClient(gateway.url, "k", on_notice=lambda *notice: notices.append(notice)) as client:
                async with client.stream("trades", coin="BTC") as frames:
                    first = await frames.__anext__()
                    # Handles the pong that follows.
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(frames.__anext__(), 0.3)
                    self.assertEqual(frames.height, 70)
        self.assertEqual(notices, [("reads late", "late"), ("too late", "too_late")])
        self.assertEqual(first, trades(1))
        self.assertEqual([one.get("fromBlock") for one in gateway.subscribes], [None, 71])

    async def test_an_invalid_frame_is_a_gap_after_which_the_stream_continues(self):
        updates = {"epoch": "e", "block_height": 2, "time": 1}
        change = {"coin": "BTC", "seq": 2, "prev_seq": 1, "levels": [[{"px": "x", "sz": "1", "n": 1}], []]}
        for invalid in (
            "x",
            "[" * 200_000,
            {"channel": "pong", "block_height": "7"},
            {"channel": "error"},
            {"channel": "error", "code": "gap", "data": {}},
            {"channel": "notification", "data": "x"},
            {"channel": "replay", "data": {}},
            {"channel": "l2BookDiff2"},
            {"channel": "l2BookDiff2", "data": {"Updates": {**updates, "book_diffs": [change]}}},
        ):

            async def script(gateway, socket, message, invalid=invalid):
                await acknowledge(socket, message)
                if len(gateway.subscribes) == 1:
                    await socket.send(invalid if isinstance(invalid, str) else json.dumps(invalid))
                else:
                    await send(socket, trades(1))

            with Gateway(script) as gateway:
                async with weir.AsyncClient(gateway.url, "k") as client, client.stream("trades", coin="BTC") as frames:
                    gap, frame = [await frames.__anext__() for _ in range(2)]
            self.assertIsInstance(gap, weir.Gap)
            self.assertEqual(frame, trades(1))

    async def test_logs_of_sockets_do_not_show_the_key(self):
        with Gateway(three_trades) as gateway, self.assertLogs(level="DEBUG") as logs:
            async with weir.AsyncClient(gateway.url, "the-key") as client, client.stream("trades") as frames:
                await frames.__anext__()
        self.assertIn("GET /ws?key=… HTTP/1.1", "\n".join(logs.output))
        sent = [line for line in logs.output if "websockets.server" not in line]
        self.assertNotIn("the-key", "\n".join(sent))

    async def test_repeated_events_come_once_after_a_reconnect(self):
        async def script(gateway, socket, message):
            await acknowledge(socket, message)
            await send(socket, {"channel": "pong", "nonce": "n", "block_height": 70})
            await send(socket, trades(1))
            if len(gateway.subscribes) == 1:
                await socket.close(1012)
            else:
                await send(socket, trades(2))

        with Gateway(script) as gateway:
            async with weir.AsyncClient(gateway.url, "k") as client, client.stream("trades", coin="BTC") as frames:
                self.assertEqual([await frames.__anext__() for _ in range(2)], [trades(1), trades(2)])

    async def test_reports_a_gap_with_its_blocks(self):
        async def script(_, socket, message):
            await acknowledge(socket, message)
            await send(socket, {"channel": "error", "code": "gap", "data": "Blocks 5 to 9 are missing."})
            await send(socket, trades(1))

        with Gateway(script) as gateway:
            async with weir.AsyncClient(gateway.url, "k") as client, client.stream("trades", coin="BTC") as frames:
                gap = await frames.__anext__()
                self.assertEqual((gap.start, gap.end), (5, 9))
                self.assertEqual(await frames.__anext__(), trades(1))

    async def test_closing_the_client_ends_a_waiting_loop_and_its_socket(self):
        with Gateway(three_trades) as gateway:
            client = weir.AsyncClient(gateway.url, "k")

            async def read():
                return [frame async for frame in client.stream("trades", coin="BTC")]

            reading = asyncio.create_task(read())
            await asyncio.sleep(0.3)
            await client.aclose()
            self.assertEqual(await asyncio.wait_for(reading, 2), [trades(0), trades(1), trades(2)])
            self.assertTrue(gateway.wait(lambda: gateway.open == 0))
            with self.assertRaises(weir.WeirError) as caught:
                await client.info("allMids")
            self.assertEqual(caught.exception.code, "closed")

    async def test_controls_a_replay(self):
        async def script(_, socket, message):
            await acknowledge(socket, message)
            await send(socket, {"channel": "replay", "data": {"event": "gap", "from": 3, "to": 4}})
            await send(socket, trades(1))
            await send(socket, {"channel": "replay", "data": {"event": "live", "from": 9}})
            await send(socket, trades(2))
            await send(socket, {"channel": "replay", "data": {"event": "ended"}})

        start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
        with Gateway(script) as gateway:
            async with weir.AsyncClient(gateway.url, "k") as client:
                replay = client.replay("trades", coin="BTC", from_time=start, to_block=9, speed="max")
                with self.assertRaisesRegex(RuntimeError, "Read its first frame"):
                    await replay.pause()
                gap = await replay.__anext__()
                self.assertEqual((gap.start, gap.end, replay.is_live), (3, 4, False))
                await replay.pause()
                await replay.seek(from_block=5)
                self.assertTrue(await asyncio.to_thread(gateway.wait, lambda: len(gateway.messages) == 2))
                self.assertEqual([frame async for frame in replay], [trades(1), trades(2)])
                self.assertTrue(replay.is_live)
        self.assertEqual(gateway.subscribes[0]["replay"], {"fromTime": 1767225600000, "toBlock": 9, "speed": "max"})
        body = {"type": "trades", "coin": "BTC"}
        self.assertEqual(
            gateway.messages,
            [
                {"method": "replay", "action": "pause", "subscription": body},
                {"method": "replay", "action": "seek", "subscription": body, "fromBlock": 5},
            ],
        )

    async def test_rejects_wrong_arguments_and_names_them(self):
        client = weir.AsyncClient("http://127.0.0.1:1", "k")
        for call, words in (
            (lambda: client.replay("trades"), "from_time and from_block"),
            (lambda: client.replay("trades", from_block=1, to_time=1, to_block=1), "to_time and to_block"),
            (lambda: client.replay("trades", from_time=datetime.datetime(2026, 1, 1)), "from_time: .* no time zone"),
            (lambda: client.books(), "books: name"),
            (lambda: client.history("l2Book"), "l2Book has no pages"),
            (lambda: weir.AsyncClient("weir.example.com", "k"), "url: "),
            (lambda: weir.Client("https://weir.example.com", ""), "key: "),
        ):
            with self.assertRaisesRegex(ValueError, words):
                call()


class SyncStreams(unittest.TestCase):
    def tearDown(self):
        gc.collect()
        self.assertEqual(client_threads(), [])

    def test_leaving_the_loop_closes_the_socket(self):
        with Gateway(three_trades) as gateway, weir.Client(gateway.url, "k") as client:
            for frame in client.stream("trades", coin="BTC"):
                self.assertEqual(frame, trades(0))
                break
            self.assertEqual(len(gateway.subscribes), 1)
            self.assertTrue(gateway.wait(lambda: gateway.open == 0))

    def test_leaving_the_with_block_closes_the_socket(self):
        with Gateway(three_trades) as gateway, weir.Client(gateway.url, "k") as client:
            with client.stream("trades", coin="BTC") as frames:
                self.assertEqual([next(frames), next(frames)], [trades(0), trades(1)])
            self.assertTrue(gateway.wait(lambda: gateway.open == 0))
            self.assertEqual(list(frames), [])

    def test_an_interrupt_leaves_the_loop_and_its_thread_ends(self):
        with Gateway(three_trades) as gateway:
            if not hasattr(signal, "pthread_kill"):
                self.skipTest("the system cannot interrupt the main thread")
            main = threading.main_thread().ident
            interrupt = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            frames = []
            try:
                interrupt.start()
                with self.assertRaises(KeyboardInterrupt), weir.Client(gateway.url, "k") as client:
                    for frame in client.stream("trades", coin="BTC"):
                        frames.append(frame)
            finally:
                signal.signal(signal.SIGINT, before)
            self.assertEqual(len(frames), 3)
            self.assertEqual(client_threads(), [])
            self.assertTrue(gateway.wait(lambda: gateway.open == 0))

    def test_closing_the_client_ends_the_loop_of_another_thread(self):
        with Gateway(three_trades) as gateway:
            client = weir.Client(gateway.url, "k")
            frames = []
            reading = threading.Thread(target=lambda: frames.extend(client.stream("trades", coin="BTC")))
            reading.start()
            self.assertTrue(gateway.wait(lambda: len(gateway.subscribes) == 1))
            time.sleep(0.2)
            client.close()
            client.close()
            reading.join(2)
            self.assertFalse(reading.is_alive())
            self.assertEqual(len(frames), 3)
            with self.assertRaises(weir.WeirError) as caught:
                client.info("allMids")
            self.assertEqual(caught.exception.code, "closed")

    def test_a_forgotten_client_ends_its_thread(self):
        with Gateway(three_trades) as gateway:
            frames = weir.Client(gateway.url, "k").stream("trades", coin="BTC")
            self.assertEqual(next(frames), trades(0))
            del frames
            gc.collect()
            self.assertTrue(gateway.wait(lambda: gateway.open == 0))

    def test_a_notice_cannot_wait_for_its_own_client(self):
        async def script(_, socket, message):
            await acknowledge(socket, message)
            await send(socket, {"channel": "notification", "data": {"notification": "low"}, "code": "low_credits"})

        with Gateway(script) as gateway:
            client = weir.Client(gateway.url, "k", on_notice=lambda *_: client.info("allMids"))
            with client, self.assertRaisesRegex(RuntimeError, "on_notice"):
                next(client.stream("trades", coin="BTC"))
            del client

    def test_replays_until_the_end(self):
        async def script(_, socket, message):
            await acknowledge(socket, message)
            await send(socket, trades(1))
            await send(socket, {"channel": "replay", "data": {"event": "ended"}})

        with Gateway(script) as gateway, weir.Client(gateway.url, "k") as client:
            replay = client.replay("trades", coin="BTC", from_block=1, to_block=2)
            first = next(replay)
            replay.pause()
            replay.resume()
            replay.seek(from_block=1)
            self.assertEqual((first, list(replay), replay.is_live), (trades(1), [], False))


if __name__ == "__main__":
    unittest.main()
