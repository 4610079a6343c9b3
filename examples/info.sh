#!/bin/sh
# Three questions with curl: the best levels of a book, what the key has left, and how fresh everything is.
# Run with WEIR_URL and WEIR_KEY set: sh examples/info.sh BTC
set -eu
: "${WEIR_URL:?set WEIR_URL to the address of a gateway}"
: "${WEIR_KEY:?set WEIR_KEY to an API key}"
coin=${1:-BTC}

# --fail-with-body: a refusal is an error of this script too, and its words are printed.
ask() {
  curl --silent --show-error --fail-with-body --max-time 10 "$@"
  echo
}

ask "$WEIR_URL/info" -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' \
  --data "{\"type\":\"l2Book\",\"coin\":\"$coin\"}"
ask "$WEIR_URL/platform/key/" -H "Authorization: Bearer $WEIR_KEY"
ask "$WEIR_URL/status"
