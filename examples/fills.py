"""Prints every fill of some wallets, each once, from a minute ago on: live, and after a reconnect what was missed.

Needs websocket-client (pip install websocket-client), which the exchange's Python SDK brings, too.

Run with WEIR_URL and WEIR_KEY set: python3 examples/fills.py 0x… 0x…
"""

import contextlib
import http.client
import json
import os
import random
import sys
import time
import urllib.request

import websocket

URL = os.environ.get("WEIR_URL", "").rstrip("/")
KEY = os.environ.get("WEIR_KEY", "")
PING_EVERY_S = 20
SILENT_S = 45
# A source may be some seconds behind the stream: what was missed is asked for at once, and once more.
ASK_AFTER_S = (0, 10)
MOST_ROWS = 2000
# What no retry mends: a key that is not taken, no credits, a wrong address.
FINAL = (401, 402, 403, 4401, 4402, "unauthorized", "credits_exhausted", "invalid_request")


class Fills:
    """The fills of some wallets, each shown once. Of each wallet nothing is missing up to `since`, ms."""

    def __init__(self, wallets, since):
        self.since = {wallet.lower(): since for wallet in wallets}
        self.seen = {}
        self.settled = {}

    def take(self, wallet, fill):
        if fill["time"] < self.settled.get(wallet, 0):
            return  # Shown before: a stream that catches up is behind its source.
        # Not by tid alone: two wallets of one trade share it, and conversions of dust have 0.
        name = (wallet, fill["time"], fill["coin"], fill["tid"])
        if name not in self.seen:
            self.seen[name] = fill["time"]
            print(fill["time"], wallet, fill["coin"], fill["dir"], fill["sz"], fill["px"], fill["tid"], flush=True)

    def catch_up(self, ping):
        """Takes what the info API has of each wallet since then, oldest first, page by page."""
        for wallet, start in self.since.items():
            while True:
                ping()
                rows = info({"type": "userFillsByTime", "user": wallet, "startTime": start})
                for fill in rows:
                    self.take(wallet, fill)
                if len(rows) < MOST_ROWS or rows[-1]["time"] == start:
                    break
                start = rows[-1]["time"]

    def settle(self):
        """Nothing is missing up to the newest fills: older ones need not be known any more."""
        for (wallet, *_), at in self.seen.items():
            self.settled[wallet] = self.since[wallet] = max(self.since[wallet], at)
        self.seen = {name: at for name, at in self.seen.items() if at >= self.since[name[0]]}


def info(question):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{URL}/info", json.dumps(question).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def follow(fills):
    """Follows one connection to its end, and answers why it ended: a close code, or that of an error."""
    url = f"{URL.replace('http', 'ws', 1)}/ws?key={KEY}"
    with contextlib.closing(websocket.create_connection(url, timeout=10)) as socket:
        socket.settimeout(1)
        subscription = {"type": "userFills", "addresses": list(fills.since)}
        socket.send(json.dumps({"method": "subscribe", "subscription": subscription}))
        asks = None
        pinged = heard = time.monotonic()

        def ping():
            nonlocal pinged
            if time.monotonic() - pinged > PING_EVERY_S:
                socket.send('{"method":"ping"}')
                pinged = time.monotonic()
                return True

        while time.monotonic() - heard < SILENT_S:
            now = time.monotonic()
            if ping() and asks == []:
                fills.settle()
            if asks and now >= asks[0]:
                fills.catch_up(ping)
                asks.pop(0)
                # What came meanwhile is still to be read.
                heard = time.monotonic()
            try:
                opcode, data = socket.recv_data()
            except websocket.WebSocketTimeoutException:
                continue
            heard = time.monotonic()
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                return int.from_bytes(data[:2], "big")
            frame = json.loads(data)
            if frame["channel"] == "userFills":
                for wallet, fill in frame["fills"]:
                    fills.take(wallet, fill)
            elif frame["channel"] == "subscriptionResponse" or frame.get("code") == "gap":
                asks = [now + seconds for seconds in ASK_AFTER_S]
            elif frame["channel"] == "error":
                print(frame["data"], file=sys.stderr)
                return frame.get("code")
    return "silent"


def main(wallets):
    fills = Fills(wallets, int(time.time() * 1000) - 60_000)
    while True:
        try:
            why = follow(fills)
        except websocket.WebSocketBadStatusException as refusal:
            why = refusal.status_code
        except (OSError, http.client.HTTPException, websocket.WebSocketException) as failure:
            why = failure
        if why in FINAL:
            sys.exit(f"the gateway refuses: {why}")
        print(f"connecting again: {why}", file=sys.stderr)
        time.sleep(random.uniform(1, 3))


if __name__ == "__main__":
    if len(sys.argv) < 2 or not URL or not KEY:
        sys.exit("Usage: WEIR_URL=<url> WEIR_KEY=<key> python3 examples/fills.py ADDRESS...")
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        pass
