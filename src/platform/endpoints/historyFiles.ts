// GET /v1/{chain}/history/files: files of a range with links that expire. Law: what is charged is the sum of what is linked,
// once, when the links are made; fetching costs nothing.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { formatCredits } from '../../credit/amount.ts'
import { LINK_MS } from '../../history/exports/file-links.ts'
import { FILE_PRICE, filePage, filesPrice, readCursor } from '../../history/exports/listed-files.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import {
  Bytes,
  CHAIN_PARAMS,
  FileProduct,
  historyOf,
  limitOf,
  NEXT,
  PRODUCTS,
  rangeOf,
  SPAN,
  sourcesOf,
  WINDOW,
} from '../history-shapes.ts'
import { badField } from '../refusal.ts'

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

export const historyFiles = defineEndpoint(
  {
    id: 'historyFiles',
    method: 'get',
    path: '/v1/{chain}/history/files',
    summary: 'Files of a range, with links that expire',
    description:
      'Files whose first blocks lie in the range, product after product, in order of time; what is in them: ' +
      '`schemas/storage.md`. Links hold for an hour and may be fetched again and again, in parts too (`Range`). ' +
      'Parquet comes a file a minute while the hour is running; its hour, and then its day, replace it. A file replaces ' +
      'those of its product whose heights it holds: without those that are replaced each row is there once, whatever ' +
      'happened between two pages. A trade is two rows of fills, one for each side. ' +
      'Where `next` is not null there are more: ask again with the same range and `after` = `next`.',
    door: 'key',
    product: 'data',
    priced: FILE_PRICE,
    params: CHAIN_PARAMS,
    query: z.strictObject({
      ...WINDOW,
      ...PRODUCTS,
      after: z.string().optional().describe('`next` of the page before'),
      limit: limitOf(1_000, 100),
    }),
    answers: {
      200: {
        description: 'A page of files',
        schema: enveloped(
          z.object({
            files: z.array(File).describe('In order'),
            expires_ms: UnixMs.describe('When the links end, Unix milliseconds'),
            credits: CreditsText.describe('What these links cost'),
            next: NEXT,
          }),
        ),
        example: inEnvelope({
          files: [
            {
              product: 'events',
              key: KEY,
              bytes: 611670,
              sha256: 'a1'.repeat(32),
              from_height: 925000000,
              to_height: 925000869,
              from_ms: 1790000000000,
              to_ms: 1790000059931,
              link: `/v1/hyperliquid/history/files/${KEY}?expires=1790003600000&sig=${'x'.repeat(43)}`,
            },
          ],
          expires_ms: 1790003600000,
          credits: '0.61267',
          next: null,
        }),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { chain }, query }, platform) => {
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
    const links = await Promise.all(files.map(({ key }) => sign({ chain, key, expires })))
    const shown = files.map(({ product, key, bytes, sha256, first, last, firstMs, lastMs }, at) => ({
      product,
      key,
      bytes,
      sha256,
      from_height: first,
      to_height: last,
      from_ms: firstMs,
      to_ms: lastMs,
      link: links[at]!,
    }))
    const price = filesPrice({ objects: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) })
    return reply(200, inEnvelope({ files: shown, expires_ms: expires, credits: formatCredits(price), next }), { price })
  },
)
