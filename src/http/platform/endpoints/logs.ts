// The request log of the account.

import * as z from 'zod'
import { PRODUCTS } from '../../../accounts/identity.ts'
import { formatCredits } from '../../../core/amount.ts'
import type { Failure } from '../../../core/failure.ts'
import type { KeyHash } from '../../../core/ids.ts'
import { ok, type Result } from '../../../core/result.ts'
import { HOUR_MS } from '../../../core/time.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import type { LogChunks, LoggedCall } from '../../../metering/request-log/log-api.ts'
import { LogHours } from '../../../metering/request-log/log-hours.ts'
import { type LogPosition, searchLog } from '../../../metering/request-log/log-search.ts'
import { READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import type { Keys } from '../platform-api.ts'

const LISTED_MAX = 200
const LISTED = 50
const LOGGED_PRODUCTS = PRODUCTS.filter((product) => product !== 'platform')
const CLASSES = ['1xx', '2xx', '4xx', '5xx'] as const

const LogRow = z
  .object({
    at: UnixMs.describe('Time at which the call began, Unix milliseconds'),
    prefix: z.string().describe('First 12 characters of the key'),
    product: z.enum(LOGGED_PRODUCTS).describe('Product'),
    type: z
      .string()
      .describe(
        'Type, method, channel or endpoint; empty if the call was rejected before this was read. For sockets also `connect` and `close`',
      ),
    status: z
      .int()
      .describe('HTTP status. For events of a socket: 101 for a connection, otherwise the closest HTTP status'),
    code: z.string().describe('Error code; empty if there was no error'),
    ms: z.int().nullable().describe('Duration in the gateway, milliseconds; null: an event of a socket'),
    credits: CreditsText.describe('Credits charged. Minutes of streams are not included'),
    request_id: z.string().describe('Request id of the response; empty for events of a socket'),
  })
  .meta({ id: 'LoggedCall' })

/** `<time>-<number of calls at that time>` */
const Cursor = z
  .string()
  .regex(/^\d{1,16}-\d{1,9}$/, 'must be the value of `next` from the previous page')
  .transform((text): LogPosition => {
    const [atMs = 0, skip = 0] = text.split('-').map(Number)
    return { atMs, skip }
  })

const Filter = z.string().max(64, 'must be at most 64 characters')
const Moment = wholeNumber(0, Number.MAX_SAFE_INTEGER)

const Latency = z
  .object({
    p50_ms: z.int().describe('Median duration, milliseconds'),
    p99_ms: z.int().describe('99th percentile of durations, milliseconds'),
  })
  .nullable()

const latencyView = (latency: LogHours['latency']) => latency && { p50_ms: latency.p50, p99_ms: latency.p99 }

const ownLogs = defineEndpoint({
  id: 'ownLogs',
  route: 'GET /platform/logs/',
  summary: 'List the account’s calls and socket events, newest first',
  description: `${READ_ACCESS_TEXT} The log has the calls of \`/info\`, JSON-RPC and the data API, and connections, subscriptions and closes of sockets. It does not have calls of \`/platform\`, or bodies, addresses and keys. It lags by up to 30 seconds. The log of a busy key is an even sample of about one call per second: \`left_out\` counts the other calls. Rejections of expired or restricted keys are only in \`GET /platform/refusals/\`. If a server stops without warning, up to 30 seconds of calls are lost, as is their charge.`,
  auth: 'key',
  query: z.strictObject({
    key: Filter.optional().describe('Only calls of the key with this hash or these first 12 characters'),
    product: z.enum(LOGGED_PRODUCTS).optional().describe('Only calls of this product'),
    type: Filter.optional().describe('Only calls of this type, method, channel or endpoint'),
    status: z.enum(CLASSES).optional().describe('Only calls with such a status'),
    code: Filter.optional().describe('Only calls with this error code'),
    since: Moment.optional().describe('Only calls at or after this time, Unix milliseconds'),
    until: Moment.optional().describe('Only calls at or before this time, Unix milliseconds'),
    before: Cursor.optional().describe('Value of `next` from the previous page'),
    limit: wholeNumber(1, LISTED_MAX)
      .default(LISTED)
      .describe(`Maximum rows per page, up to ${LISTED_MAX}; default ${LISTED}`),
  }),
  refusals: [404],
  responses: okResponse(
    'A page of calls',
    z.object({
      calls: z.array(LogRow).describe('Calls, newest first'),
      next: z.string().nullable().describe('Value of `before` for the next page; null: last page'),
      since: UnixMs.describe(
        'Start of the searched time, Unix milliseconds. A search reads about a megabyte of the log; `next` continues it',
      ),
      matching: z.int().describe('Number of listed calls in the searched time that match, on this page and after it'),
      left_out: z
        .int()
        .describe('Number of calls in the searched time that are not in the log, whether they match or not'),
      latency: Latency.describe('Durations of the matching calls; null: there are none'),
      kept_hours: z.int().describe('Hours for which calls are kept; 0: the gateway keeps no log'),
    }),
    {
      calls: [{ type: 'l2Book', status: 200, code: '', ms: 3, credits: '1' }],
      next: null,
      since: 1789913600000,
      matching: 1,
      left_out: 0,
      latency: { p50_ms: 3, p99_ms: 3 },
      kept_hours: 24,
    },
  ),
  handle: async ({ query, identity: { account } }, { keys, meterOf, now }) => {
    const { key, status, limit, before = null, since = 0, until = Number.MAX_SAFE_INTEGER, ...rest } = query
    const found = await hashOf(keys, key, account)
    if (!found.ok) return found
    const log = await meterOf(account).requestLog(since, Math.min(until, before?.atMs ?? until))
    const sinceMs = Math.max(since, now() - log.keptMs)
    const filter = { ...rest, keyHash: found.value, statusClass: status && Number(status[0]), sinceMs, untilMs: until }
    const page = searchLog(log, filter, before, limit)
    const names = await keys.namesByHash([...new Set(page.calls.map(({ keyHash }) => keyHash))])
    return reply(200, {
      calls: page.calls.map((call) => rowOf(call, names.get(call.keyHash)?.prefix ?? '')),
      next: page.next === null ? null : `${page.next.atMs}-${page.next.skip}`,
      since: page.searchedMs,
      matching: page.matching,
      left_out: page.leftOut,
      latency: latencyView(page.latency),
      kept_hours: log.keptMs / HOUR_MS,
    })
  },
})

const HOURS = 24
/** The log of the busiest account takes six pages a day. */
const PAGES_MAX = 8

const ownLogHours = defineEndpoint({
  id: 'ownLogHours',
  route: 'GET /platform/logs/hours',
  summary: 'Count the calls of the last day by hour and outcome',
  description: `${READ_ACCESS_TEXT} Counts the calls of the request log, and errors of sockets. The log of a busy key is a sample, so \`left_out\` calls are not counted.`,
  auth: 'key',
  responses: okResponse(
    'The last 24 hours (UTC), the current one included',
    z.object({
      hours: z
        .array(
          z
            .object({
              at: UnixMs.describe('Start of the hour, Unix milliseconds'),
              ok: z.int().describe('Answered calls'),
              refused: z.int().describe('Rejected calls (4xx)'),
              failed: z.int().describe('Failed calls (5xx)'),
              left_out: z.int().describe('Number of calls that are not in the log, counted near their time'),
              latency: Latency.describe('Durations of the calls; null: no calls'),
            })
            .meta({ id: 'LogHour' }),
        )
        .describe('Hours, oldest first, those without calls included'),
      latency: Latency.describe('Durations of all calls; null: no calls'),
      since: UnixMs.describe('Calls from this time on were counted, Unix milliseconds'),
      kept_hours: z.int().describe('Hours for which calls are kept; 0: the gateway keeps no log'),
    }),
    {
      hours: [{ at: 1790000000000, ok: 3599, refused: 12, failed: 0, left_out: 0, latency: { p50_ms: 3, p99_ms: 40 } }],
      latency: { p50_ms: 3, p99_ms: 40 },
      kept_hours: 24,
    },
  ),
  handle: async ({ identity: { account } }, { meterOf, now }) => {
    const nowMs = now()
    const sums = new LogHours(nowMs, HOURS)
    let untilMs: number | null = Number.MAX_SAFE_INTEGER
    let keptMs = 0
    for (let page = 0; page < PAGES_MAX && untilMs !== null; page++) {
      const log: LogChunks = await meterOf(account).requestLog(sums.firstMs, untilMs)
      sums.add(log, untilMs)
      untilMs = log.restMs
      keptMs = log.keptMs
    }
    return reply(200, {
      hours: sums.hours.map(({ atMs: at, leftOut, latency, ...counts }) => ({
        at,
        ...counts,
        left_out: leftOut,
        latency: latencyView(latency),
      })),
      latency: latencyView(sums.latency),
      since: Math.max(sums.sinceMs, nowMs - keptMs),
      kept_hours: keptMs / HOUR_MS,
    })
  },
})

async function hashOf(
  keys: Pick<Keys, 'find'>,
  name: string | undefined,
  account: string,
): Promise<Result<KeyHash | undefined, Failure>> {
  if (name === undefined) return ok(undefined)
  const key = await keys.find({ name, account })
  return key.ok ? ok(key.value.hash) : key
}

function rowOf({ atMs, type, status, code, ms, micro, requestId, product }: LoggedCall, prefix: string) {
  // The product of a logged call is never `platform`.
  const shown = product as (typeof LOGGED_PRODUCTS)[number]
  return {
    at: atMs,
    prefix,
    product: shown,
    type,
    status,
    code,
    ms,
    credits: formatCredits(micro),
    request_id: requestId,
  }
}

export const LOGS = [ownLogs, ownLogHours]
