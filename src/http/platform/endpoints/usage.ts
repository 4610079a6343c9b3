// Usage reports: by account, by key, in the format of a different usage API, and per key and type for the operator.
// Invariants: numbers are the current values of the meter; no report is truncated silently.

import * as z from 'zod'
import { type Credits, formatCredits, type MicroCredits } from '../../../core/amount.ts'
import { inGroups } from '../../../core/digit-groups.ts'
import { AccountId, type KeyHash, keyHashOf } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import {
  sumOfUsage,
  type UsagePosition,
  type UsageRecord,
  type UsageReport,
  type UsageSum,
} from '../../../metering/usage.ts'
import { ACCOUNT_PARAMS } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { Label } from '../key-shapes.ts'
import type { Keys } from '../platform-api.ts'
import { Day, dayText, startOf, type UsageWindow, usageQuery, usageWindow } from '../usage-window.ts'

/** Counts in different units, which are never added together. */
export const COUNTS = {
  calls: z.int().describe('Charged requests, including `post` over sockets'),
  stream_minutes: z.int().describe('Charged subscription minutes'),
  pipeline_rows: z.int().describe('Charged pipeline rows; a long row counts once per KiB'),
}

const TYPE_FIELDS = {
  product: z
    .string()
    .describe(
      'Product: `info` for `POST /info` and `post` over sockets, `stream` for subscriptions, `pipeline` for pipeline rows, …',
    ),
  type: z.string().describe('Info type, channel or topic'),
}

const CURSOR = /^([\d-]{10})\.([0-9a-f]{64})\.(\w{1,64})\.(\w{1,64})$/

const USAGE_FIELDS = { ...COUNTS, credits: CreditsText.describe('Credits used') }
const REPORT_FIELDS = {
  period: z.object({ from: Day, to: Day }).describe('Days of the report, both inclusive'),
  totals: z.object(USAGE_FIELDS).describe('Totals of the period'),
}
const TypeUsage = z.object({ ...TYPE_FIELDS, ...USAGE_FIELDS })
function usageView({ calls, minutes, rows, amount }: UsageSum) {
  return { calls, stream_minutes: minutes, pipeline_rows: rows, credits: formatCredits(amount) }
}

function reportView({ byDay, byType }: UsageReport, { fromMs, toMs }: UsageWindow) {
  return {
    period: { from: dayText(fromMs), to: dayText(toMs - 1) },
    totals: usageView(sumOfUsage(byDay)),
    by_type: byType.map((sum) => ({ product: sum.product, type: sum.type, ...usageView(sum) })),
  }
}

/** Cursor of a usage page, as in `next`. */
const UsageCursor = z.string().transform((text, context): UsagePosition => {
  const [, day, hash = '', product = '', type = ''] = CURSOR.exec(text) ?? []
  if (Day.safeParse(day).success) return { day: startOf(day as string), keyHash: keyHashOf(hash), product, type }
  context.addIssue({ code: 'custom', message: 'must be "next" from the previous page' })
  return z.NEVER
})

async function namesOf(keys: Pick<Keys, 'namesByHash'>, sums: readonly { readonly keyHash: KeyHash }[]) {
  const known = await keys.namesByHash([...new Set(sums.map(({ keyHash }) => keyHash))])
  return (keyHash: KeyHash) => {
    const { prefix = null, label = '' } = known.get(keyHash) ?? {}
    return { prefix, label }
  }
}

/** Cursor after a row. */
function cursorText({ day, keyHash, product, type }: UsageRecord): string {
  return [dayText(day), keyHash, product, type].join('.')
}

const STACK_TEXT = 'Splits each day by key or type: the 40 largest, and the sum of the others'
const PARTS_TEXT = 'Parts of the day, only with `stack`; they add up to the day'

const Part = z.object({
  part: z.string().describe('First 12 characters of the key, or product and type; empty: sum of all others'),
  label: Label,
  credits: CreditsText.describe('Credits used'),
})

const Usage = z
  .object({
    ...REPORT_FIELDS,
    by_day: z
      .array(z.object({ date: Day, ...USAGE_FIELDS, parts: z.array(Part).optional().describe(PARTS_TEXT) }))
      .describe('Days with usage, oldest first'),
    by_key: z
      .array(
        z.object({
          prefix: z.string().nullable().describe('First 12 characters of the key'),
          label: Label,
          ...USAGE_FIELDS,
        }),
      )
      .describe('Usage by key, largest first, at most 1,000 keys'),
    by_type: z.array(TypeUsage).describe('Usage by type, largest first'),
  })
  .meta({ id: 'Usage' })

