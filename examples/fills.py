"""Prints each fill of the given wallets once, starting one minute ago. After a reconnect, it fetches the missed fills.

Requires websocket-client (pip install websocket-client), which the exchange's Python SDK also installs.

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
# A source may be a few seconds behind the stream, so missed fills are requested at once and again after 10 s.
FETCH_AFTER_S = (0, 10)
MAX_ROWS = 2000
# Errors that a retry cannot fix: an invalid key, no credits, an invalid address.
FINAL = (401, 402, 403, 4401, 4402, "unauthorized", "credits_exhausted", "invalid_request")


class Fills:
    """Prints each fill once. `since`: for each wallet, the time in ms up to which no fill is missing."""

    def __init__(self, wallets, since):
        self.since = {wallet.lower(): since for wallet in wallets}
        self.seen = {}
        self.settled = {}

    def take(self, wallet, fill):
        if fill["time"] < self.settled.get(wallet, 0):
            return  # Already printed: the stream sends older fills while it catches up with its source.
        # The tid alone is not unique: both wallets of a trade share it, and dust conversions have 0.
        name = (wallet, fill["time"], fill["coin"], fill["tid"])
        if name not in self.seen:
            self.seen[name] = fill["time"]
            print(fill["time"], wallet, fill["coin"], fill["dir"], fill["sz"], fill["px"], fill["tid"], flush=True)

    def catch_up(self, ping):
        """Fetches the fills of each wallet since then from the info API, oldest first, page by page."""
        for wallet, start in self.since.items():
            while True:
                ping()
                rows = info({"type": "userFillsByTime", "user": wallet, "startTime": start})
                for fill in rows:
                    self.take(wallet, fill)
                if len(rows) < MAX_ROWS or rows[-1]["time"] == start:
                    break
                start = rows[-1]["time"]

    def settle(self):
        """Forgets older fills, because no fill up to the newest one is missing."""
        for (wallet, *_), at in self.seen.items():
            self.settled[wallet] = self.since[wallet] = max(self.since[wallet], at)
        self.seen = {name: at for name, at in self.seen.items() if at >= self.since[name[0]]}


def info(body):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{URL}/info", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def follow(fills):
    """Reads one connection until it ends. Returns why it ended: a close code, an error code or 'silent'."""
    url = f"{URL.replace('http', 'ws', 1)}/ws?key={KEY}"
    with contextlib.closing(websocket.create_connection(url, timeout=10)) as socket:
        socket.settimeout(1)
        subscription = {"type": "userFills", "addresses": list(fills.since)}
        socket.send(json.dumps({"method": "subscribe", "subscription": subscription}))
        fetch_times = None
        pinged = heard = time.monotonic()

        def ping():
            nonlocal pinged
            if time.monotonic() - pinged > PING_EVERY_S:
                socket.send('{"method":"ping"}')
                pinged = time.monotonic()
                return True

        while time.monotonic() - heard < SILENT_S:
            now = time.monotonic()
            if ping() and fetch_times == []:
                fills.settle()
            if fetch_times and now >= fetch_times[0]:
                fills.catch_up(ping)
                fetch_times.pop(0)
                # Frames that arrived in the meantime are not read yet.
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
                fetch_times = [now + seconds for seconds in FETCH_AFTER_S]
            elif frame["channel"] == "error":
                print(frame["data"], file=sys.stderr)
                return frame.get("code")
    return "silent"


def main(wallets):
    fills = Fills(wallets, int(time.time() * 1000) - 60_000)
    while True:
        try:
            why = follow(fills)
        except websocket.WebSocketBadStatusException as error:
            why = error.status_code
        except (OSError, http.client.HTTPException, websocket.WebSocketException) as error:
            why = error
        if why in FINAL:
            sys.exit(f"the gateway rejected the connection: {why}")
        print(f"reconnecting: {why}", file=sys.stderr)
        time.sleep(random.uniform(1, 3))


if __name__ == "__main__":
    if len(sys.argv) < 2 or not URL or not KEY:
        sys.exit("Usage: WEIR_URL=<url> WEIR_KEY=<key> python3 examples/fills.py ADDRESS...")
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        pass
