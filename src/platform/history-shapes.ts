// What endpoints of a chain's history share: which chain, which range of time, and files as answers show them.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { DAY_MS } from '../core/time.ts'
import { wholeNumber } from '../core/whole-number.ts'
import type { Exports } from '../history/exports/exports-api.ts'
import type { FileSource, TimeRange } from '../history/exports/listed-files.ts'
import { UnixMs } from './fields.ts'
import type { Platform } from './platform-api.ts'
import { badField } from './refusal.ts'
import { Day, startOf } from './usage-window.ts'

/** Rows of one question: some 130,000 minutes. */
const WINDOW_DAYS = 92
const SHOWN_DAYS = 31
/** The last millisecond of the year 9999. */
const LAST_MS = 253_402_300_799_999
/** How much of a name is said back. */
const NAME_MAX_LENGTH = 32

export const CHAIN_PARAMS = { chain: z.string().describe('Name of the chain, such as `hyperliquid`') }
export const CHAIN_EXAMPLE = 'hyperliquid'

export const NO_ARCHIVE: Failure = { kind: 'not_found', what: 'This archive', hint: 'This gateway has no archive.' }

/** The refusal of a chain that is not the gateway's own. */
export function noChain(chain: string, platform: Platform): Failure {
  const [asked, own] = [chain.slice(0, NAME_MAX_LENGTH), platform.chain].map((name) => JSON.stringify(name))
  const hint = `The chain ${asked} does not exist here: this gateway has ${own}.`
  return { kind: 'not_found', what: 'This chain', hint }
}

/** The history of this chain, or why there is none. */
export function historyOf(chain: string, platform: Platform): Result<Exports, Failure> {
  if (chain !== platform.chain) return err(noChain(chain, platform))
  return platform.exports ? ok(platform.exports) : err(NO_ARCHIVE)
}

const PRODUCT_NAMES =
  '`events`, `books`, `checkpoints`, and as Parquet `fills_by_user`, `fills_by_time` (two rows a trade, one for each side), `ledger_by_user`, `candles_by_coin`, `funding_by_user`'
export const FileProduct = z.string().describe(`One of ${PRODUCT_NAMES}`)
export const Height = z.int().describe('Height of a block')
export const Bytes = z.int().describe('Bytes as they are stored, compressed')
export const Objects = z.int().describe('Files')
export const NEXT = z.string().nullable().describe('Where the next page begins; null: this is the last one')

const Moment = wholeNumber(0, LAST_MS)

export const WINDOW = {
  day: Day.optional().describe('A UTC day; goes without `from` and `to`'),
  from: Moment.optional().describe('Unix milliseconds, included'),
  to: Moment.optional().describe('Unix milliseconds, included; now unless said'),
}

export const PRODUCTS = {
  products: z.string().optional().describe(`Some of ${PRODUCT_NAMES}, with commas between; all unless said`),
}

/** A number of rows of a page. */
export const limitOf = (most: number, usual: number) =>
  wholeNumber(1, most).default(usual).describe(`At most so many, up to ${most}; ${usual} unless said`)

interface Asked {
  readonly day?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** The range that is asked for; `isNeeded`: nothing is taken for it where none is said, else it is the last month. */
export function rangeOf({ day, from, to }: Asked, nowMs: number, isNeeded: boolean): Result<TimeRange, Failure> {
  if (day !== undefined) {
    if (from !== undefined || to !== undefined) return err(badField('day', 'goes without "from" and "to"'))
    return ok({ fromMs: startOf(day), toMs: startOf(day) + DAY_MS - 1 })
  }
  const toMs = to ?? nowMs
  if (from === undefined && isNeeded) return err(badField('from', 'is required where no "day" is said'))
  const fromMs = from ?? Math.max(0, Math.floor(toMs / DAY_MS) - SHOWN_DAYS + 1) * DAY_MS
  if (fromMs > toMs) return err(badField('from', `must not be after ${to === undefined ? 'now' : '"to"'}`))
  if (toMs - fromMs >= WINDOW_DAYS * DAY_MS) return err(badField('from', `must be within ${WINDOW_DAYS} days of "to"`))
  return ok({ fromMs, toMs })
}

/** Those of the products that are asked for, in their own order. */
export function sourcesOf(
  products: string | undefined,
  sources: readonly FileSource[],
): Result<readonly FileSource[], Failure> {
  if (products === undefined) return ok(sources)
  const asked = products.split(',')
  const names = sources.map(({ product }) => product)
  if (!asked.every((name) => names.includes(name)))
    return err(badField('products', `must be some of ${names.join(', ')}, with commas between`))
  return ok(sources.filter(({ product }) => asked.includes(product)))
}

/** First and last block of something. */
export const SPAN = {
  from_height: Height.describe('Its first block'),
  to_height: Height.describe('Its last block'),
  from_ms: UnixMs.describe('Time of its first block, Unix milliseconds'),
  to_ms: UnixMs.describe('Time of its last block, Unix milliseconds'),
}
