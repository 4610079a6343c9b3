// Files of a chain's history: what a range costs, links that expire, and checksums. Invariant: what is charged is the sum of
// what is linked, once, when the links are made; fetching costs nothing.

import * as z from 'zod'
import { LINK_MS } from '../../../archive/exports/file-links.ts'
import {
  checksumsText,
  FILE_PRICE,
  filePage,
  filesPrice,
  readCursor,
  totalsOf,
} from '../../../archive/exports/file-list.ts'
import { formatCredits } from '../../../core/amount.ts'
import { err } from '../../../core/result.ts'
import { MINUTE_MS } from '../../../core/time.ts'
import { ONE_CREDIT } from '../../../metering/tariff.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import { badField } from '../refusal.ts'
import { Day } from '../usage-window.ts'
import {
  Bytes,
  CHAIN_PARAMS,
  FileProduct,
  historyOf,
  limitOf,
  NEXT,
  Objects,
  PRODUCTS,
  rangeOf,
  SPAN,
  sourcesOf,
  WINDOW,
} from './history.ts'

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

const historyCost = defineEndpoint({
  id: 'historyCost',
  route: 'GET /v1/{chain}/history/cost',
  summary: 'What an export or a replay of a range would cost',
  description:
    `Free of charge. A range has the files whose first blocks lie in it, at most 92 days of them. Links cost ${FILE_PRICE}; ` +
    'what is archived meanwhile is added. A question to `POST /info` costs what its type says, whatever its range.',
  auth: 'key',
  product: 'data',
  params: CHAIN_PARAMS,
  query: z.strictObject({ ...WINDOW, ...PRODUCTS }),
  responses: okResponse('What it would cost now', Cost, {
    to_ms: 1790003599999,
    credits: '36.06',
    replay_minutes: 60,
    by_product: [{ product: 'events', credits: '36.06' }],
  }),
  handle: async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const range = rangeOf(query, platform.now(), true)
    if (!range.ok) return range
    const sources = sourcesOf(query.products, history.value.sources)
    if (!sources.ok) return sources
    const { fromMs, toMs } = range.value
    const sums = await Promise.all(
      sources.value.map(async (source) => ({ product: source.product, ...(await source.totals(range.value)) })),
    )
    const all = totalsOf(sums)
    const body = {
      from_ms: fromMs,
      to_ms: toMs,
      ...all,
      credits: formatCredits(filesPrice(all)),
      replay_minutes: Math.floor((toMs - fromMs) / MINUTE_MS) + 1,
      by_product: sums.map((sum) => ({ ...sum, credits: formatCredits(filesPrice(sum)) })),
    }
    return reply(200, body)
  },
})

const File = z
  .object({
    product: FileProduct,
    key: z.string().describe('Its name'),
    bytes: Bytes,
    sha256: z.string().describe('SHA-256 of these bytes, hex'),
    ...SPAN,
    link: z.string().describe('Where to fetch it, from the root of the gateway on, without a key'),
  })
  .meta({ id: 'HistoryFile' })

const KEY = 'archive/hyperliquid/2026-11-21/000925000000-000925000869.events.gz'

const historyFiles = defineEndpoint({
  id: 'historyFiles',
  route: 'GET /v1/{chain}/history/files',
  summary: 'Files of a range, with links that expire',
  description:
    'Files whose first blocks lie in the range, product after product, in order of time; what is in them: ' +
    '`schemas/storage.md`. Links hold for an hour and may be fetched again and again, in parts too (`Range`). ' +
    'Parquet comes a file a minute while the hour is running; its hour, and then its day, replace it. A file replaces ' +
    'those of its product whose heights it holds: without those that are replaced each row is there once, whatever ' +
    'happened between two pages. A trade is two rows of fills, one for each side. ' +
    'Where `next` is not null there are more: ask again with the same range and `after` = `next`.',
  auth: 'key',
  product: 'data',
  priceText: FILE_PRICE,
  params: CHAIN_PARAMS,
  query: z.strictObject({
    ...WINDOW,
    ...PRODUCTS,
    after: z.string().optional().describe('`next` of the page before'),
    limit: limitOf(1_000, 100),
  }),
  responses: okResponse(
    'A page of files',
    z.object({
      files: z.array(File).describe('In order'),
      expires_ms: UnixMs.describe('When the links end, Unix milliseconds'),
      credits: CreditsText.describe('What these links cost'),
      next: NEXT,
    }),
    {
      files: [
        {
          product: 'events',
          key: KEY,
          bytes: 611670,
          sha256: 'a1'.repeat(32),
          to_height: 925000869,
          to_ms: 1790000059931,
          link: `/v1/hyperliquid/history/files/${KEY}?expires=1790003600000&sig=${'x'.repeat(43)}`,
        },
      ],
      expires_ms: 1790003600000,
      credits: '0.61267',
    },
  ),
  handle: async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const { sign } = history.value
    if (sign === null)
      return err({ kind: 'unavailable', what: 'No link can be signed: the operator has set no KEY_SECRET' })
    const range = rangeOf(query, platform.now(), true)
    if (!range.ok) return range
    const sources = sourcesOf(query.products, history.value.sources)
    if (!sources.ok) return sources
    const after = query.after === undefined ? null : readCursor(query.after, sources.value, range.value)
    if (query.after !== undefined && after === null)
      return err(badField('after', 'must be "next" of the page before, of the same range and products'))
    const { files, next } = await filePage(sources.value, range.value, after, query.limit)
    const expires = platform.now() + LINK_MS
    const showing = files.map(async ({ product, key, bytes, sha256, first, last, firstMs, lastMs }) => ({
      product,
      key,
      bytes,
      sha256,
      from_height: first,
      to_height: last,
      from_ms: firstMs,
      to_ms: lastMs,
      link: await sign({ chain, key, expires }),
    }))
    const shown = await Promise.all(showing)
    const price = filesPrice({ objects: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) })
    return reply(200, { files: shown, expires_ms: expires, credits: formatCredits(price), next }, { price })
  },
})

/** A day has some 3,000; where a clock is wrong, any number. */
const FILES_MOST = 20_000

const historySums = defineEndpoint({
  id: 'historySums',
  route: 'GET /v1/{chain}/history/SHA256SUMS',
  summary: 'SHA-256 of every file of a UTC day',
  description:
    'As text that `sha256sum --check` reads: a line for each file whose first block is of the day, with its name.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: CHAIN_PARAMS,
  query: z.strictObject({ day: Day }),
  responses: okResponse(
    'A line for each file',
    z.string(),
    `${'a1'.repeat(32)}  archive/hyperliquid/2026-11-21/000925000000-000925000869.events.gz\n`,
  ),
  handle: async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const range = rangeOf(query, 0, true)
    if (!range.ok) return range
    const { files, next } = await filePage(history.value.sources, range.value, null, FILES_MOST)
    if (next !== null) return err(badField('day', `has more than ${FILES_MOST} files: list them page by page`))
    return reply(200, checksumsText(files))
  },
})

export const EXPORTS = [historyCost, historyFiles, historySums]
