// Reading and revoking key records. Law: D1 is the truth and KV a hint: a miss in KV proves nothing (KV caches
// misses), so it is asked of D1; and a revoked key is overwritten in KV, not removed, so that no stale copy returns.

import type { AccountId, KeyHash } from '../core/ids.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { KeyRecord } from './key-record.ts'
import { Limits } from './limits.ts'

export interface KeyStoreEnv {
  readonly ACCOUNTS: D1Database
  readonly KEYS: KVNamespace
}

/** SQL of a row's limits as a JSON object, null where a joined plan is missing; `p` is the table of plans. */
export const LIMITS_SQL = `iif(p.name IS NULL, NULL, json_object('requestsPerSecond', p.requests_per_second,
  'infoRequestsPerSecond', p.info_requests_per_second, 'streamConnections', p.stream_connections,
  'streamSubscriptions', p.stream_subscriptions, 'streamMessagesPerMinute', p.stream_messages_per_minute))`

const KV_TTL_SECONDS = 3600
const SELECT = `SELECT k.hash, k.account, k.kind, a.plan, k.products, k.expires, k.revoked, k.ranges, a.terms,
  EXISTS (SELECT 1 FROM keys r WHERE r.replaces = k.hash) AS replaced, ${LIMITS_SQL} AS limits
  FROM keys k JOIN accounts a ON a.id = k.account LEFT JOIN plans p ON p.name = a.plan`
const kvName = (hash: string) => `key:${hash}`

/** The record of a key hash, null where no such key exists. Fills KV through `waitUntil`. Rejects where D1 fails. */
export async function findKey(env: KeyStoreEnv, hash: KeyHash, waitUntil: WaitUntil): Promise<KeyRecord | null> {
  const hinted = await env.KEYS.get(kvName(hash), { type: 'json', cacheTtl: 30 }).catch(() => null)
  const hint = KeyRecord.safeParse(hinted)
  if (hint.success) return hint.data
  const record = await keyFromD1(env.ACCOUNTS, hash)
  if (record !== null) waitUntil(putKeyHint(env.KEYS, record))
  return record
}

/** The record of a key hash as D1 has it now. */
export async function keyFromD1(db: D1Database, hash: KeyHash): Promise<KeyRecord | null> {
  const at = Date.now()
  const row = await db.prepare(`${SELECT} WHERE k.hash = ?`).bind(hash).first<RecordRow>()
  return row === null ? null : recordOf(row, at)
}

/** The records of an account's keys that are not revoked, newest first, at most `limit`. */
export async function activeKeysFromD1(db: D1Database, account: AccountId, limit: number): Promise<KeyRecord[]> {
  const select = `${SELECT} WHERE k.account = ? AND k.revoked IS NULL ORDER BY k.created DESC, k.hash LIMIT ?`
  const at = Date.now()
  const { results } = await db.prepare(select).bind(account, limit).all<RecordRow>()
  return results.map((row) => recordOf(row, at))
}

/** The hash of an account's oldest API key for info and stream that works from anywhere until then at least. */
export async function visitorsKey(db: D1Database, account: AccountId, untilMs: number): Promise<KeyHash | null> {
  const isFor = (product: string) => `EXISTS (SELECT 1 FROM json_each(products) WHERE value = '${product}')`
  const select = `SELECT hash FROM keys WHERE account = ? AND kind = 'api' AND revoked IS NULL AND ranges IS NULL
    AND (expires IS NULL OR expires >= ?) AND ${isFor('info')} AND ${isFor('stream')} ORDER BY created, hash LIMIT 1`
  return db.prepare(select).bind(account, untilMs).first<KeyHash>('hash')
}

/** Puts a record into KV; a refused write (KV takes one a second per key) only costs a later D1 read. */
export async function putKeyHint(kv: KVNamespace, record: KeyRecord): Promise<void> {
  try {
    await kv.put(kvName(record.hash), JSON.stringify(record), { expirationTtl: KV_TTL_SECONDS })
  } catch {
    // The hint is missing or stale for at most its lifetime; the meter refuses revoked keys all the same.
  }
}

/** The limits of a plan with what was agreed with one account in their place; `terms` may hold other terms too. */
function limitsFrom(limits: string, terms: string | null): Limits {
  return Limits.parse({ ...JSON.parse(limits), ...Limits.partial().parse(JSON.parse(terms ?? '{}')) })
}

type RecordRow = Record<string, unknown> & { products: string; replaced: number } & Record<
    'ranges' | 'limits' | 'terms',
    string | null
  >

/** `at`: before D1 was asked, so that a record is never believed to be newer than it is. */
function recordOf({ products, replaced, ranges, limits, terms, ...row }: RecordRow, at: number): KeyRecord {
  const own = limits ? { limits: limitsFrom(limits, terms) } : {}
  const lists = { products: JSON.parse(products), ranges: JSON.parse(ranges ?? 'null') }
  return KeyRecord.parse({ ...row, ...own, ...lists, replaced: replaced === 1, v: 2, at })
}
