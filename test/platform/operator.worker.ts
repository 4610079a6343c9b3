// The operator's API on real storage, for tests. Every answer is held against the published definition of its operation.

import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import type { WholeMeterApi } from '../../src/credit/meter-api.ts'
import type { KeyRing } from '../../src/edge/key-ring.store.ts'
import { adminRoutes } from '../../src/platform/admin.route.ts'
import { ADMIN_OPERATIONS } from '../../src/platform/operations.ts'

export const bindings = env as unknown as Cloudflare.Env
export const ADMIN_TOKEN = 'an admin token of at least 32 characters'
export const KEY_SECRET = 'a key secret of at least 32 characters!'
export const settings = {
  ACCOUNTS: bindings.ACCOUNTS,
  KEYS: bindings.KEYS,
  ADMIN_TOKEN: ADMIN_TOKEN as string | undefined,
  KEY_SECRET,
  KEY_CHECK: true,
  TRUST_PROXY: false,
}
export const meterOf = (account: string) => bindings.CREDIT_METER.getByName(account) as unknown as WholeMeterApi
export const waitUntil = (work: Promise<unknown>) => void work.catch(() => {})
const app = adminRoutes((_, account) => meterOf(account))

interface Over {
  readonly token?: string | null
  readonly env?: object
}

/** One call, `path` without `/admin`. */
export async function ask(method: string, path: string, body?: unknown, over: Over = {}) {
  const token = over.token === undefined ? ADMIN_TOKEN : over.token
  const response = await app.request(
    path,
    {
      method,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    },
    { ...settings, ...over.env },
  )
  const text = await response.text()
  const json = JSON.parse(text)
  expect(response.headers.get('x-request-id')).toBeTruthy()
  if (response.ok) asPublished(method, path, response.status, json)
  return { status: response.status, headers: response.headers, text, json }
}

/** Holds an answer against its operation's schema: nothing is missing, and nothing is there that it does not name. */
function asPublished(method: string, path: string, status: number, json: unknown): void {
  const [pathname] = path.split('?')
  const operation = ADMIN_OPERATIONS.find(
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
  const tables = ['accounts', 'keys', 'plans', 'grants']
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
