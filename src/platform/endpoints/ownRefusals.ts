// GET /platform/refusals/: what callers of the account were refused.

import * as z from 'zod'
import { HOUR_MS } from '../../core/time.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { UnixMs } from '../fields.ts'
import { FOR_READING } from '../own-account.ts'

const MOST = 50

const Refusal = z
  .object({
    at: UnixMs.describe('When, Unix milliseconds'),
    request_id: z.string().describe('As its reply had it; empty of a frame on a socket'),
    prefix: z.string().describe('The key’s first twelve characters'),
    product: z.string().describe('What was asked'),
    type: z.string().describe('The type, method, channel or endpoint; empty where that was not read'),
    code: z.string().describe('As on the wire'),
    message: z.string().describe('The sentence that the caller was told, cut short'),
  })
  .meta({ id: 'RefusedCall' })

export const ownRefusals = defineEndpoint(
  {
    id: 'ownRefusals',
    method: 'get',
    path: '/platform/refusals/',
    summary: 'The last refusals of the account’s keys, and how many there were of each kind',
    description:
      `${FOR_READING} Some seconds late. Of many at once some are counted and not listed. A key that is not known is ` +
      'nobody’s, and its refusal is in no list.',
    door: 'key',
    query: z.strictObject({
      limit: wholeNumber(1, MOST).default(MOST).describe('At most so many, up to 50; 50 unless said'),
      hours: wholeNumber(1, 24 * 90)
        .default(24)
        .describe('Hours that `counts` look back, up to 2,160; 24 unless said'),
    }),
    answers: {
      200: {
        description: 'The refusals',
        schema: enveloped(
          z.object({
            refusals: z.array(Refusal).describe('Newest first'),
            since: UnixMs.describe('Start of the first hour of `counts`, Unix milliseconds'),
            counts: z
              .array(z.object({ code: z.string().describe('As on the wire'), count: z.int().describe('How many') }))
              .describe('Of all, listed or not, the most first'),
          }),
        ),
        example: inEnvelope({
          refusals: [
            {
              at: 1790000000000,
              request_id: 'req_7XkPqZ4mNbVcRt2Y',
              prefix: 'cqt_9fKxWq2T',
              product: 'info',
              type: 'l2Book',
              code: 'rate_limited',
              message: 'Too many requests: retry after 1 s.',
            },
          ],
          since: 1789916400000,
          counts: [{ code: 'rate_limited', count: 3 }],
        }),
      },
    },
    refusals: [400],
  },
  async ({ query: { limit, hours }, identity: { account } }, { refusals, now }) => {
    const nowMs = now()
    const since = nowMs - (nowMs % HOUR_MS) - (hours - 1) * HOUR_MS
    const [rows, counts] = await Promise.all([refusals.list(account, limit), refusals.counts(account, since)])
    const listed = rows.map(({ key_prefix: prefix, ...row }) => ({ ...row, prefix }))
    return reply(200, inEnvelope({ refusals: listed, since, counts }))
  },
)
