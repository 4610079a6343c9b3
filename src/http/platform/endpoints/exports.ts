// History files of a chain: price of a range, signed links and checksums. Invariant: links are charged once, when
// created, for exactly the linked files; downloads are free.

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
import { inGroups } from '../../../core/digit-groups.ts'
import { err, ok } from '../../../core/result.ts'
import { MINUTE_MS } from '../../../core/time.ts'
import { ONE_CREDIT } from '../../../metering/tariff.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
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

const SUMS = { objects: Objects, bytes: Bytes, credits: CreditsText.describe('Price of the links') }

const Cost = z
  .object({
    from_ms: UnixMs.describe('Start of the range, Unix milliseconds'),
    to_ms: UnixMs.describe('End of the range, inclusive, Unix milliseconds'),
    ...SUMS,
    replay_minutes: z
      .int()
      .describe(
        'Maximum number of data minutes in a replay of the range; each costs the per-minute price of the channel',
      ),
    by_product: z.array(z.object({ product: FileProduct, ...SUMS })).describe('Files and price by product'),
  })
  .meta({ id: 'HistoryCost' })

const historyCost = defineEndpoint({
  id: 'historyCost',
  route: 'GET /v1/{chain}/history/cost',
  summary: 'Estimate the price of an export or replay',
  description: `Free of charge. The range can cover up to 92 days and includes the files whose first block lies in it. Links cost ${FILE_PRICE}. Files that are archived after this estimate add to the price. The price of \`POST /info\` does not depend on the range.`,
  auth: 'key',
  product: 'data',
  params: CHAIN_PARAMS,
  query: z.strictObject({ ...WINDOW, ...PRODUCTS }),
  responses: okResponse('The current price', Cost, {
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
    key: z.string().describe('File name'),
    bytes: Bytes,
    sha256: z.string().describe('SHA-256 of the file, in hex'),
    ...SPAN,
    link: z.string().describe('Download path on the gateway, without a key'),
  })
  .meta({ id: 'HistoryFile' })

const FILES_QUERY = z.strictObject({
  ...WINDOW,
  ...PRODUCTS,
  after: z.string().optional().describe('Value of `next` from the previous page'),
  limit: limitOf(1_000, 100),
})

/** A page of files with signed links, and the price of the links. */
async function linkedFiles(chain: string, query: z.infer<typeof FILES_QUERY>, platform: Platform) {
  const history = historyOf(chain, platform)
  if (!history.ok) return history
  const { sign } = history.value
  if (sign === null)
    return err({
      kind: 'unavailable',
      what: 'Links cannot be signed because the operator has not set KEY_SECRET',
    } as const)
  const range = rangeOf(query, platform.now(), true)
  if (!range.ok) return range
  const sources = sourcesOf(query.products, history.value.sources)
  if (!sources.ok) return sources
  const after = query.after === undefined ? null : readCursor(query.after, sources.value, range.value)
  if (query.after !== undefined && after === null)
    return err(badField('after', 'must be "next" from the previous page, with the same range and products'))
  const { files, next } = await filePage(sources.value, range.value, after, query.limit)
  const expires = platform.now() + LINK_MS
  const signing = files.map(async ({ product, key, bytes, sha256, first, last, firstMs, lastMs }) => ({
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
  const price = filesPrice({ objects: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) })
  return ok({ files: await Promise.all(signing), expires_ms: expires, next, price })
}

const KEY = 'archive/hyperliquid/2026-11-21/000925000000-000925000869.events.gz'

const PAGE = {
  files: z.array(File).describe('Files in order'),
  expires_ms: UnixMs.describe('Expiry of the links, Unix milliseconds'),
  next: NEXT,
}
const PAGE_EXAMPLE = {
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
}

const historyFiles = defineEndpoint({
  id: 'historyFiles',
  route: 'GET /v1/{chain}/history/files',
  summary: 'List the history files of a range, with signed links',
  description:
    'Lists the files whose first block lies in the range, sorted by product and time; `schemas/storage.md` describes their content. A link is valid for an hour and can be fetched repeatedly, including in parts (`Range`). For the current hour, there is a Parquet file for each minute. These are later replaced with one file for the hour, and the files of all hours with one file for the day. A file replaces all files of its product whose heights it covers. If you drop the replaced files, each row appears once, even if files were merged between two pages. A trade has two fill rows, one per side. If `next` is not null, request the next page with the same range and `after` = `next`.',
  auth: 'key',
  product: 'data',
  priceText: FILE_PRICE,
  params: CHAIN_PARAMS,
  query: FILES_QUERY,
  responses: okResponse(
    'A page of files',
    z.object({ ...PAGE, credits: CreditsText.describe('Price of these links') }),
    { ...PAGE_EXAMPLE, credits: '0.61267' },
  ),
  handle: async ({ params: { chain }, query }, platform) => {
    const page = await linkedFiles(chain, query, platform)
    if (!page.ok) return page
    const { price, ...body } = page.value
    return reply(200, { ...body, credits: formatCredits(price) }, { price })
  },
})

const ownHistoryFiles = defineEndpoint({
  id: 'ownHistoryFiles',
  route: 'GET /admin/history/files',
  summary: 'List the history files of a range, with signed links',
  description: 'Like `GET /v1/{chain}/history/files`, but free of charge.',
  role: 'owner',
  query: FILES_QUERY,
  responses: okResponse('A page of files', z.object(PAGE), PAGE_EXAMPLE),
  handle: async ({ query }, platform) => {
    const page = await linkedFiles(platform.chain, query, platform)
    if (!page.ok) return page
    const { price: _, ...body } = page.value
    return reply(200, body)
  },
})

/** A normal day has about 3,000 files, but a wrong clock could produce many more. */
const MAX_FILES = 20_000

const historySums = defineEndpoint({
  id: 'historySums',
  route: 'GET /v1/{chain}/history/SHA256SUMS',
  summary: 'Get the SHA-256 checksums of a UTC day',
  description: 'Returns text for `sha256sum --check`, with one line for each file whose first block is on that day.',
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
    const { files, next } = await filePage(history.value.sources, range.value, null, MAX_FILES)
    if (next !== null)
      return err(badField('day', `has more than ${inGroups(MAX_FILES)} files. List them page by page instead`))
    return reply(200, checksumsText(files))
  },
})

export const EXPORTS = [historyCost, historyFiles, ownHistoryFiles, historySums]
