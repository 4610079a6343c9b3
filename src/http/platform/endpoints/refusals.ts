// What callers of an account were refused, for the operator and for the account.

import * as z from 'zod'
import { AccountId } from '../../../core/ids.ts'
import { HOUR_MS } from '../../../core/time.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, pageOf, UnixMs, withoutNumber } from '../fields.ts'

export const RefusalRow = z
  .object({
    at: UnixMs.describe('When, Unix milliseconds'),
    request_id: z.string().describe('As its reply had it; empty of a frame on a socket'),
    account: AccountId,
    prefix: z.string().describe('The key’s first twelve characters'),
    product: z.string().describe('What was asked'),
    type: z.string().describe('The type, method, channel or endpoint; empty where that was not read'),
    code: z.string().describe('As on the wire'),
    message: z.string().describe('The sentence that the caller was told, cut short'),
  })
  .meta({ id: 'Refused' })

/** To be ended with which of them, in what order. */
export const REFUSAL_ROWS =
  'SELECT number, at, request_id, account, key_prefix AS prefix, product, type, code, message FROM refusals'

const listRefusals = defineEndpoint({
  id: 'listRefusals',
  route: 'GET /admin/refusals',
  summary: 'What callers with a key were refused, newest first',
  description:
    'Some seconds late; the newest 500 of each account, and of many at once some: `business` counts them all.',
  query: z.strictObject({
    account: AccountId.optional().describe('Of this account alone'),
    code: z.string().max(64).optional().describe('Of this code alone'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of refusals',
    z.object({ refusals: z.array(RefusalRow).describe('Newest first'), next: Next }),
  ),
  handle: async ({ query: { account, code, before, limit } }, platform) => {
    const select = `${REFUSAL_ROWS} WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR code = ?2)
      AND (?3 IS NULL OR number < ?3) ORDER BY number DESC LIMIT ?4`
    const Row = RefusalRow.extend({ number: z.int() })
    const { rows, next } = pageOf(await platform.rows(Row, select, account, code, before, limit + 1), limit)
    return reply(200, { refusals: rows.map(withoutNumber), next })
  },
})

const LISTED_MAX = 50

const CodeCount = z.object({ code: z.string().describe('As on the wire'), count: z.int().describe('How many') })
/** Reads the rows of the account alone. */
export const COUNTS_SINCE = `SELECT code, sum(count) AS count FROM refusal_counts WHERE hour >= ? AND account = ?
  GROUP BY code ORDER BY count DESC, code`

const OwnRefusalRow = RefusalRow.omit({ account: true }).meta({ id: 'RefusedCall' })

const ownRefusals = defineEndpoint({
  id: 'ownRefusals',
  route: 'GET /platform/refusals/',
  summary: 'The last refusals of the account’s keys, and how many there were of each kind',
  description:
    `${READ_ACCESS_TEXT} Some seconds late. Of many at once some are counted and not listed. A key that is not known is ` +
    'nobody’s, and its refusal is in no list.',
  auth: 'key',
  query: z.strictObject({
    limit: wholeNumber(1, LISTED_MAX).default(LISTED_MAX).describe('At most so many, up to 50; 50 unless said'),
    hours: wholeNumber(1, 24 * 90)
      .default(24)
      .describe('Hours that `counts` look back, up to 2,160; 24 unless said'),
  }),
  responses: okResponse(
    'The refusals',
    z.object({
      refusals: z.array(OwnRefusalRow).describe('Newest first'),
      since: UnixMs.describe('Start of the first hour of `counts`, Unix milliseconds'),
      counts: z.array(CodeCount).describe('Of all, listed or not, the most first'),
    }),
    { since: 1789916400000 },
  ),
  handle: async ({ query: { limit, hours }, identity: { account } }, { rows, now }) => {
    const nowMs = now()
    const since = nowMs - (nowMs % HOUR_MS) - (hours - 1) * HOUR_MS
    const [refusals, counts] = await Promise.all([
      rows(OwnRefusalRow, `${REFUSAL_ROWS} WHERE account = ? ORDER BY at DESC, number DESC LIMIT ?`, account, limit),
      rows(CodeCount, COUNTS_SINCE, since, account),
    ])
    return reply(200, { refusals, since, counts })
  },
})

export const REFUSALS = [ownRefusals, listRefusals]
