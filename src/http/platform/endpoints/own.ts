// What a key may know of itself and of its account. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { PRODUCTS, PRODUCTS_TEXT } from '../../../accounts/identity.ts'
import { KEYS_MAX } from '../../../accounts/key-row.ts'
import { LIMIT_FIELDS, type Limits } from '../../../accounts/limits.ts'
import { formatCredits } from '../../../core/amount.ts'
import { failureMessage } from '../../../core/failure.ts'
import { AccountId } from '../../../core/ids.ts'
import { DAY_MS } from '../../../core/time.ts'
import { remainingOf } from '../../../metering/account-state.ts'
import { averageDay, forecastEnd } from '../../../metering/forecast.ts'
import type { AccountMeterApi } from '../../../metering/meter-api.ts'
import { limitsOf } from '../../../metering/plans/plan.ts'
import { unspentOfPlan } from '../../../metering/plans/plan-period.ts'
import { MAX_PIPELINES } from '../../../pipelines/pipeline-row.ts'
import { managementRefusal, READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import { Kind, Label } from '../key-shapes.ts'
import { LimitsView, limitsView, PlanName } from '../plan-shapes.ts'
import { Period, periodView, SUMS, sumsView } from './accounts.ts'

const OwnKey = z
  .object({
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    label: Label,
    kind: Kind,
    products: z.array(z.enum(PRODUCTS)).describe(`What it is for. ${PRODUCTS_TEXT}`),
    created: UnixMs.nullable().describe('When it was made, Unix milliseconds'),
    expires: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: never'),
    account: AccountId,
    plan: PlanName,
    balance: SUMS.balance,
    cap: CreditsText.nullable().describe(
      'Credits that the key, with those that it replaced, may spend in all its time; null: no cap. Its operator can raise it',
    ),
    cap_remaining: CreditsText.nullable().describe('What is left of the cap; null: no cap'),
    spent: SUMS.spent,
    period: Period.nullable().describe('Null: the account was made before plans had periods'),
    limits: LimitsView.describe('What the key and its account may do apart from credits'),
  })
  .meta({ id: 'OwnKey' })

const ownKey = defineEndpoint({
  id: 'ownKey',
  route: 'GET /platform/key/',
  summary: 'The key itself: its account’s balance, its plan and its limits',
  description: 'Free of charge, with or without the last slash.',
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
    // Of a key with a cap the headers say what that leaves.
    return reply(200, report, key?.cap == null ? { remaining: remainingOf(sums) } : {})
  },
})

/** A week: weekends are quieter. */
const AVERAGED_DAYS = 7

const LimitUse = z.object({
  limit: z
    .string()
    .describe('Its name, as plans and refusals have it; `keys`: those that work or were made within a day'),
  most: z.int().nullable().describe('Null: no limit'),
  now: z
    .int()
    .nullable()
    .describe('Of requests, those of the last second of the busiest key; null: counted for each socket'),
})

const Forecast = z.object({
  ends: UnixMs.nullable().describe('When the credits end, if every day costs as much; null: they do not'),
  why: z
    .enum(['spent', 'used_up', 'unused', 'renewed', 'far'])
    .describe(
      '`spent`: nothing is left; `used_up`: they end then; `unused`: nothing is spent; `renewed`: the plan brings more than ' +
        'is spent; `far`: not within ten years',
    ),
})

const OwnAccount = z
  .object({
    account: AccountId,
    plan: PlanName,
    ...SUMS,
    held: CreditsText.describe('What of the balance is lent to isolates that serve calls, and not yet settled'),
    of_plan: CreditsText.describe('What of the balance ends with the plan’s period'),
    period: Period.nullable().describe('Null: the account was made before plans had periods'),
    credits_a_day: CreditsText.describe(
      'What a day costs on average of the last seven UTC days that are over, from the first with any use; before that, today so far',
    ),
    forecast: Forecast.describe('When credits end at that rate'),
    limits: z.array(LimitUse).describe('Present use against each limit'),
    manages: z.boolean().describe('This key may make, change, rotate and revoke keys'),
    why_not: z.string().nullable().describe('Why it may not; null: it may'),
  })
  .meta({ id: 'OwnAccount' })

const ownAccount = defineEndpoint({
  id: 'ownAccount',
  route: 'GET /platform/account/',
  summary: 'How the account stands: balance, forecast, limits',
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
    const today = nowMs - (nowMs % DAY_MS)
    const days = Array.from({ length: AVERAGED_DAYS + 1 }, (_, i) => today - (AVERAGED_DAYS - i) * DAY_MS)
    const meter = meterOf(account)
    const [sums, state, spent, streams, key, counted, piped] = await Promise.all([
      ...([meter.balance(), meter.plan(), meter.spentByDay(days), meter.streams(0)] as const),
      ...([keys.findByHash(keyHash), keys.count(account), pipelines.count(account)] as const),
    ])
    const over = averageDay(spent.slice(0, AVERAGED_DAYS))
    // On its first day an account has no other to go by.
    const perDay = over > 0 ? over : (spent.at(-1) ?? 0)
    // What is lent to isolates is not spent: it is of the plan as long as the plan has any.
    const ofPlan = state === null ? 0 : unspentOfPlan({ ...sums, available: remainingOf(sums), held: 0 }, state)
    const period = { untilMs: state?.untilMs ?? null, anchorMs: state?.anchorMs ?? nowMs }
    const standing = { left: remainingOf(sums), ofPlan, ...period, everyMicro: state?.everyMicro ?? 0 }
    const why = managementRefusal(key)
    return reply(200, {
      account,
      plan,
      ...sumsView(sums),
      held: formatCredits(sums.held),
      of_plan: formatCredits(ofPlan),
      period: state === null ? null : periodView(state),
      credits_a_day: formatCredits(perDay),
      forecast: forecastView(forecastEnd(standing, perDay, nowMs), standing.left),
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

function forecastView(forecast: ReturnType<typeof forecastEnd>, left: number): z.infer<typeof Forecast> {
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
