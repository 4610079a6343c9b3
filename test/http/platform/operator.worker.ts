// REST surfaces on real storage, for tests. Every response is checked against its published definition.

import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { AddressLimiter, KEY_LOOKUPS, WRONG_TOKENS } from '../../../src/accounts/address-limiter.ts'
import { KeyResolver } from '../../../src/accounts/key-resolver.store.ts'
import { orSession } from '../../../src/accounts/sessions/session-auth.store.ts'
import { INVOICE } from '../../../src/billing/checkout/invoice-terms.ts'
import { CheckoutPrices } from '../../../src/billing/checkout/prices.ts'
import type { KeyHash } from '../../../src/core/ids.ts'
import * as objects from '../../../src/core/objects.client.ts'
import { adminRoutes } from '../../../src/http/platform/admin.route.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import type { Endpoint } from '../../../src/http/platform/endpoint.ts'
import { type KeyedDeps, keyedRoutes } from '../../../src/http/platform/keyed.route.ts'
import * as made from '../../../src/http/platform/platform.client.ts'
import type { Platform } from '../../../src/http/platform/platform-api.ts'
import { type MemberPorts, MemberService } from '../../../src/http/signup/member-service.client.ts'
import { LeasePool } from '../../../src/metering/leases.client.ts'
import type { SourcesStatus } from '../../../src/protocol/feed/sources-shape.ts'
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
export const meterOf = (account: string) => objects.meterOf(bindings, account, null)
export const waitUntil = (work: Promise<unknown>) => void work.catch(() => {})

const PRICES = CheckoutPrices.parse({ packages: [{ name: 'small', credits: 100_000, minor: 1_900 }] })

/** Terms of the invoices. */
export const TERMS = INVOICE.parse(
  JSON.stringify({
    seller: { name: 'Seller GmbH', address: ['Weg 1', 'Berlin'], taxId: 'DE1', contact: 'billing@seller.example' },
    dueDays: 30,
    tax: { name: 'VAT', rate: '19' },
    note: 'Thank you.',
  }),
)!

const NO_SOURCES = { sources: [], chains: [] } as unknown as SourcesStatus

/** Members with a test mailbox. Without one, the gateway sends no mail. */
export function memberService(over: Partial<MemberPorts> = {}): MemberService {
  return new MemberService({
    db: bindings.ACCOUNTS,
    keySecret: KEY_SECRET,
    mailer: null,
    delivery: 'mail',
    refusedDomains: [],
    publicUrl: '',
    nowMs: () => Date.now(),
    report: () => {},
    ...over,
  })
}

/** Dependencies of endpoints. */
export function platformOf(
  isPrivateAllowed = false,
  isProxied = false,
  { sinkOf } = new FakeSinks(),
  terms: typeof TERMS | null = TERMS,
): Platform {
  const all = new objects.Objects(bindings, { CHAIN: bindings.CHAIN, FEED_REGION: null })
  const chain = { urls: [''], timeoutMs: 0 }
  const set = {
    ...CLOSED,
    CHAIN: bindings.CHAIN,
    FEED_REGION: null,
    CHECKOUT: 'manual',
    CHECKOUT_PRICES: PRICES,
    INVOICE: terms,
    MILLION_CREDITS_USD: 49_000_000,
    BOOK_HUBS: 4,
    SIGNUP: 'log',
    SIGNUP_SETTINGS: { perDay: 200 },
    RPC_CHAINS: ['anvil', 'other'].map((name) => ({ name, ...chain })),
    PIPELINE_PRIVATE: isPrivateAllowed,
    TRUST_PROXY: isProxied,
  } as const
  const own = {
    log: () => all.log(),
    statusCache: () => all.statusCache(),
    archiver: () => all.archiver(),
    hasJobs: true,
    sink: sinkOf,
  }
  const lent = {
    read: async () => null,
    sources: async () => NO_SOURCES,
    members: memberService(),
    now: () => Date.now(),
  }
  return made.platformOf({ ...bindings, KEY_SECRET }, set, own, lent)
}

interface Over {
  readonly token?: string | null
  /** ADMIN_TOKEN of the gateway. */
  readonly adminToken?: string | undefined
  readonly isPrivateAllowed?: boolean
  readonly isProxied?: boolean
  /** Overrides of the dependencies. */
  readonly lent?: Partial<Platform>
  /** Rate limiter of wrong tokens and the time. */
  readonly gate?: AddressLimiter
  readonly atMs?: number
}

