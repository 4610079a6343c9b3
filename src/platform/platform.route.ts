// What a key may know of itself: GET /platform/usage/ and GET /platform/key/, free of charge, with an API or service
// key. Numbers are the meter's own of this moment; bodies are the platform's `{data, error, …}`.

import { Hono } from 'hono'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import { formatCredits, type MicroCredits } from '../credit/amount.ts'
import type { AccountMeterApi } from '../credit/meter-api.ts'
import { limitsOf } from '../credit/plans/plan.ts'
import type { DayUsage } from '../credit/usage.ts'
import type { Charging } from '../edge/charging.ts'
import { restFailure } from '../edge/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../edge/request-id.ts'
import { AccountStore } from '../key/accounts.store.ts'
import type { Identity } from '../key/identity.ts'
import type { KeyRow } from '../key/key-row.ts'
import { shownLimits } from './plan-requests.ts'
import { dayText, type UsageWindow, usageWindow } from './usage-window.ts'

type WaitUntil = (work: Promise<unknown>) => void
type Answer = Result<object, Failure>

/** What the gateway lends. */
export interface PlatformDeps<Env> {
  readonly authenticate: (env: Env, request: Request, waitUntil: WaitUntil) => Promise<Result<Identity, Failure>>
  readonly charging: (env: Env, waitUntil: WaitUntil) => Charging
  readonly meterOf: (env: Env, account: string) => AccountMeterApi
  readonly requestId: () => string
  readonly now: () => number
}

const FREE = { product: 'platform', type: 'platform', amount: 0 } as const
const KEYS_MAX = 1_000

/** The routes, with and without the last slash. */
export function platformRoutes<Env extends { readonly ACCOUNTS: D1Database }>(deps: PlatformDeps<Env>) {
  const app = new Hono<{ Bindings: Env }>()
  const serve = (path: string, answer: (env: Env, identity: Identity, request: Request) => Promise<Answer>) => {
    for (const each of [path, `${path}/`]) {
      app.get(each, (c) => {
        const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work)
        return enter(deps, c.env, c.req.raw, waitUntil, (identity) => answer(c.env, identity, c.req.raw))
      })
    }
  }
  serve('/platform/usage', async (env, identity, request) => {
    const window = usageWindow(Object.fromEntries(new URL(request.url).searchParams), deps.now())
    if (!window.ok) return window
    return {
      ok: true,
      value: await usageReport(env.ACCOUNTS, deps.meterOf(env, identity.account), identity, window.value),
    }
  })
  serve('/platform/key', async (env, identity) => ({
    ok: true,
    value: await keyReport(env.ACCOUNTS, deps.meterOf(env, identity.account), identity),
  }))
  return app
}

/** A free call still holds a lease for a moment: that proves the key and counts against its requests a second. */
async function enter<Env>(
  deps: PlatformDeps<Env>,
  env: Env,
  request: Request,
  waitUntil: WaitUntil,
  answer: (identity: Identity) => Promise<Answer>,
): Promise<Response> {
  const requestId = deps.requestId()
  const refuse = (failure: Failure, more: object = {}) => {
    const { status, headers, body } = restFailure(failure, requestId)
    return new Response(body, { status, headers: { ...headers, ...more } })
  }
  const identity = await deps.authenticate(env, request, waitUntil)
  if (!identity.ok) return refuse(identity.error)
  const charging = deps.charging(env, waitUntil)
  const hold = await charging.hold(identity.value, FREE)
  const limits = charging.limitHeaders?.(identity.value, 'platform') ?? {}
  if (!hold.ok) return refuse(hold.error, limits)
  const credits = { 'x-credits-cost': '0', 'x-credits-remaining': formatCredits(hold.value.release()) }
  const data = await answer(identity.value)
  if (!data.ok) return refuse(data.error, { ...limits, ...credits })
  return Response.json(
    { data: data.value, error: false, error_message: null, error_code: null },
    { headers: { 'cache-control': 'no-store', [REQUEST_ID_HEADER]: requestId, ...limits, ...credits } },
  )
}

async function usageReport(db: D1Database, meter: AccountMeterApi, { account, plan }: Identity, window: UsageWindow) {
  const [rows, keys, state] = await Promise.all([
    meter.usageByDay(window.fromMs, window.toMs),
    new AccountStore(db).keysOf(account, KEYS_MAX),
    meter.plan(),
  ])
  const shown = new Map(keys.map((key) => [key.hash, key]))
  const byDay = sumBy(rows, (row) => dayText(row.day))
  const consumed = rows.reduce((sum, row) => sum + row.amount, 0)
  const byKey = sumBy(rows, (row) => row.keyHash)
  return {
    period: { from: dayText(window.fromMs), to: dayText(window.toMs - 1) },
    by_day: byDay.map(([date, { amount, calls }]) => ({
      date,
      premium_credits: credits(amount),
      free_credits: 0,
      calls,
    })),
    aggregate: {
      credits_consumed: credits(consumed),
      premium_credits: credits(consumed),
      free_credits: 0,
      max_credits: state === null ? null : credits(state.micro),
      plan,
      flex_credits: { limit: 0 },
    },
    by_api_key: byKey.map(([hash, { amount, calls }]) => ({
      apikey: shown.get(hash)?.prefix ?? hash.slice(0, 12),
      label: shown.get(hash)?.label ?? '',
      credits_consumed: credits(amount),
      calls,
    })),
  }
}

async function keyReport(db: D1Database, meter: AccountMeterApi, identity: Identity) {
  const [sums, state, rows] = await Promise.all([
    meter.balance(),
    meter.plan(),
    new AccountStore(db).keysNamed(identity.keyHash),
  ])
  const key: KeyRow | undefined = rows[0]
  return {
    apikey: key?.prefix ?? null,
    label: key?.label ?? '',
    kind: identity.kind,
    products: identity.products,
    created: key?.created ?? null,
    expires: key?.expires ?? null,
    account: identity.account,
    plan: identity.plan,
    credits_remaining: credits(sums.available + sums.held),
    credits_spent: credits(sums.spent),
    period: state === null ? null : { from: state.sinceMs, to: state.untilMs, credits: credits(state.micro) },
    limits: shownLimits(limitsOf(identity)),
  }
}

type Sum = { amount: MicroCredits; calls: number }

/** Sums in the order of their first rows. */
function sumBy(rows: readonly DayUsage[], nameOf: (row: DayUsage) => string): [string, Sum][] {
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    const sum = sums.get(nameOf(row)) ?? { amount: 0, calls: 0 }
    sums.set(nameOf(row), { amount: sum.amount + row.amount, calls: sum.calls + row.calls })
  }
  return [...sums]
}

/** As a JSON number: a double holds every sum of micro-credits below nine billion credits to the millionth. */
function credits(micro: MicroCredits): number {
  return Number(formatCredits(micro))
}
