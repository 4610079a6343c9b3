"""Requests, retries and lists with pages, over HTTP."""

import asyncio
import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import weir

CANDLES = [{"t": time, "T": time + 59, "c": f"{time}.5"} for time in range(0, 600, 60)]


class Server:
    """Answers each request with what `reply(request)` returns: status, headers and data."""

    def __init__(self, reply):
        requests = self.requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                requests.append(request)
                status, headers, data = reply(request)
                body = data if isinstance(data, bytes) else json.dumps(data).encode()
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def pages_of(reply, type, **fields):
    """Reads a list with the client. Returns its pages and the requests."""
    with Server(reply) as server, weir.Client(server.url, "k") as client:
        return [page.data for page in client.history(type, **fields)], server.requests


class Requests(unittest.TestCase):
    def test_rejects_urls_of_no_gateway_without_showing_the_key(self):
        hosts = ("", "/", "a b", "h:99999", "[::1", "h#f", "h?x")
        for url in ("", "ws://h", *(f"http://{host}" for host in hosts)):
            for create in (weir.Client, weir.AsyncClient):
                with self.assertRaisesRegex(ValueError, "^url: .* must be a URL such as https") as caught:
                    create(url, "the-key")
                self.assertNotIn("the-key", str(caught.exception))

    def test_reads_responses_of_no_gateway(self):
        replies = {
            "deep": (200, {}, b"[" * 200_000),
            "binary": (200, {}, b"\xff"),
            "code": (429, {"retry-after": "\u00b2"}, {"code": "rate_limited", "msg": {"a": 1}}),
        }
        with Server(lambda request: replies[request["type"]]) as server:
            with weir.Client(server.url, "k", retries=0) as client:
                for type, code in (("deep", "unreadable"), ("binary", "unreadable"), ("code", "rate_limited")):
                    with self.assertRaises(weir.WeirError) as caught:
                        client.info(type)
                    self.assertEqual(caught.exception.code, code)
        head = {"x-block-height": "abc", "age": "1.5"}
        with Server(lambda _: (200, head, {})) as server, weir.Client(server.url, "k") as client:
            self.assertEqual(client.info("meta"), weir.Answer({}))

    def test_rejects_pages_whose_rows_have_no_time(self):
        for row in (1, {"time": "x"}, {}):
            with self.assertRaisesRegex(weir.WeirError, "a row has no time"):
                pages_of(lambda _: (200, {}, [row]), "fundingHistory", coin="BTC")

    def test_has_the_cost_and_position_of_an_answer(self):
        head = {"x-credits-cost": "1", "x-credits-remaining": "9.5", "x-block-height": "7", "age": "2"}
        with Server(lambda _: (200, {**head, "x-request-id": "r"}, {"BTC": "1"})) as server:
            with weir.Client(server.url, "k") as client:
                expected = weir.Answer({"BTC": "1"}, "1", "9.5", 7, 2, "r", None)
                self.assertEqual(client.info("allMids", dex="x"), expected)
            self.assertEqual(asyncio.run(self.ask(server.url)), expected)
        self.assertEqual(server.requests, [{"type": "allMids", "dex": "x"}] * 2)

    async def ask(self, url):
        async with weir.AsyncClient(url, "k") as client:
            return await client.info("allMids", dex="x")

    def test_retries_temporary_failures_only(self):
        replies = [(503, {}, {"code": "unavailable", "msg": "later"}), (502, {}, b"<html>"), (200, {}, [])]
        with Server(lambda _: replies.pop(0)) as server, weir.Client(server.url, "k") as client:
            self.assertEqual(client.info("allMids").data, [])
            self.assertEqual(len(server.requests), 3)
        error = {"code": "invalid_request", "msg": "coin: is required"}
        with Server(lambda _: (422, {"x-request-id": "r"}, error)) as server, weir.Client(server.url, "k") as client:
            with self.assertRaises(weir.WeirError) as caught:
                client.info("l2Book")
            self.assertEqual(len(server.requests), 1)
        failure = caught.exception
        found = (failure.code, failure.message, failure.status, failure.retry_after, failure.request_id)
        self.assertEqual(found, ("invalid_request", "coin: is required", 422, None, "r"))

    def test_does_not_wait_longer_than_allowed(self):
        reply = (429, {"retry-after": "31"}, {"code": "rate_limited", "msg": "wait"})
        with Server(lambda _: reply) as server, weir.Client(server.url, "k") as client:
            with self.assertRaises(weir.WeirError) as caught:
                client.info("allMids")
        self.assertEqual((caught.exception.retry_after, len(server.requests)), (31, 1))

    def test_names_failures_without_an_answer(self):
        with Server(lambda _: (200, {}, b"no JSON")) as server, weir.Client(server.url, "k", retries=0) as client:
            with self.assertRaisesRegex(weir.WeirError, "unreadable: HTTP 200 without JSON"):
                client.info("allMids")
        with weir.Client(server.url, "k", retries=0) as client, self.assertRaisesRegex(weir.WeirError, "^network: "):
            client.info("allMids")


