// Information about the calling key and its account, with current numbers from the meter.

import * as z from 'zod'
import { PRODUCTS, PRODUCTS_TEXT } from '../../../accounts/identity.ts'
import { KEYS_MAX } from '../../../accounts/key-row.ts'
import { LIMIT_FIELDS, type Limits } from '../../../accounts/limits.ts'
import { formatCredits } from '../../../core/amount.ts'
import { failureMessage } from '../../../core/failure.ts'
import { AccountId } from '../../../core/ids.ts'
import { remainingOf } from '../../../metering/account-state.ts'
import { accountForecast, averagedDays, type Forecast as ForecastResult } from '../../../metering/forecast.ts'
import type { AccountMeterApi } from '../../../metering/meter-api.ts'
import { limitsOf } from '../../../metering/plans/plan.ts'
import { MAX_PIPELINES } from '../../../pipelines/pipeline-row.ts'
import { managementRefusal, READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import { Kind, Label } from '../key-shapes.ts'
import { LimitsView, limitsView, PlanName } from '../plan-shapes.ts'
import { Period, periodView, SUMS, sumsView } from './accounts.ts'

const OwnKey = z
  .object({
    prefix: z.string().nullable().describe('First 12 characters of the key'),
    label: Label,
    kind: Kind,
    products: z.array(z.enum(PRODUCTS)).describe(`Products of the key. ${PRODUCTS_TEXT}`),
    created: UnixMs.nullable().describe('Creation time, Unix milliseconds'),
    expires: UnixMs.nullable().describe('Expiry, Unix milliseconds; null: never'),
    account: AccountId,
    plan: PlanName,
    balance: SUMS.balance,
    cap: CreditsText.nullable().describe('Total credits that the key and its predecessors may spend; null: no cap'),
    cap_remaining: CreditsText.nullable().describe('Remaining credits of the cap; null: no cap'),
    spent: SUMS.spent,
    period: Period.nullable().describe('Current period; null: the account predates plan periods'),
    limits: LimitsView.describe('Rate and connection limits'),
  })
  .meta({ id: 'OwnKey' })

const ownKey = defineEndpoint({
  id: 'ownKey',
  route: 'GET /platform/key/',
  summary: 'Show the calling key, with its balance, plan and limits',
  description: 'Free of charge. The trailing slash is optional.',
  auth: 'key',
  acceptsAnyKey: true,
  responses: okResponse('The key', OwnKey, {
    products: ['info', 'stream', 'platform'],
    balance: '9996.87',
    cap: null,
    cap_remaining: null,
    spent: '3.13',
    period: { credits: '10000' },
  }),
  handle: async ({ identity }, { keys, meterOf }) => {
    const meter = meterOf(identity.account)
    const [sums, state, key] = await Promise.all([
      meter.balance(identity.keyHash),
      meter.plan(),
      keys.findByHash(identity.keyHash),
    ])
    const { balance, spent } = sumsView(sums)
    const report = {
      prefix: key?.prefix ?? null,
      label: key?.label ?? '',
      kind: identity.kind,
      products: identity.products,
      created: key?.created ?? null,
      expires: key?.expires ?? null,
      account: identity.account,
      plan: identity.plan,
      balance,
      cap: key?.cap == null ? null : formatCredits(key.cap),
      cap_remaining: key?.cap == null || sums.capLeft === undefined ? null : formatCredits(sums.capLeft),
      spent,
      period: state === null ? null : periodView(state),
      limits: limitsView(limitsOf(identity)),
    }
    // For a key with a cap, the headers already report the remaining cap.
    return reply(200, report, key?.cap == null ? { remaining: remainingOf(sums) } : {})
  },
})

const LimitUse = z.object({
  limit: z
    .string()
    .describe(
      'Name of the limit, as in plans and errors; `keys` counts keys that are active or were created in the last 24 hours',
    ),
  most: z.int().nullable().describe('Value of the limit; null: no limit'),
  now: z
    .int()
    .nullable()
    .describe(
      'Current usage. For request limits: number of requests by the busiest key in the last second; null: counted per socket',
    ),
})

const Forecast = z.object({
  ends: UnixMs.nullable().describe('Time at which the credits run out at the current rate; null: they do not run out'),
  why: z
    .enum(['spent', 'used_up', 'unused', 'renewed', 'far'])
    .describe(
      'Reason for the forecast. `spent`: no credits left; `used_up`: the credits run out at `ends`; `unused`: no recent usage; `renewed`: the plan grants more than is used; `far`: the credits last over ten years',
    ),
})

const OwnAccount = z
  .object({
    account: AccountId,
    plan: PlanName,
    ...SUMS,
    held: CreditsText.describe('Part of the balance that is leased to serving isolates and not yet settled'),
    of_plan: CreditsText.describe('Part of the balance that expires with the plan’s period'),
    period: Period.nullable().describe('Current period; null: the account predates plan periods'),
    credits_a_day: CreditsText.describe(
      'Average daily usage over the last seven full UTC days, without days before the first usage. If there is no full day yet, this is the usage so far today',
    ),
    forecast: Forecast.describe('Forecast at the rate of `credits_a_day`'),
    limits: z.array(LimitUse).describe('Current usage of each limit'),
    manages: z.boolean().describe('Whether this key can manage the account'),
    why_not: z.string().nullable().describe('Why this key cannot manage the account; null: it can'),
  })
  .meta({ id: 'OwnAccount' })

const ownAccount = defineEndpoint({
  id: 'ownAccount',
  route: 'GET /platform/account/',
  summary: 'Show the balance, forecast and limits of the account',
  description: READ_ACCESS_TEXT,
  auth: 'key',
  responses: okResponse('The account', OwnAccount, {
    of_plan: '9999.87',
    period: { credits: '10000' },
    credits_a_day: '0.13',
    forecast: { why: 'renewed' },
    limits: [{ limit: 'stream_connections', most: 100, now: 1 }],
    manages: true,
  }),
  handle: async ({ identity }, { keys, meterOf, pipelines, now }) => {
    const { account, plan, keyHash } = identity
    const nowMs = now()
    const meter = meterOf(account)
    const [sums, state, spent, streams, key, counted, piped] = await Promise.all([
      ...([meter.balance(), meter.plan(), meter.spentByDay(averagedDays(nowMs)), meter.streams(0)] as const),
      ...([keys.findByHash(keyHash), keys.count(account), pipelines.count(account)] as const),
    ])
    const { forecast, perDay, ofPlan } = accountForecast(sums, state, spent, nowMs)
    const why = managementRefusal(key)
    return reply(200, {
      account,
      plan,
      ...sumsView(sums),
      held: formatCredits(sums.held),
      of_plan: formatCredits(ofPlan),
      period: state === null ? null : periodView(state),
      credits_a_day: formatCredits(perDay),
      forecast: forecastView(forecast, remainingOf(sums)),
      limits: [
        ...limitRows(limitsOf(identity), streams),
        { limit: 'keys', most: KEYS_MAX, now: counted },
        { limit: 'pipelines', most: MAX_PIPELINES, now: piped },
      ],
      manages: why === null,
      why_not: why === null ? null : failureMessage(why),
    })
  },
})

function forecastView(forecast: ForecastResult, left: number): z.infer<typeof Forecast> {
  if (!forecast.ends) return { ends: null, why: forecast.why }
  return { ends: forecast.atMs, why: left <= 0 ? 'spent' : 'used_up' }
}

function limitRows(
  limits: Limits,
  { sockets, subscriptions, requests }: Awaited<ReturnType<AccountMeterApi['streams']>>,
) {
  const used: Record<keyof Limits, number | null> = {
    requestsPerSecond: requests.rest ?? 0,
    infoRequestsPerSecond: requests.info ?? 0,
    streamConnections: sockets,
    streamSubscriptions: subscriptions,
    streamMessagesPerMinute: null,
  }
  const names = Object.keys(LIMIT_FIELDS) as (keyof Limits)[]
  return names.map((name) => ({ limit: LIMIT_FIELDS[name], most: limits[name], now: used[name] }))
}

export const OWN = [ownKey, ownAccount]
