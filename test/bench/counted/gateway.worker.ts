// The unchanged gateway, which also counts its calls to KV, D1 and meters. `GET /counts` returns the counts and
// resets them. `POST /free` returns the same response from the same kind of cache, without a key and metering.

import { waitUntil } from 'cloudflare:workers'
import { ok } from '../../../src/core/result.ts'
import { after } from '../../../src/core/timers.client.ts'
import gateway, { Internal as RealInternal } from '../../../src/gateway.ts'
import { gatewaySettings } from '../../../src/http/gateway-settings.ts'
import { handleInfo } from '../../../src/http/info.route.ts'
import type { Access } from '../../../src/http/metered.route.ts'
import { exampleRequest } from '../../../src/info/answer/call.ts'
import { InfoService } from '../../../src/info/answer/info-service.ts'
import type { Sources } from '../../../src/info/ports.ts'
import type { LeaseRequest } from '../../../src/metering/lease-api.ts'
import type { SourceBudgetApi } from '../../../src/upstream/budget-api.ts'
import { fetchUpstream } from '../../../src/upstream/upstream.client.ts'
import { identityOf } from '../../kit/identity.ts'
import { noCounts, type TakenCounts } from './counts.ts'

type Env = Cloudflare.Env
type Meters = Env['CREDIT_METER']

const NOBODY = identityOf('enterprise', ['info'], '', '')
const FREE = ok({ settle: () => 0, release: () => 0 })
const NO_KEYS: Access = {
  authenticate: async () => ok(NOBODY),
  charging: () => ({ hold: async () => FREE }),
  requestId: () => 'free',
}

let counts = noCounts()
let counted: Env | null = null
let free: InfoService | null = null

/** Copies of usage reach D1 through here. */
export class Internal extends RealInternal {
  constructor(ctx: ExecutionContext, env: Env) {
    super(ctx, countedEnv(env))
  }
}

export default {
  async fetch(request, env, ctx) {
    if (request.url.endsWith('/counts')) return Response.json(await take(env))
    if (request.url.endsWith('/free')) {
      free ??= freeService(env)
      return handleInfo(free, NO_KEYS, request, (work) => ctx.waitUntil(work))
    }
    return gateway.fetch(request, countedEnv(env), ctx)
  },
} satisfies ExportedHandler<Env>

async function take(env: Env) {
  const meter = env.CREDIT_METER.getByName('counts') as unknown as { takeCounts(): Promise<TakenCounts['objects']> }
  const objects = await meter.takeCounts()
  const taken: TakenCounts = { ...counts, rowsWritten: objects.CreditMeter?.rowsWritten ?? 0, objects }
  counts = noCounts()
  return taken
}

function freeService(env: Env): InfoService {
  // Only the upstream: the bench asks for nothing else.
  const budgetOf = (source: string) => env.SOURCE_BUDGET.getByName(source) as unknown as SourceBudgetApi
  const upstream = fetchUpstream(gatewaySettings(env).UPSTREAMS, {
    budgetOf,
    waitUntil,
    secrets: env,
    exampleOf: exampleRequest,
  })
  const sources = { upstream } as unknown as Sources
  return new InfoService({ sources, stores: {}, now: () => Date.now(), after, report: console.error })
}

function countedEnv(env: Env): Env {
  counted ??= {
    ...env,
    KEYS: over(env.KEYS, (name) => {
      if (name === 'get' || name === 'getWithMetadata') counts.kvReads++
      if (name === 'put' || name === 'delete') counts.kvWrites++
    }),
    ACCOUNTS: countedDatabase(env.ACCOUNTS),
    USAGE: countedDatabase(env.USAGE),
    CREDIT_METER: over(
      env.CREDIT_METER,
      () => {},
      (stub) => over(stub as object, countMeter),
    ) as Meters,
  }
  return counted
}

function countedDatabase(database: D1Database): D1Database {
  return over(database, (name, [statements]) => {
    if (name === 'prepare') counts.d1Statements++
    // A batch takes prepared statements, counted before.
    if (name === 'exec') counts.d1Statements += String(statements).split(';').length
  })
}

function countMeter(name: string, [request]: readonly unknown[]): void {
  const { need, requests } = name === 'lease' ? (request as LeaseRequest) : { need: 0, requests: undefined }
  if (need > 0 || (requests?.need ?? 0) > 0) counts.meterWaits++
  else counts.meterReports++
}

/** `target` with every call of a method told first. */
function over<T extends object>(
  target: T,
  told: (name: string, args: readonly unknown[]) => void,
  wrap: (answer: unknown) => unknown = (answer) => answer,
): T {
  return new Proxy(target, {
    get(inner, name) {
      const value = Reflect.get(inner, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        told(String(name), args)
        return wrap(Reflect.apply(value, inner, args))
      }
    },
  })
}
