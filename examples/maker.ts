// Quotes one coin only while its book is verified. It places a bid and an ask around the size-weighted mid price, and cancels
// both when the book is out of sync or has not changed for a while. It does not trade. A real bot would
// send its orders in `quote` and `pull`.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/maker.ts BTC

import { Big } from 'big.js'
// In your own project, import from '@weir/client' and '@weir/client/books'.
import { openBooks } from '../src/client/books.client.ts'
import { createClient } from '../src/client/create-client.client.ts'

const HALF_SPREAD_BP = 5
/** A quiet market cannot be distinguished from a broken connection. */
const QUIET_MS = 5_000

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const [coin, ...more] = process.argv.slice(2)
if (!url || !key || !coin || more.length > 0) {
  console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/maker.ts COIN')
  process.exit(1)
}

let quoted = ''
const quote = (text: string) => {
  if (text !== quoted) console.log(text)
  quoted = text
}
const pull = (why: string) => quote(`pull: ${why}`)

let quiet: ReturnType<typeof setTimeout> | undefined
const touch = () => {
  clearTimeout(quiet)
  quiet = setTimeout(() => pull(`no update for ${QUIET_MS / 1_000} s`), QUIET_MS)
}

const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
const client = createClient({ url, key, signal: ended.signal })

for await (const event of openBooks(client, coin)) {
  if (event.type === 'step' && event.step !== 'in step') pull(event.why || event.step)
  else if (event.type === 'unknown') pull(`unknown coin: ${coin}`)
  else if (event.type === 'end') {
    pull(event.end.message)
    if (!['closed', 'aborted'].includes(event.end.code)) process.exitCode = 1
  } else if (event.type === 'book') {
    touch()
    const [[bid], [ask]] = event.book.levels(1)
    if (!bid || !ask) {
      pull('one side is empty')
      continue
    }
    // Closer to the thinner side, because the price tends to move there next.
    const fair = new Big(bid.px).times(ask.sz).plus(new Big(ask.px).times(bid.sz)).div(new Big(bid.sz).plus(ask.sz))
    const edge = fair.times(HALF_SPREAD_BP).div(10_000)
    quote(`quote: ${fair.minus(edge).toPrecision(5)} ${fair.plus(edge).toPrecision(5)} at ${event.book.height}`)
  }
}
clearTimeout(quiet)
client.close()
