// Calls of the last hour by minute, in the account's row of the meter, which each report writes anyway. Invariants
// (test/metering/alerts/alerts.test.ts): each reported call is counted once, however often its batch is repeated; there is at
// most one row per minute of the last hour, and key that a rule names.

import { MINUTE_MS } from '../../core/time.ts'
import type { LogBatch } from '../request-log/log-api.ts'
import { withSource } from '../request-log/log-tail.ts'

/** Number of calls; `use`: average use of the fullest request limit, in thousandths. */
export interface WindowSums {
  readonly calls: number
  readonly refused: number
  readonly failed: number
  readonly limited: number
  readonly use: number
}

/** `key` is empty for the calls of all keys. */
type MinuteRow = readonly [
  minute: number,
  key: string,
  calls: number,
  refused: number,
  failed: number,
  limited: number,
  use: number,
]

export interface CallMinutes {
  readonly sources: readonly (readonly [source: string, number: number])[]
  readonly rows: readonly MinuteRow[]
}

export const NO_MINUTES: CallMinutes = { sources: [], rows: [] }
const KEPT_MINUTES = 60

const minuteOf = (ms: number) => Math.floor(ms / MINUTE_MS)

/** Use of a request limit by a key in a minute. */
export interface LimitUse {
  readonly keyHash: string
  readonly minute: number
  /** In thousandths of the limit. */
  readonly use: number
}

/** Adds the calls of a batch, and the uses of limits. Returns `minutes` itself if the batch is a repeated one. */
export function withCalls(
  minutes: CallMinutes,
  batch: LogBatch,
  uses: readonly LimitUse[],
  keys: readonly string[],
  nowMs: number,
): CallMinutes {
  const sources = withSource(minutes.sources, batch)
  if (sources === null) return minutes
  const now = minuteOf(nowMs)
  const isKept = (minute: number) => minute > now - KEPT_MINUTES && minute <= now
  const rows = new Map(minutes.rows.filter(([minute]) => isKept(minute)).map((row) => [`${row[0]} ${row[1]}`, row]))
  const add = (minute: number, keyHash: string, more: WindowSums) => {
    // The clock of an isolate may be ahead.
    const at = Math.min(minute, now)
    if (!isKept(at)) return
    for (const key of ['', ...keys.filter((one) => one === keyHash)]) {
      const [, , calls, refused, failed, limited, use] = rows.get(`${at} ${key}`) ?? [0, '', 0, 0, 0, 0, 0]
      rows.set(`${at} ${key}`, [
        at,
        key,
        calls + more.calls,
        refused + more.refused,
        failed + more.failed,
        limited + more.limited,
        Math.max(use, more.use),
      ])
    }
  }
  for (const { keyHash, minute, ...counts } of batch.counts ?? []) add(minute, keyHash, { ...counts, use: 0 })
  for (const { keyHash, minute, use } of uses) add(minute, keyHash, { ...NO_CALLS, use })
  return { sources, rows: [...rows.values()] }
}

const NO_CALLS: WindowSums = { calls: 0, refused: 0, failed: 0, limited: 0, use: 0 }

/** Sums of the last `window` minutes, of which the current one is the last. `key`: empty for all keys. */
export function windowSums({ rows }: CallMinutes, key: string, window: number, nowMs: number): WindowSums {
  const now = minuteOf(nowMs)
  const inside = rows.filter((row) => row[1] === key && row[0] > now - window && row[0] <= now)
  const sum = (at: 2 | 3 | 4 | 5 | 6) => inside.reduce((all, row) => all + row[at], 0)
  return { calls: sum(2), refused: sum(3), failed: sum(4), limited: sum(5), use: Math.round(sum(6) / window) }
}

export const minutesText = (minutes: CallMinutes): string => JSON.stringify(minutes)
export const readMinutes = (text: string): CallMinutes => (text === '' ? NO_MINUTES : JSON.parse(text))

interface Grant {
  readonly keyHash: string
  readonly minute: number
  readonly perSecond: number
  tokens: number
}

/** Minutes, keys and limits in memory. The oldest are forgotten first. */
const GRANTS_MAX = 512

/** Requests that the meter granted under rate limits, in this minute and the last one. A restart forgets them. */
export class GrantedRequests {
  readonly #grants = new Map<string, Grant>()

  add(keyHash: string, bucket: string, perSecond: number, granted: number, nowMs: number): void {
    if (granted === 0) return
    const minute = minuteOf(nowMs)
    const name = `${minute} ${keyHash} ${bucket} ${perSecond}`
    const known = this.#grants.get(name)
    if (known !== undefined) known.tokens += granted
    else this.#grants.set(name, { keyHash, minute, perSecond, tokens: granted })
    for (const oldest of this.#grants.keys()) {
      if (this.#grants.size <= GRANTS_MAX) return
      this.#grants.delete(oldest)
    }
  }

  uses(nowMs: number): LimitUse[] {
    const now = minuteOf(nowMs)
    for (const [name, { minute }] of this.#grants) if (minute < now - 1 || minute > now) this.#grants.delete(name)
    return [...this.#grants.values()].map(({ keyHash, minute, perSecond, tokens }) => {
      return { keyHash, minute, use: Math.round((tokens * 1_000) / (perSecond * 60)) }
    })
  }
}
