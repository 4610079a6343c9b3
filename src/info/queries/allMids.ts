// allMids: mid price of every coin of a DEX, from our own order books, at most a second old. The main DEX includes spot
// and outcomes, as on the exchange. A coin without bids or asks shows its last trade price; if it never traded, it is
// omitted.

import * as z from 'zod'
import { dexOf } from '../../core/coin.ts'
import { err } from '../../core/result.ts'
import { unknownDex } from '../../core/unknown-dex.ts'
import { midOf, midsText } from '../../order-books/mids.ts'
import type { TopOfBook } from '../../protocol/hub/hub-api.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { Dex } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'

export const allMids = defineQuery({
  type: 'allMids',
  summary: 'Mid price of every coin of a DEX',
  example: { request: {}, response: { BTC: '81306.5', '@107': '31.25' } },
  request: z.object({ type: z.literal('allMids'), dex: Dex }),
  response: () => z.record(z.string(), Decimal),
  freshness: { class: 'block', freshMs: 1_000 },
  needs: ['books'],
  resolve: async ({ dex }, { books }) => {
    const result = await books.tops()
    if (!result.ok) return result
    const { tops, height } = result.value
    // DEXes are recognized by their coins, because there may be no upstream.
    if (dex !== undefined && !tops.some(({ coin }) => dexOf(coin) === dex))
      return err(unknownDex(dex, [...new Set(tops.map(({ coin }) => dexOf(coin)))]))
    return { ok: true, value: { body: midsOf(tops, dex ?? ''), height } }
  },
})

function midsOf(tops: readonly TopOfBook[], dex: string): string {
  const known = tops.filter(({ coin }) => dexOf(coin) === dex)
  return midsText(
    known.flatMap(({ coin, bidPx, askPx, lastPx }): [string, string][] => {
      const mid = midOf(bidPx, askPx, lastPx)
      return mid === null ? [] : [[coin, mid]]
    }),
  )
}
