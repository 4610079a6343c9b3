"""Runs the public Python SDK: calls methods, subscribes, and prints as its last line what failed, by name.

Reads from standard input {"url", "seconds", "methods": {name: [argument]}, "channels": {type: [body]}}. Of a channel one
frame has to come, for any of its bodies.
"""

import json
import logging
import os
import sys
import threading
import time
import traceback
import typing

# Debian has it as a package of its own; a Python from 3.11 on has all that the SDK takes from it.
try:
    import typing_extensions  # noqa: F401
except ImportError:
    sys.modules["typing_extensions"] = typing

from hyperliquid.info import Info  # noqa: E402


class Failures(logging.Handler):
    """What websocket-client says of a frame that the SDK could not read."""

    def emit(self, record):
        failed[f"log {len(failed)}"] = record.getMessage()


failed = {}
logging.getLogger("websocket").addHandler(Failures(logging.ERROR))


def run(url, seconds, methods, channels):
    info = Info(url)
    deadline = time.monotonic() + seconds
    came = {name: threading.Event() for name in channels}
    for name, bodies in channels.items():
        for body in bodies:
            info.subscribe({"type": name, **body}, lambda _, event=came[name]: event.set())
    for name, arguments in methods.items():
        try:
            answer = getattr(info, name)(*arguments)
            if isinstance(answer, dict) and "error" in answer:
                failed[name] = answer["error"]
        except Exception as error:  # Every failure is one to tell.
            failed[name] = repr(error)
    for name, event in came.items():
        if not event.wait(max(0, deadline - time.monotonic())):
            failed[name] = "no frame"


try:
    run(**json.load(sys.stdin))
except Exception:
    failed["run"] = traceback.format_exc()
print(json.dumps(failed), flush=True)
# Threads of the SDK that wait for their next ping keep a process.
os._exit(0)
