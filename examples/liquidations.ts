// Prints liquidations above a given amount in dollars, and reports when an alert may have been missed.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/liquidations.ts 10000

import { Big } from 'big.js'
// In your own project, import from '@weir/client'.
import { createClient } from '../src/client/create-client.client.ts'

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const least = Number(process.argv[2])
if (!url || !key || !(least >= 0) || process.argv.length > 3) {
  console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/liquidations.ts DOLLARS')
  process.exit(1)
}

const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
const client = createClient({ url, key, signal: ended.signal })

client.on({ type: 'liquidationFills' }, (event) => {
  if (event.type === 'live') console.log('watching')
  if (event.type === 'gap')
    console.log(`liquidations may be missing since block ${event.gap.from ?? '?'}: ${event.gap.reason}`)
  if (event.type === 'end' && event.end.code !== 'aborted') {
    console.error(event.end.message)
    process.exitCode = 1
  }
  if (event.type !== 'data') return
  for (const [user, { coin, px, sz, side, liquidation }] of event.frame.fills) {
    const dollars = new Big(px).times(sz)
    // Both sides of the trade arrive: the liquidated user, and the user who took over the position.
    if (dollars.lt(least) || liquidation?.liquidatedUser?.toLowerCase() !== user) continue
    console.log(`${user} ${side === 'A' ? 'long' : 'short'} ${sz} ${coin} at ${px}: ${dollars.toFixed(0)} dollars`)
  }
})