class Pages(unittest.TestCase):
    def test_reads_by_row(self):
        pages = {"": ([1], "a"), "a": ([], "b"), "b": ([2, 3], None)}

        def reply(request):
            data, after = pages[request["cursor"]]
            return 200, {} if after is None else {"x-next-cursor": after}, data

        found, requests = pages_of(reply, "userFillsByTime", user="0x", startTime=5)
        self.assertEqual(found, [[1], [2, 3]])
        self.assertEqual(requests[2], {"type": "userFillsByTime", "user": "0x", "startTime": 5, "cursor": "b"})
        self.assertEqual(pages_of(reply, "userFillsByTime", cursor="b")[0], [[2, 3]])

    def test_reads_by_time_where_the_gateway_has_no_cursors(self):
        rows = [{"time": number // 2, "tid": number} for number in range(9)]

        def reply(request):
            if "cursor" in request:
                return 422, {}, {"code": "invalid_request", "msg": "cursor: needs an archive"}
            return 200, {}, [row for row in rows if row["time"] >= request["startTime"]][:3]

        found, _ = pages_of(reply, "userFillsByTime", startTime=0)
        self.assertEqual([row for page in found for row in page], rows)
        with self.assertRaisesRegex(weir.WeirError, "cursor: needs"):
            pages_of(reply, "userFillsByTime", startTime=0, cursor="r-1")

    def test_reads_newest_first(self):
        rows = [{"fill": {"time": number // 2}, "twapId": number} for number in range(8, -1, -1)]

        def reply(request):
            if "cursor" in request:
                return 422, {}, {"code": "invalid_request", "msg": "cursor: needs an archive"}
            return 200, {}, [row for row in rows if row["fill"]["time"] <= request.get("endTime", 9)][:3]

        found, _ = pages_of(reply, "userTwapSliceFillsByTime", startTime=0)
        self.assertEqual([row for page in found for row in page], rows)

    def test_reads_candles_whose_last_one_still_changes(self):
        def reply(request):
            late = [{**CANDLES[-1], "c": str(len(CANDLES))}]
            return 200, {}, [one for one in CANDLES[:-1] + late if one["t"] >= request["req"]["startTime"]][:4]

        found, requests = pages_of(reply, "candleSnapshot", req={"coin": "BTC", "interval": "1m", "startTime": 0})
        self.assertEqual([one["t"] for page in found for one in page], [one["t"] for one in CANDLES])
        self.assertEqual(requests[1]["req"], {"coin": "BTC", "interval": "1m", "startTime": 180})

    def test_reads_completed_trades_by_their_own_cursor(self):
        def reply(request):
            after = request.get("cursor")
            return 200, {}, [] if after == "8_2" else [{"close_time": 8 if after else 7, "tx_index": 2}]

        found, requests = pages_of(reply, "userCompletedTradesByTime", user="0x")
        self.assertEqual(len(found), 2)
        self.assertEqual([one.get("cursor") for one in requests], [None, "7_2", "8_2"])

    def test_does_not_omit_rows_of_a_dense_time(self):
        rows = [{"time": 5, "coin": str(number)} for number in range(500)]
        with self.assertRaisesRegex(weir.WeirError, "page_too_dense: fundingHistory has more rows at 5"):
            pages_of(lambda _: (200, {}, rows), "fundingHistory", coin="BTC", startTime=0)


if __name__ == "__main__":
    unittest.main()
