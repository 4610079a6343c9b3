"""Reads stories of a book, each a snapshot and what follows it, and prints the digest of levels after each step, or null."""

import json
import sys

import weir

told = []
for snapshot, batches in json.load(sys.stdin):
    book = weir.Book("BTC")
    book._seed(snapshot)
    steps = []
    for batch in batches:
        if book.step == "in step" and (why := book._take(batch)):
            book._lost(why)
        steps.append(book.levels() if book.step == "in step" else None)
    told.append(steps)
print(json.dumps(told))
