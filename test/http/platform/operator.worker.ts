// The operator's API on real storage, for tests. Every answer is held against the published definition of its operation.

import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { AddressGate, WRONG_TOKENS } from '../../../src/accounts/address-gate.ts'
import { KeyRing } from '../../../src/accounts/key-ring.store.ts'
import { refusalsIn } from '../../../src/accounts/refusals.store.ts'
import { StaffStore } from '../../../src/accounts/staff.store.ts'
import { BackfillStore } from '../../../src/archive/archive/backfill.store.ts'
import { exportsOf } from '../../../src/archive/exports/exports.store.ts'
import { MANUAL } from '../../../src/billing/checkout/checkout-api.ts'
import { CheckoutService } from '../../../src/billing/checkout/checkout-service.client.ts'
import { CheckoutPrices } from '../../../src/billing/checkout/prices.ts'
import { urlRefusal } from '../../../src/core/egress.client.ts'
import * as objects from '../../../src/core/objects.client.ts'
import { ok } from '../../../src/core/result.ts'
import { after } from '../../../src/core/timers.client.ts'
import { AccountService } from '../../../src/http/platform/account-service.client.ts'
import { adminRoutes } from '../../../src/http/platform/admin.route.ts'
import { AuditStore } from '../../../src/http/platform/audit.store.ts'
import { BusinessStore } from '../../../src/http/platform/business.store.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { KeyService } from '../../../src/http/platform/key-service.client.ts'
import { type KeyedDeps, keyedRoutes } from '../../../src/http/platform/keyed.route.ts'
import { PipelineService } from '../../../src/http/platform/pipeline-service.client.ts'
import { PlanService } from '../../../src/http/platform/plan-service.client.ts'
import type { Platform } from '../../../src/http/platform/platform-api.ts'
import { LeasePool } from '../../../src/metering/leases.client.ts'
import { LOG_API_VERSION } from '../../../src/protocol/feed/log-api.ts'
import { CLOSED } from '../../core/egress-of.ts'
import { FakeSinks } from '../../pipelines/fake-sinks.ts'

export const bindings = env as unknown as Cloudflare.Env
export const ADMIN_TOKEN = 'an admin token of at least 32 characters'
export const KEY_SECRET = 'a key secret of at least 32 characters!'
export const settings = {
  ACCOUNTS: bindings.ACCOUNTS,
  KEYS: bindings.KEYS,
  KEY_SECRET,
  KEY_CHECK: true,
  TRUST_PROXY: false,
}
export const meterOf = (account: string) => objects.meterOf(bindings, account)
export const waitUntil = (work: Promise<unknown>) => void work.catch(() => {})

const PRICES = CheckoutPrices.parse({ packages: [{ name: 'small', credits: 100_000, minor: 1_900 }] })

/** What the gateway lends to endpoints. */
export function platformOf(isPrivateAllowed = false, isProxied = false, sinks = new FakeSinks()): Platform {
  const { ACCOUNTS: db, KEYS: kv } = bindings
  const now = () => Date.now()
  const ports = { db, kv, keySecret: KEY_SECRET, meterOf, nowMs: now }
  const services = { accounts: new AccountService(ports), keys: new KeyService(ports), plans: new PlanService(ports) }
  const { sinkOf, checkTransforms } = sinks
  const report = () => {}
  const refusalOf = (url: string) => urlRefusal(url, { ...CLOSED, PIPELINE_PRIVATE: isPrivateAllowed })
  const sinkPorts = {
    sinkOf,
    checkTransforms,
    urlRefusal: refusalOf,
    chains: ['anvil', 'other'],
    after,
    report,
  }
  const pipelines = new PipelineService({ ...ports, keys: services.keys, ...sinkPorts })
  const { CHAIN: chain, ARCHIVE: bucket, HISTORY } = bindings
  const all = new objects.Objects(bindings, { CHAIN: chain, FEED_REGION: null })
  const store = new BackfillStore({ chain, bucket, db: HISTORY })
  const archive: Platform['archive'] = {
    chain,
    state: (after) => store.state(after),
    backfill: (blocks) => all.archiver().backfill({ v: LOG_API_VERSION, blocks }),
  }
  const history = { archive, chain, exports: exportsOf(bindings, chain, KEY_SECRET), retention: () => all.archiver() }
  const data = { read: async () => null, dataService: () => null, sealToken: async () => ok('cqe_made') }
  const staff = new StaffStore(db, KEY_SECRET)
  const ofStaff = { staff, audit: new AuditStore(db), business: new BusinessStore(db) }
  const sold = { millionMicroUsd: 49_000_000, hubs: 4, signUpsPerDay: 200 }
  const refusals = refusalsIn(db)
  const checkout = new CheckoutService({
    db,
    provider: MANUAL,
    prices: PRICES,
    report,
    nowMs: now,
    grant: (...grant) => services.accounts.grant(...grant),
  })
  const own = {
    ...services,
    ...ofStaff,
    ...sold,
    checkout,
    pipelines,
    refusals,
    ...history,
    ...data,
    meterOf,
    log: () => all.log(),
  }
  return { ...own, urlRefusal: refusalOf, isProxied, now }
}

