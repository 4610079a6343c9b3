"""Prints the mid and spread of coins once a second, with the exchange's public Python SDK, unmodified.

Written for hyperliquid-python-sdk 0.23.0 (pip install hyperliquid-python-sdk==0.23.0), whose `Info` accepts a base URL
but no headers. The key is therefore part of the path, and the gateway needs PATH_KEYS=on (as in `npm start`).

Run with WEIR_URL and WEIR_KEY set: python3 examples/mids.py BTC ETH
"""

import os
import sys
import time
from decimal import Decimal


def spread_of(book):
    """Returns the exact mid and spread of an l2Book response. None if a side is empty."""
    bids, asks = book["levels"]
    if not bids or not asks:
        return None
    bid, ask = Decimal(bids[0]["px"]), Decimal(asks[0]["px"])
    return (bid + ask) / 2, ask - bid


def main(coins):
    from hyperliquid.info import Info
    from hyperliquid.utils.error import ClientError, ServerError

    # The program needs no socket. The constructor requests `spotMeta` and `meta`.
    info = Info(f"{os.environ['WEIR_URL']}/k/{os.environ['WEIR_KEY']}", skip_ws=True)
    pause = 1.0
    while True:
        try:
            for coin in coins:
                found = spread_of(info.l2_snapshot(coin))
                if found:
                    print(f"{coin} mid {found[0]} spread {found[1]}", flush=True)
            pause = 1.0
        except ClientError as error:
            # A retry can fix 429, but not an invalid key or missing credits.
            if error.status_code != 429:
                sys.exit(f"the gateway rejected the request: {error.error_message}")
            pause = min(pause * 2, 30)
        except KeyError as coin:
            sys.exit(f"unknown coin: {coin}")
        except ServerError as error:
            print(f"{error.status_code}: retrying in {pause} s", file=sys.stderr)
            pause = min(pause * 2, 30)
        time.sleep(pause)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not {"WEIR_URL", "WEIR_KEY"} <= os.environ.keys():
        sys.exit("Usage: WEIR_URL=<url> WEIR_KEY=<key> python3 examples/mids.py COIN...")
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        pass
