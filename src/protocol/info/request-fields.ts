// Fields of info requests. They are as lenient as SDKs need, with mixed-case addresses and explicit nulls. They also
// normalize: equivalent requests produce the same JSON, which is the cache key.

import * as z from 'zod'
import { CoinName } from '../feed/block.ts'

/** An address in any case, normalized to lower case. */
export const UserAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
  .toLowerCase()
  .describe('Address, in any letter case')

/** Any market, as the subject of a request. */
export const Market = CoinName.describe(
  'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
)

/** An optional field; an explicit null counts as absent. */
export const optional = <T extends z.ZodType>(field: T) => field.nullish().transform((value) => value ?? undefined)

/** A required DEX name; `""` is the main DEX. */
export const DexName = z
  .string()
  .max(64)
  .regex(/^[\x21-\x7e]*$/, 'must be the name of a DEX, or empty for the main one')

/** A DEX by name; the main DEX (`""`) becomes absent. */
export const Dex = DexName.nullish()
  .transform((value) => value || undefined)
  .describe('Name of the perp DEX; absent, null or empty: main DEX')

const ALL_DEXES = 'ALL_DEXES'

/** A DEX or all DEXes. `*` and `ALL_DEXES` are equivalent; both become `ALL_DEXES`. */
export const DexOrAll = Dex.transform((dex) => (dex === '*' ? ALL_DEXES : dex)).describe(
  'Name of the perp DEX; absent or empty: main DEX; `*` or `ALL_DEXES`: all, at the flat price',
)

/** True if a parsed `DexOrAll` means every DEX. */
export const isAllDexes = (dex: string | undefined) => dex === ALL_DEXES

/** A DEX; wildcards are rejected. */
export const OneDex = Dex.refine(
  (dex) => dex !== '*' && dex !== ALL_DEXES,
  'must be one DEX: wildcards are not supported here',
)

/** Name of an outcome market deployer. */
export const Venue = z.string().regex(/^[a-z]{2,4}$/, 'must be the name of a venue: 2 to 4 lower-case letters')

/** Index of a spot token, which is not its position in the list. */
export const SpotToken = z.int().min(0).describe('Spot token index, from `spotMeta`')

/** Spot token id in any case, normalized to lower case. */
export const TokenId = z
  .string()
  .regex(/^0x[0-9a-fA-F]{32}$/, 'must be a token id: 0x and 32 hex digits, as in spotMeta')
  .toLowerCase()

const INVALID_TIME = 'must be a time in Unix milliseconds'
/** A time in Unix milliseconds. */
export const Timestamp = z
  .int({ error: ({ input }) => (input === undefined ? undefined : INVALID_TIME) })
  .min(0, INVALID_TIME)
const StartTime = Timestamp.describe('Start of the window, inclusive, Unix milliseconds')
const EndTime = optional(Timestamp.describe('End of the window, inclusive, Unix milliseconds; absent: now'))

/** A flag; false counts as absent. */
export const Flag = z
  .boolean()
  .nullish()
  .transform((value) => value || undefined)

/** Fields of a time window. The start is required in `WINDOW` and optional in `ANY_WINDOW`. */
export const WINDOW = { startTime: StartTime, endTime: EndTime }
export const ANY_WINDOW = { startTime: optional(StartTime), endTime: EndTime }

interface Window {
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

/** Rejects a request whose window ends before it starts. */
export function withOrderedWindow<T extends z.ZodType<Window>>(request: T): T {
  return request.refine(({ startTime = 0, endTime = startTime }) => startTime <= endTime, {
    path: ['endTime'],
    message: 'must not be before startTime',
  })
}

const BATCH_MAX = 50
const BATCH_SIZE_MESSAGE = `must name 1 to ${BATCH_MAX} users`

/**
 * Up to 50 users, counted before duplicates are removed. The result is in lower case, without duplicates, in the order
 * in which users first appear.
 */
export const UserBatch = z
  .array(UserAddress)
  .min(1, BATCH_SIZE_MESSAGE)
  .max(BATCH_MAX, BATCH_SIZE_MESSAGE)
  .transform((users) => [...new Set(users)])