const usage = defineEndpoint({
  id: 'usage',
  route: 'GET /platform/usage/',
  summary: 'Report the account’s usage per day, key and type',
  description: 'Free of charge. Accepts API keys and service keys. The trailing slash is optional.',
  auth: 'key',
  query: usageQuery({ stack: z.enum(['key', 'type'], 'must be "key" or "type"').optional().describe(STACK_TEXT) }),
  responses: okResponse('The report', Usage),
  handle: async ({ query, identity: { account } }, { keys, meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const meter = meterOf(account)
    const { stack } = query
    const [report, stacked] = await Promise.all([
      meter.usage(fromMs, toMs),
      stack === undefined ? [] : meter.usageStack(fromMs, toMs, stack),
    ])
    const nameOf = await namesOf(keys, report.byKey)
    const partsOf = (day: number) => ({
      parts: stacked
        .filter((each) => each.day === day)
        .map(({ part, amount }) => {
          const { prefix, label } = nameOf(keyHashOf(part))
          return { part: prefix ?? part, label, credits: formatCredits(amount) }
        }),
    })
    return reply(200, {
      ...reportView(report, window.value),
      by_day: report.byDay.map((sum) => ({
        date: dayText(sum.day),
        ...usageView(sum),
        ...(stack === undefined ? {} : partsOf(sum.day)),
      })),
      by_key: report.byKey.map((sum) => ({ ...nameOf(sum.keyHash), ...usageView(sum) })),
    })
  },
})

const CreditsNumber = z.number()
/** A double is exact to the millionth for sums below eight billion credits. */
const creditsNumber = (micro: MicroCredits): Credits => Number(formatCredits(micro))

const Consumed = CreditsNumber.describe('Credits used, exact to the millionth')
const Premium = CreditsNumber.describe('Premium credits used; all credits are premium')
const Free = CreditsNumber.describe('Free credits used; always 0, because there are none')

const CompatUsage = z
  .object({
    period: z.object({ from: Day, to: Day }).describe('Days of the report, both inclusive'),
    by_day: z.array(z.object({ date: Day, premium_credits: Premium, free_credits: Free })).describe('Days with usage'),
    aggregate: z
      .object({
        credits_consumed: Consumed,
        premium_credits: Premium,
        free_credits: Free,
        max_credits: CreditsNumber.nullable().describe(
          'Credits of the current plan period, whatever days the report covers; null: no period',
        ),
        plan: z.string().describe('Current plan of the account'),
        flex_credits: z
          .object({ limit: CreditsNumber.describe('Overdraft limit; always 0, because there is no overdraft') })
          .describe('Overdraft credits'),
      })
      .describe('Totals of the period'),
    by_api_key: z
      .array(
        z.object({
          apikey: z.string().nullable().describe('First 12 characters of the key'),
          label: Label,
          credits_consumed: Consumed,
        }),
      )
      .describe('Usage by key, largest first, at most 1,000 keys'),
  })
  .meta({ id: 'CompatUsage' })

const compatUsage = defineEndpoint({
  id: 'compatUsage',
  route: 'GET /platform/compat/usage/',
  summary: 'Report the account’s usage in the format of a different API',
  description:
    'Use this for reports that were built for a different usage API. `GET /platform/usage/` has more fields and exact amounts. Free of charge. Accepts API keys and service keys. The trailing slash is optional.',
  auth: 'key',
  query: usageQuery({}),
  responses: okResponse('The report', CompatUsage, { aggregate: { max_credits: 10000, flex_credits: { limit: 0 } } }),
  handle: async ({ query, identity: { account, plan } }, { keys, meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const meter = meterOf(account)
    const [{ byDay, byKey }, state] = await Promise.all([meter.usage(fromMs, toMs), meter.plan()])
    const nameOf = await namesOf(keys, byKey)
    const asPremium = ({ amount }: UsageSum) => ({ premium_credits: creditsNumber(amount), free_credits: 0 })
    const total = sumOfUsage(byDay)
    return reply(200, {
      period: { from: dayText(fromMs), to: dayText(toMs - 1) },
      by_day: byDay.map((sum) => ({ date: dayText(sum.day), ...asPremium(sum) })),
      aggregate: {
        credits_consumed: creditsNumber(total.amount),
        ...asPremium(total),
        max_credits: state === null ? null : creditsNumber(state.micro),
        plan,
        flex_credits: { limit: 0 },
      },
      by_api_key: byKey.map(({ keyHash, amount }) => {
        const { prefix: apikey, label } = nameOf(keyHash)
        return { apikey, label, credits_consumed: creditsNumber(amount) }
      }),
    })
  },
})

const KeyUsage = z
  .object({
    prefix: z.string().nullable().describe('First 12 characters of the key'),
    label: Label,
    ...REPORT_FIELDS,
    by_day: z.array(z.object({ date: Day, ...USAGE_FIELDS })).describe('Days with usage, oldest first'),
    by_type: z.array(TypeUsage).describe('Usage by type, largest first'),
  })
  .meta({ id: 'KeyUsage' })

const ownKeyUsage = defineEndpoint({
  id: 'ownKeyUsage',
  route: 'GET /platform/key/usage/',
  summary: 'Report the calling key’s usage per day and type',
  description: 'Free of charge. The trailing slash is optional.',
  auth: 'key',
  acceptsAnyKey: true,
  query: usageQuery({}),
  responses: okResponse('The report', KeyUsage),
  handle: async ({ query, identity: { account, keyHash } }, { keys, meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const [key, report] = await Promise.all([keys.findByHash(keyHash), meterOf(account).usage(fromMs, toMs, keyHash)])
    return reply(200, {
      prefix: key?.prefix ?? null,
      label: key?.label ?? '',
      ...reportView(report, window.value),
      by_day: report.byDay.map((sum) => ({ date: dayText(sum.day), ...usageView(sum) })),
    })
  },
})

const ROWS_PAGE = 1_000

const AccountUsageRow = z
  .object({
    date: Day,
    hash: z.string().describe('SHA-256 of the key, in hex'),
    prefix: z.string().nullable().describe('First 12 characters of the key'),
    label: z.string().nullable().describe('Display name'),
    ...TYPE_FIELDS,
    ...USAGE_FIELDS,
  })
  .meta({ id: 'AccountUsageRow' })

const accountUsage = defineEndpoint({
  id: 'accountUsage',
  route: 'GET /admin/accounts/{id}/usage',
  summary: 'Report an account’s usage per UTC day, key and type',
  description: `At most ${inGroups(ROWS_PAGE)} rows per page, ordered by day, hash, product and type. If \`next\` is not null, request the next page with the same window and \`after\` = \`next\`. \`totals\` always cover the whole window. Usage is kept for 400 days.`,
  params: ACCOUNT_PARAMS,
  query: usageQuery({ after: UsageCursor.optional().describe('Value of `next` from the previous page') }),
  responses: okResponse(
    'A page of the report',
    z.object({
      account: AccountId,
      from: Day.describe('First UTC day'),
      to: Day.describe('Last UTC day, inclusive'),
      totals: z.object(USAGE_FIELDS).describe('Totals of the window'),
      rows: z.array(AccountUsageRow).describe('Usage per day, key and type'),
      next: z.string().nullable().describe('Cursor for the next page; null: last page'),
    }),
  ),
  handle: async ({ params: { id }, query: { after, ...windowQuery } }, { accounts, keys, meterOf, now }) => {
    const window = usageWindow(windowQuery, now())
    if (!window.ok) return window
    const missing = await accounts.missingFailure(id)
    if (missing !== null) return err(missing)
    const { fromMs, toMs } = window.value
    const { total, rows } = await meterOf(id).usagePage(fromMs, toMs, after ?? null, ROWS_PAGE + 1)
    const page = rows.slice(0, ROWS_PAGE)
    const names = await keys.namesByHash([...new Set(page.map(({ keyHash }) => keyHash))])
    const last = page.at(-1)
    return reply(200, {
      account: id,
      from: dayText(fromMs),
      to: dayText(toMs - 1),
      totals: usageView(total),
      rows: page.map((row) => ({
        date: dayText(row.day),
        hash: row.keyHash,
        prefix: names.get(row.keyHash)?.prefix ?? null,
        label: names.get(row.keyHash)?.label ?? null,
        product: row.product,
        type: row.type,
        ...usageView(row),
      })),
      next: rows.length > ROWS_PAGE && last !== undefined ? cursorText(last) : null,
    })
  },
})

export const USAGE = [usage, compatUsage, ownKeyUsage, accountUsage]