/** Per isolate. */
export function chargingOf(leases = new LeasePool(), keys = new KeyResolver()): KeyedDeps['charging'] {
  return (waitUntil) =>
    leases.charging({
      meterOf,
      waitUntil,
      meterFailure: 'closed',
      onRevoked: (hash) => keys.markRevoked(settings, hash, waitUntil),
    })
}

interface KeyedOver extends Partial<Pick<KeyedDeps, 'noteRefusal' | 'charging' | 'platform'>> {
  readonly endpoints?: readonly Endpoint[]
  readonly places?: readonly ('basic' | 'bearer')[]
}

const sessionEnv = {
  ACCOUNTS: bindings.ACCOUNTS,
  TRUST_PROXY: false,
  countLookup: () => new AddressLimiter(KEY_LOOKUPS).take(null, 0),
}

/** Calls key endpoints in a new isolate. A `key` with an equals sign is the cookie of a session. */
export function keyed({ endpoints = ENDPOINTS, places = ['bearer'], ...over }: KeyedOver = {}) {
  const keys = new KeyResolver()
  const app = keyedRoutes(endpoints, {
    platform: platformOf(),
    authenticate: (request, entry, waitUntil) => {
      const byKey = keys.authenticate(settings, request, { ...entry, places }, waitUntil)
      return orSession(sessionEnv, request, entry, byKey)
    },
    charging: chargingOf(new LeasePool(), keys),
    addressOf: () => null,
    requestId: () => 'req_1',
    ...over,
  })
  app.onError(() => new Response('{}', { status: 500 }))
  return async (method: string, path: string, key?: string, body?: unknown, authorization = key && `Bearer ${key}`) => {
    const isCookie = key?.includes('=') === true
    const own: Record<string, string> = isCookie ? { cookie: key, origin: 'http://weir' } : {}
    const headers = authorization && !isCookie ? { authorization } : own
    const sent = typeof body === 'string' ? body : (JSON.stringify(body) ?? null)
    const url = `http://weir${path}`
    const response = await app.request(url, { method, headers, body: sent }, {}, createExecutionContext())
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json' && text !== ''
    const json = isJson ? JSON.parse(text) : null
    if (response.ok && text !== '') asPublished(endpoints, method, path, response.status, json ?? text)
    const [cost, left] = ['x-credits-cost', 'x-credits-remaining'].map((name) => response.headers.get(name))
    const { status, headers: answered } = response
    const said: string | undefined = json?.error_message
    return { status, headers: answered, text, json, data: json?.data, said, cost, left }
  }
}

/** Calls the operator's API, `path` without `/admin`. */
export async function ask(method: string, path: string, body?: unknown, over: Over = {}) {
  const token = over.token === undefined ? ADMIN_TOKEN : over.token
  const platform = { ...platformOf(over.isPrivateAllowed, over.isProxied), ...over.lent }
  const adminToken = 'adminToken' in over ? over.adminToken : ADMIN_TOKEN
  const { gate = new AddressLimiter(WRONG_TOKENS), atMs = 0 } = over
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
  if (response.ok) asPublished(ENDPOINTS, method, `/admin${path}`, response.status, json)
  return { status: response.status, headers: response.headers, text, json }
}

/** Checks a response against its schema: no missing and no extra fields. */
function asPublished(all: readonly Endpoint[], method: string, path: string, status: number, answer: unknown): void {
  const pathOf = (text: string) => text.replace(/\/?(\?.*)?$/, '')
  const operation = all.find(
    (each) =>
      each.method === method.toLowerCase() &&
      new RegExp(`^${pathOf(each.path).replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathOf(path)),
  )
  expect(operation, `${method} ${path}`).toBeDefined()
  expect(operation?.responses[status]?.schema.parse(answer)).toEqual(answer)
}

export async function newKey(order: object = {}) {
  const { status, json } = await ask('POST', '/keys', order)
  expect(status).toBe(201)
  return json as { key: string; hash: KeyHash; prefix: string; account: string }
}

/** All rows of D1, to detect changes. */
export async function everyRow() {
  const tables = ['accounts', 'keys', 'plans', 'grants', 'pipelines']
  const all = await bindings.ACCOUNTS.batch(
    tables.map((table) => bindings.ACCOUNTS.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`)),
  )
  return all.map(({ results }) => results)
}

/** Result of authenticating a key: `ok` or the kind of failure. */
export async function enter(ring: KeyResolver, key: string, over: object = {}) {
  const request = new Request('http://weir/info', { headers: { authorization: `Bearer ${key}` } })
  const entry = { product: 'info', kind: 'api', places: ['bearer'] } as const
  const result = await ring.authenticate(settings, request, { ...entry, ...over }, waitUntil)
  return result.ok ? 'ok' : result.error.kind
}