interface Over {
  readonly token?: string | null
  /** The token that the gateway was given. */
  readonly adminToken?: string | undefined
  readonly isPrivateAllowed?: boolean
  readonly isProxied?: boolean
  /** In place of what the gateway lends. */
  readonly lent?: Partial<Platform>
  /** What counts wrong tokens, and when. */
  readonly gate?: AddressGate
  readonly atMs?: number
}

/** What keys reach, on this platform. */
export function keyedGateway(platform: Platform, refused?: KeyedDeps['refused']) {
  const keys = new KeyRing()
  const leases = new LeasePool()
  return keyedRoutes(ENDPOINTS, {
    platform,
    authenticate: (request, entry, waitUntil) =>
      keys.authenticate(settings, request, { ...entry, places: ['bearer'] }, waitUntil),
    charging: (waitUntil) =>
      leases.charging({
        meterOf,
        waitUntil,
        meterFailure: 'closed',
        onRevoked: (hash) => keys.revoked(settings, hash, waitUntil),
      }),
    addressOf: () => null,
    requestId: () => 'req_1',
    ...(refused && { refused }),
  })
}

/** One call, `path` without `/admin`. */
export async function ask(method: string, path: string, body?: unknown, over: Over = {}) {
  const token = over.token === undefined ? ADMIN_TOKEN : over.token
  const platform = { ...platformOf(over.isPrivateAllowed, over.isProxied), ...over.lent }
  const adminToken = 'adminToken' in over ? over.adminToken : ADMIN_TOKEN
  const { gate = new AddressGate(WRONG_TOKENS), atMs = 0 } = over
  const wrongToken = () => gate.take(null, atMs)
  const app = adminRoutes(ENDPOINTS, {
    platform,
    adminToken,
    keySecret: KEY_SECRET,
    wrongToken,
    visitor: () => null,
    requestId: () => 'req_1',
  })
  const response = await app.request(path, {
    method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined
      ? {}
      : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = JSON.parse(text)
  expect(response.headers.get('x-request-id')).toBe('req_1')
  if (response.ok) asPublished(method, path, response.status, json)
  return { status: response.status, headers: response.headers, text, json }
}

/** Holds an answer against its operation's schema: nothing is missing, and nothing is there that it does not name. */
function asPublished(method: string, path: string, status: number, json: unknown): void {
  const [pathname] = path.split('?')
  const operation = ENDPOINTS.find(
    (each) =>
      each.method === method.toLowerCase() &&
      new RegExp(`^${each.path.replace('/admin', '').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname ?? ''),
  )
  expect(operation, `${method} ${path}`).toBeDefined()
  expect(operation?.answers[status]?.schema.parse(json)).toEqual(json)
}

export async function newKey(order: object = {}) {
  const { status, json } = await ask('POST', '/keys', order)
  expect(status).toBe(201)
  return json as { key: string; hash: string; prefix: string; account: string }
}

/** All that D1 says, to see that nothing changed. */
export async function everyRow() {
  const tables = ['accounts', 'keys', 'plans', 'grants', 'pipelines']
  const all = await bindings.ACCOUNTS.batch(
    tables.map((table) => bindings.ACCOUNTS.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`)),
  )
  return all.map(({ results }) => results)
}

/** What the gateway says to a key: `ok`, or the kind of the refusal. */
export async function enter(ring: KeyRing, key: string, over: object = {}) {
  const request = new Request('http://weir/info', { headers: { authorization: `Bearer ${key}` } })
  const entry = { product: 'info', kind: 'api', places: ['bearer'] } as const
  const result = await ring.authenticate(settings, request, { ...entry, ...over }, waitUntil)
  return result.ok ? 'ok' : result.error.kind
}
