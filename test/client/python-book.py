"""Reads stories of a book and prints, after each step, its outcome, the reason and the levels."""

import json
import sys

import weir
from weir._book import Batch


def step_of(book, action):
    if "snapshot" in action:
        return book._seed(action["snapshot"])
    if "batch" in action:
        return book._take(Batch(**action["batch"]))
    return book._start_fetch()


told = []
for actions in json.load(sys.stdin):
    book = weir.Book("BTC")
    told.append([[step_of(book, action), book.why, book.levels(), book.checks] for action in actions])
print(json.dumps(told))
