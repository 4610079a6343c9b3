// Lists of rejected requests, for the operator and for the account.

import * as z from 'zod'
import { AccountId, KeyHash } from '../../../core/ids.ts'
import { HOUR_MS } from '../../../core/time.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, pageOf, UnixMs, withoutNumber } from '../fields.ts'
import type { Platform } from '../platform-api.ts'

export const RefusalRow = z
  .object({
    at: UnixMs.describe('Time, Unix milliseconds'),
    request_id: z.string().describe('Request id of the response; empty for socket frames'),
    account: AccountId,
    prefix: z.string().describe('First 12 characters of the key'),
    product: z.string().describe('Product'),
    type: z
      .string()
      .describe('Type, method, channel or endpoint; empty if the request was rejected before this was read'),
    code: z.string().describe('Error code'),
    message: z.string().describe('Error message, truncated'),
  })
  .meta({ id: 'Refused' })

const StoredRefusal = RefusalRow.omit({ prefix: true }).extend({ number: z.int(), key_hash: KeyHash })

/** Rejected requests, selected by the rest of the statement, with the prefixes of their keys. */
export async function refusalRows(
  { usageRows, keys }: Pick<Platform, 'usageRows' | 'keys'>,
  rest: string,
  ...values: readonly unknown[]
): Promise<(z.infer<typeof RefusalRow> & { readonly number: number })[]> {
  const select = `SELECT number, at, request_id, account, key_hash, product, type, code, message FROM refusals ${rest}`
  const stored = await usageRows(StoredRefusal, select, ...values)
  const names = await keys.namesByHash([...new Set(stored.map(({ key_hash: hash }) => hash))])
  return stored.map(({ key_hash: hash, ...row }) => ({ ...row, prefix: names.get(hash)?.prefix ?? '' }))
}

const listRefusals = defineEndpoint({
  id: 'listRefusals',
  route: 'GET /admin/refusals',
  summary: 'List rejected requests that had a key, newest first',
  description:
    'The list lags by a few seconds. It keeps the newest 500 rejections per account, and only a sample of each burst. `GET /admin/business` counts all rejections.',
  query: z.strictObject({
    account: AccountId.optional().describe('Only rejections of this account'),
    code: z.string().max(64).optional().describe('Only this error code'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of rejected requests',
    z.object({ refusals: z.array(RefusalRow).describe('Rejected requests, newest first'), next: Next }),
  ),
  handle: async ({ query: { account, code, before, limit } }, platform) => {
    const rest = `WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR code = ?2)
      AND (?3 IS NULL OR number < ?3) ORDER BY number DESC LIMIT ?4`
    const { rows, next } = pageOf(await refusalRows(platform, rest, account, code, before, limit + 1), limit)
    return reply(200, { refusals: rows.map(withoutNumber), next })
  },
})

const LISTED_MAX = 50

const CodeCount = z.object({ code: z.string().describe('Error code'), count: z.int().describe('Number of rejections') })
/** Uses the index on the account. */
export const COUNTS_SINCE = `SELECT code, sum(count) AS count FROM refusal_counts WHERE hour >= ? AND account = ?
  GROUP BY code ORDER BY count DESC, code`

const OwnRefusalRow = RefusalRow.omit({ account: true }).meta({ id: 'RefusedCall' })

const ownRefusals = defineEndpoint({
  id: 'ownRefusals',
  route: 'GET /platform/refusals/',
  summary: 'List the account’s rejected requests and count them by code',
  description: `${READ_ACCESS_TEXT} The list lags by a few seconds. Bursts are counted but only partly listed. Rejections of unknown keys are not included.`,
  auth: 'key',
  query: z.strictObject({
    limit: wholeNumber(1, LISTED_MAX).default(LISTED_MAX).describe('Maximum rows, up to 50; default 50'),
    hours: wholeNumber(1, 24 * 90)
      .default(24)
      .describe('Hours covered by `counts`, up to 2,160; default 24'),
  }),
  responses: okResponse(
    'The rejected requests',
    z.object({
      refusals: z.array(OwnRefusalRow).describe('Rejected requests, newest first'),
      since: UnixMs.describe('Start of the first hour of `counts`, Unix milliseconds'),
      counts: z.array(CodeCount).describe('Number of all rejections by code, most frequent first'),
    }),
    { since: 1789916400000 },
  ),
  handle: async ({ query: { limit, hours }, identity: { account } }, platform) => {
    const nowMs = platform.now()
    const since = nowMs - (nowMs % HOUR_MS) - (hours - 1) * HOUR_MS
    const [refusals, counts] = await Promise.all([
      refusalRows(platform, 'WHERE account = ? ORDER BY at DESC, number DESC LIMIT ?', account, limit),
      platform.usageRows(CodeCount, COUNTS_SINCE, since, account),
    ])
    const own = refusals.map(({ number: _, account: __, ...row }) => row)
    return reply(200, { refusals: own, since, counts })
  },
})

export const REFUSALS = [ownRefusals, listRefusals]
