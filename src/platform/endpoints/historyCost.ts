// GET /v1/{chain}/history/cost: what an export of a range costs, before it is made. The sum is that of what `files` charges.

import * as z from 'zod'
import { MINUTE_MS } from '../../core/time.ts'
import { formatCredits } from '../../credit/amount.ts'
import { FILE_PRICE, filesPrice, sumOf } from '../../history/exports/listed-files.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import {
  Bytes,
  CHAIN_PARAMS,
  FileProduct,
  historyOf,
  Objects,
  PRODUCTS,
  rangeOf,
  sourcesOf,
  WINDOW,
} from '../history-shapes.ts'

const SUMS = { objects: Objects, bytes: Bytes, credits: CreditsText.describe('What links to them cost') }

const Cost = z
  .object({
    from_ms: UnixMs.describe('First moment of the range, Unix milliseconds'),
    to_ms: UnixMs.describe('Last moment of the range, Unix milliseconds'),
    ...SUMS,
    replay_minutes: z
      .int()
      .describe(
        'Minutes of data that a replay of the range tells at most; each costs what a minute of its channel costs',
      ),
    by_product: z.array(z.object({ product: FileProduct, ...SUMS })).describe('The same of each product'),
  })
  .meta({ id: 'HistoryCost' })

export const historyCost = defineEndpoint(
  {
    id: 'historyCost',
    method: 'get',
    path: '/v1/{chain}/history/cost',
    summary: 'What an export or a replay of a range would cost',
    description:
      `Free of charge. A range has the files whose first blocks lie in it, at most 92 days of them. Links cost ${FILE_PRICE}; ` +
      'what is archived meanwhile is added. A question to `POST /info` costs what its type says, whatever its range.',
    door: 'key',
    product: 'data',
    params: CHAIN_PARAMS,
    query: z.strictObject({ ...WINDOW, ...PRODUCTS }),
    answers: {
      200: {
        description: 'What it would cost now',
        schema: enveloped(Cost),
        example: inEnvelope({
          from_ms: 1790000000000,
          to_ms: 1790003599999,
          objects: 60,
          bytes: 36000000,
          credits: '36.06',
          replay_minutes: 60,
          by_product: [{ product: 'events', objects: 60, bytes: 36000000, credits: '36.06' }],
        }),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const range = rangeOf(query, platform.now(), true)
    if (!range.ok) return range
    const sources = sourcesOf(query.products, history.value.sources)
    if (!sources.ok) return sources
    const { fromMs, toMs } = range.value
    const sums = await Promise.all(sources.value.map((source) => source.sums(range.value)))
    const costs = sums.map((sum) => ({ ...sum, credits: formatCredits(filesPrice(sum)) }))
    const all = sumOf(sums)
    const body = {
      from_ms: fromMs,
      to_ms: toMs,
      ...all,
      credits: formatCredits(filesPrice(all)),
      replay_minutes: Math.floor((toMs - fromMs) / MINUTE_MS) + 1,
      by_product: sources.value.map(({ product }, at) => ({ product, ...costs[at]! })),
    }
    return reply(200, inEnvelope(body))
  },
)
