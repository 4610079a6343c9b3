// Reads and caches key records. Invariants: D1 is authoritative, and KV is only a hint; a miss in KV proves nothing (KV
// caches misses), so D1 is read; a revoked key is overwritten in KV, not deleted, so that no stale copy returns.

import type { AccountId, KeyHash } from '../core/ids.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { KeyRecord } from './key-record.ts'
import { Limits } from './limits.ts'

export interface KeyStoreEnv {
  readonly ACCOUNTS: D1Database
  readonly KEYS: KVNamespace
}

/** SQL of a row's limits as a JSON object; null if a joined plan is missing. `p` is the plans table. */
export const LIMITS_SQL = `iif(p.name IS NULL, NULL, json_object('requestsPerSecond', p.requests_per_second,
  'infoRequestsPerSecond', p.info_requests_per_second, 'streamConnections', p.stream_connections,
  'streamSubscriptions', p.stream_subscriptions, 'streamMessagesPerMinute', p.stream_messages_per_minute))`

const KV_TTL_SECONDS = 3600
const SELECT = `SELECT k.hash, k.account, k.kind, a.plan, k.products, k.expires, k.revoked, k.ranges, a.terms,
  EXISTS (SELECT 1 FROM keys r WHERE r.replaces = k.hash) AS replaced, ${LIMITS_SQL} AS limits
  FROM keys k JOIN accounts a ON a.id = k.account LEFT JOIN plans p ON p.name = a.plan`
const kvName = (hash: string) => `key:${hash}`

/** Record of a key hash, or null. Fills KV in the background. Rejects if D1 fails. */
export async function findKey(env: KeyStoreEnv, hash: KeyHash, waitUntil: WaitUntil): Promise<KeyRecord | null> {
  const hinted = await env.KEYS.get(kvName(hash), { type: 'json', cacheTtl: 30 }).catch(() => null)
  const hint = KeyRecord.safeParse(hinted)
  if (hint.success) return hint.data
  const record = await keyFromD1(env.ACCOUNTS, hash)
  if (record !== null) waitUntil(putKeyHint(env.KEYS, record))
  return record
}

/** Current record of a key hash in D1. */
export async function keyFromD1(db: D1Database, hash: KeyHash): Promise<KeyRecord | null> {
  const at = Date.now()
  const row = await db.prepare(`${SELECT} WHERE k.hash = ?`).bind(hash).first<RecordRow>()
  return row === null ? null : recordOf(row, at)
}

/** Records of an account's keys that are not revoked, newest first, at most `limit`. */
export async function activeKeysFromD1(db: D1Database, account: AccountId, limit: number): Promise<KeyRecord[]> {
  const select = `${SELECT} WHERE k.account = ? AND k.revoked IS NULL ORDER BY k.created DESC, k.hash LIMIT ?`
  const at = Date.now()
  const { results } = await db.prepare(select).bind(account, limit).all<RecordRow>()
  return results.map((row) => recordOf(row, at))
}

/** Hash of the account's oldest API key for info and stream that is valid from any address until `untilMs`. */
export async function visitorsKey(db: D1Database, account: AccountId, untilMs: number): Promise<KeyHash | null> {
  const isFor = (product: string) => `EXISTS (SELECT 1 FROM json_each(products) WHERE value = '${product}')`
  const select = `SELECT hash FROM keys WHERE account = ? AND kind = 'api' AND revoked IS NULL AND ranges IS NULL
    AND (expires IS NULL OR expires >= ?) AND ${isFor('info')} AND ${isFor('stream')} ORDER BY created, hash LIMIT 1`
  return db.prepare(select).bind(account, untilMs).first<KeyHash>('hash')
}

/** Writes a record to KV. A rejected write (KV accepts one per second per key) only costs a later D1 read. */
export async function putKeyHint(kv: KVNamespace, record: KeyRecord): Promise<void> {
  try {
    await kv.put(kvName(record.hash), JSON.stringify(record), { expirationTtl: KV_TTL_SECONDS })
  } catch {
    // The hint is missing or stale for at most its TTL; the meter rejects revoked keys anyway.
  }
}

/** Limits of a plan, overridden by terms agreed with the account. `terms` may contain other terms too. */
function limitsFrom(limits: string, terms: string | null): Limits {
  return Limits.parse({ ...JSON.parse(limits), ...Limits.partial().parse(JSON.parse(terms ?? '{}')) })
}

type RecordRow = Record<string, unknown> & { products: string; replaced: number } & Record<
    'ranges' | 'limits' | 'terms',
    string | null
  >

/** `at`: time before D1 was read, so a record never appears newer than it is. */
function recordOf({ products, replaced, ranges, limits, terms, ...row }: RecordRow, at: number): KeyRecord {
  const own = limits ? { limits: limitsFrom(limits, terms) } : {}
  const lists = { products: JSON.parse(products), ranges: JSON.parse(ranges ?? 'null') }
  return KeyRecord.parse({ ...row, ...own, ...lists, replaced: replaced === 1, v: 2, at })
}
