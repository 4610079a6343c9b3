// What was used: by an account, by one key, in the words of another usage API, and to the single key and type for the
// operator. Invariants: numbers are the meter's own of this moment; nothing is silently cut.

import * as z from 'zod'
import { type Credits, formatCredits, type MicroCredits } from '../../../core/amount.ts'
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

/** Counts that are never added up. */
export const COUNTS = {
  calls: z
    .int()
    .describe('Requests that were answered and settled, `post` over a socket among them; free ones are not counted'),
  stream_minutes: z.int().describe('Minutes of subscriptions that were started and charged'),
  pipeline_rows: z
    .int()
    .describe(
      'Rows that pipelines delivered, a long one as one for each KiB; where they are free they are not counted',
    ),
}

const TYPE_FIELDS = {
  product: z
    .string()
    .describe('`info`: `POST /info` and `post` over a socket; `stream`: subscriptions; `pipeline`: rows of pipelines'),
  type: z.string().describe('The info type, the channel or the topic, as on the wire'),
}

const CURSOR = /^([\d-]{10})\.([0-9a-f]{64})\.(\w{1,64})\.(\w{1,64})$/

const USAGE_FIELDS = { ...COUNTS, credits: CreditsText.describe('What they cost') }
const REPORT_FIELDS = {
  period: z.object({ from: Day, to: Day }).describe('The days of the report, both included'),
  totals: z.object(USAGE_FIELDS).describe('All days together'),
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

/** A place among rows, as `next` of a page has it. */
const UsageCursor = z.string().transform((text, context): UsagePosition => {
  const [, day, hash = '', product = '', type = ''] = CURSOR.exec(text) ?? []
  if (Day.safeParse(day).success) return { day: startOf(day as string), keyHash: keyHashOf(hash), product, type }
  context.addIssue({ code: 'custom', message: 'must be "next" of the page before' })
  return z.NEVER
})

async function namesOf(keys: Pick<Keys, 'namesByHash'>, sums: readonly { readonly keyHash: KeyHash }[]) {
  const known = await keys.namesByHash([...new Set(sums.map(({ keyHash }) => keyHash))])
  return (keyHash: KeyHash) => {
    const { prefix = null, label = '' } = known.get(keyHash) ?? {}
    return { prefix, label }
  }
}

/** The place of a row, from which the next page goes on. */
function cursorText({ day, keyHash, product, type }: UsageRecord): string {
  return [dayText(day), keyHash, product, type].join('.')
}

const STACK_TEXT = 'Splits each day by key or by type: the forty that spent most in all, and the others together'
const PARTS_TEXT = 'Where `stack` was asked for: they add up to the day'

const Part = z.object({
  part: z.string().describe('The key’s first twelve characters, or product and type; empty: all others together'),
  label: Label,
  credits: CreditsText.describe('What it cost'),
})

const Usage = z
  .object({
    ...REPORT_FIELDS,
    by_day: z
      .array(z.object({ date: Day, ...USAGE_FIELDS, parts: z.array(Part).optional().describe(PARTS_TEXT) }))
      .describe('Days with any use, oldest first'),
    by_key: z
      .array(
        z.object({
          prefix: z.string().nullable().describe('The key’s first twelve characters'),
          label: Label,
          ...USAGE_FIELDS,
        }),
      )
      .describe('At most the 1,000 keys that spent most, those first'),
    by_type: z.array(TypeUsage).describe('What it was spent on, the most first'),
  })
  .meta({ id: 'Usage' })

const usage = defineEndpoint({
  id: 'usage',
  route: 'GET /platform/usage/',
  summary: 'What the account used, per day, per key and per type',
  description: 'Free of charge, with an API or a service key, with or without the last slash.',
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
/** A double holds every sum of micro-credits below eight billion credits to the millionth. */
const creditsNumber = (micro: MicroCredits): Credits => Number(formatCredits(micro))

const Consumed = CreditsNumber.describe('Credits spent, to the millionth')
const Premium = CreditsNumber.describe('The same as `credits_consumed`: every credit here is a premium one')
const Free = CreditsNumber.describe('Always 0: no credits here are free of charge')

const CompatUsage = z
  .object({
    period: z.object({ from: Day, to: Day }).describe('The days of the report, both included'),
    by_day: z
      .array(z.object({ date: Day, premium_credits: Premium, free_credits: Free }))
      .describe('Days with any use'),
    aggregate: z
      .object({
        credits_consumed: Consumed,
        premium_credits: Premium,
        free_credits: Free,
        max_credits: CreditsNumber.nullable().describe(
          'Credits of the plan’s current period, whatever the days of the report; null: the plan has no period',
        ),
        plan: z.string().describe('The account’s plan now'),
        flex_credits: z
          .object({ limit: CreditsNumber.describe('Always 0: nothing can be spent beyond the balance') })
          .describe('Credits beyond the balance'),
      })
      .describe('All days together'),
    by_api_key: z
      .array(
        z.object({
          apikey: z.string().nullable().describe('The key’s first twelve characters'),
          label: Label,
          credits_consumed: Consumed,
        }),
      )
      .describe('At most the 1,000 keys that spent most, those first'),
  })
  .meta({ id: 'CompatUsage' })

const compatUsage = defineEndpoint({
  id: 'compatUsage',
  route: 'GET /platform/compat/usage/',
  summary: 'What the account used, in the words of another usage API',
  description:
    'For reports that were made for that API. `GET /platform/usage/` has more, and exact amounts. Free of charge, with an ' +
    'API or a service key, with or without the last slash.',
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
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    label: Label,
    ...REPORT_FIELDS,
    by_day: z.array(z.object({ date: Day, ...USAGE_FIELDS })).describe('Days with any use, oldest first'),
    by_type: z.array(TypeUsage).describe('What it was spent on, the most first'),
  })
  .meta({ id: 'KeyUsage' })

const ownKeyUsage = defineEndpoint({
  id: 'ownKeyUsage',
  route: 'GET /platform/key/usage/',
  summary: 'What the key itself used, per day and per type',
  description: 'Free of charge, with or without the last slash.',
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
    hash: z.string().describe('SHA-256 of the key, hex'),
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    label: z.string().nullable().describe('Text for people'),
    ...TYPE_FIELDS,
    ...USAGE_FIELDS,
  })
  .meta({ id: 'AccountUsageRow' })

const accountUsage = defineEndpoint({
  id: 'accountUsage',
  route: 'GET /admin/accounts/{id}/usage',
  summary: 'What an account used, per UTC day, key and type',
  description:
    `At most ${ROWS_PAGE.toLocaleString('en')} rows, by day, hash, product and type. Where \`next\` is not null there are more: ask again ` +
    'with the same window and `after` = `next`. `totals` are those of the whole window on every page. Usage is kept ' +
    'for 400 days.',
  params: ACCOUNT_PARAMS,
  query: usageQuery({ after: UsageCursor.optional().describe('`next` of the page before') }),
  responses: okResponse(
    'A page of the report',
    z.object({
      account: AccountId,
      from: Day.describe('First UTC day'),
      to: Day.describe('Last UTC day, included'),
      totals: z.object(USAGE_FIELDS).describe('Of the whole window'),
      rows: z.array(AccountUsageRow).describe('A day, a key and a type each'),
      next: z.string().nullable().describe('Where the next page begins; null: this is the last one'),
    }),
  ),
  handle: async ({ params: { id }, query: { after, ...asked } }, { accounts, keys, meterOf, now }) => {
    const window = usageWindow(asked, now())
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
