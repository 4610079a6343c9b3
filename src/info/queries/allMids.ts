// allMids: the middle of every book of one DEX, from our own books, at most a second old. The main DEX comes with spot
// and outcomes, as on the exchange. A coin without two sides is shown at its last trade, and not at all before one.

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
  summary: 'The middle price of every coin of a DEX',
  example: { request: {}, response: { BTC: '81306.5', '@107': '31.25' } },
  request: z.object({ type: z.literal('allMids'), dex: Dex }),
  response: z.record(z.string(), Decimal),
  freshness: { class: 'block', freshMs: 1_000 },
  needs: ['books'],
  resolve: async ({ dex }, { books }) => {
    const answer = await books.tops()
    if (!answer.ok) return answer
    const { tops, height } = answer.value
    // A DEX is known by its coins: without an upstream nothing else tells.
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
