"""Reads a list with the Python client and prints the pages."""

import json
import sys

import weir

url, key, type, fields = sys.argv[1:]
with weir.Client(url, key) as client:
    print(json.dumps([page.data for page in client.history(type, **json.loads(fields))]))
