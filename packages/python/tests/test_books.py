"""The rules of books, without I/O."""

import unittest
from zlib import crc32

from weir import Gap, WeirError
from weir._book import Book
from weir._books import BookFollower
from weir._subscription import Live


def level(px, sz="1", n=1):
    return {"px": px, "sz": sz, "n": n}


def frame(seq, prev_seq, bids, checksum=None, coin="BTC", epoch="e"):
    change = {"coin": coin, "seq": seq, "prev_seq": prev_seq, "levels": [bids, []]}
    if checksum is not None:
        change["checksum"] = checksum
    updates = {"epoch": epoch, "block_height": seq, "time": seq, "book_diffs": [change]}
    return {"channel": "l2BookDiff2", "data": {"Updates": updates}}


def snapshot(seq, bids=(), epoch="e", coin="BTC"):
    return {"coin": coin, "epoch": epoch, "height": seq, "time": seq, "seq": seq, "levels": [list(bids), []]}


class Books(unittest.TestCase):
    def setUp(self):
        self.follower = BookFollower(("BTC",))
        self.assertEqual(self.follower.take(Live()), [])

    def fetch(self):
        (fetch,) = self.follower.take_fetches()
        self.follower.start_fetch(fetch)
        return fetch

    def seeded(self, *bids):
        (book,) = self.follower.seed(self.fetch(), snapshot(1, bids))
        self.assertEqual((book.step, book.why), ("in step", ""))
        return book

    def test_fetches_again_after_an_invalid_snapshot(self):
        good = snapshot(1, [level("1")])
        invalid = [{}, [], {**good, "height": "1"}, {**good, "levels": []}, {**good, "levels": [[level("NaN")], []]}]
        for snapshot_ in invalid:
            self.assertEqual(self.follower.seed(self.fetch(), snapshot_), [])
        (book,) = self.follower.seed(self.fetch(), good)
        self.assertEqual(book.step, "in step")

    def test_orders_prices_exactly(self):
        near = ["0.30000000000000000001", "0.3", "0.29999999999999999999", "12345678901234567890123456789.5"]
        book = self.seeded(*map(level, near))
        self.assertEqual([one["px"] for one in book.levels()[0]], [near[3], *near[:3]])
        self.follower.take(frame(2, 1, [level("0.30", "2"), level(near[2], "0", 0), level(near[3], "0.0")]))
        self.assertEqual(book.levels(), ([level(near[0]), level("0.30", "2")], []))
        self.assertEqual(book.levels(1), ([level(near[0])], []))

    def test_checks_each_change(self):
        book = self.seeded()
        self.follower.take(frame(2, 1, [level("1.5")], crc32(b"1.5:1:1/")))
        self.assertEqual((book.checks, book.levels()[0]), (1, [level("1.5")]))
        self.assertEqual(self.follower.take(frame(3, 2, [level("2.5")], 7)), [book])
        self.assertEqual((book.step, book.levels()), ("out of step", ([], [])))
        self.assertIn("does not match the server's 7", book.why)
        self.assertEqual(self.fetch().wait_s, 0)

    def test_waits_longer_after_each_mismatch(self):
        book = self.seeded()
        waits = []
        for seq in range(2, 7):
            self.follower.take(frame(seq, book.seq, [level("2.5")], 7))
            fetch = self.fetch()
            waits.append(fetch.wait_s)
            self.follower.seed(fetch, snapshot(seq))
        self.assertEqual(waits[0], 0)
        for wait_s, longest_s in zip(waits[1:], (1, 2, 4, 8)):
            self.assertTrue(longest_s / 2 <= wait_s <= longest_s, waits)

    def test_ignores_a_snapshot_that_was_requested_before_a_loss(self):
        fetch = self.fetch()
        (book,) = self.follower.take(Gap("the connection closed"))
        self.assertFalse(self.follower.is_current(fetch))
        self.assertEqual(self.follower.seed(fetch, snapshot(1)), [])
        self.assertEqual(self.follower.fail(fetch, WeirError("unauthorized", "no key")), [])
        self.assertEqual((book.step, book.why), ("out of step", "the connection closed"))
        self.follower.take(Live())
        self.assertEqual(self.follower.seed(self.fetch(), snapshot(2)), [book])
        self.assertEqual(book.step, "in step")

    def test_fetches_a_coin_once_at_a_time(self):
        self.follower.take(Live())
        self.follower.take(frame(2, 1, []))
        self.assertEqual(len(self.follower.take_fetches()), 1)

    def test_asks_again_for_a_coin_without_a_book(self):
        fetch = self.fetch()
        (book,) = self.follower.seed(fetch, None)
        self.assertEqual((book.step, book.why), ("out of step", "the gateway has no book of BTC"))
        again = self.fetch()
        self.assertGreaterEqual(again.wait_s, 5)
        self.assertEqual(self.follower.fail(again, WeirError("not_found", "no such coin", 404)), [])
        self.assertEqual(self.follower.seed(self.fetch(), snapshot(1)), [book])

    def test_retries_temporary_failures_only(self):
        self.assertEqual(self.follower.fail(self.fetch(), WeirError("rate_limited", "wait", 429, 3)), [])
        fetch = self.fetch()
        self.assertEqual(fetch.wait_s, 3)
        with self.assertRaises(WeirError):
            self.follower.fail(fetch, WeirError("credits_exhausted", "no credits", 402))

    def test_requests_again_if_the_stream_has_another_epoch(self):
        fetch = self.fetch()
        self.follower.take(frame(5, 4, [], epoch="f"))
        (book,) = self.follower.seed(fetch, snapshot(9))
        self.assertEqual((book.step, book.why), ("out of step", "snapshot of epoch e, stream of f"))

    def test_names_one_or_several_coins(self):
        self.assertEqual(self.follower.body, {"type": "l2BookDiff2", "coin": "BTC", "checksum": True})
        self.assertEqual(BookFollower(("BTC", "ETH")).body["coin"], ["BTC", "ETH"])

    def test_is_bounded_while_it_has_no_snapshot(self):
        book = Book("BTC")
        for seq in range(2_000):
            self.assertEqual(book._take(batch(seq)), "buffered")
        self.assertEqual(book._seed(snapshot(1)), "refetch")
        self.assertIn("gap: prev_seq", book.why)


def batch(seq):
    from weir._book import Batch

    return Batch("e", seq, seq, {"seq": seq, "prev_seq": seq - 1, "levels": [[level(str(seq + 1))], []]})


if __name__ == "__main__":
    unittest.main()
