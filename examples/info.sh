#!/bin/sh
# Sends three requests with curl: for the best levels of a book, the key's remaining credits, and the gateway's status.
# Run with WEIR_URL and WEIR_KEY set: sh examples/info.sh BTC
set -eu
: "${WEIR_URL:?set WEIR_URL to the address of a gateway}"
: "${WEIR_KEY:?set WEIR_KEY to an API key}"
coin=${1:-BTC}

# With --fail-with-body, an HTTP error also ends this script, and its message is printed.
get() {
  curl --silent --show-error --fail-with-body --max-time 10 "$@"
  echo
}

get "$WEIR_URL/info" -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' \
  --data "{\"type\":\"l2Book\",\"coin\":\"$coin\"}"
get "$WEIR_URL/platform/key/" -H "Authorization: Bearer $WEIR_KEY"
get "$WEIR_URL/status"
