// Shared copies of responses beyond this isolate's memory. Invariants: a store that fails, hangs or returns garbage
// counts as empty; KV gets at most one write per second per key, only for a changed body or to confirm an old copy, and
// a limited number in total.

import * as z from 'zod'
import { BoundedMap } from '../../core/bounded-map.ts'
import { type After, orFallback } from '../../core/deadline.ts'
import { parseJson } from '../../core/json.ts'
import { type Bucket, fullBucket, oneSecondBurst, takeTokens } from '../../core/token-bucket.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { type FreshnessTerms, type Tier, useOf } from '../freshness.ts'
import type { InfoAnswer } from '../query.ts'

/** A store of strings keyed by canonical request. May reject. */
export interface AnswerStore {
  get(key: string): Promise<string | null>
  put(key: string, text: string, seconds: number): Promise<void>
}

export interface AnswerTiersDeps {
  readonly stores: Partial<Readonly<Record<Tier, AnswerStore>>>
  readonly now: () => number
  readonly after: After
}

/** Beyond this time, fetching from the source is faster. */
const READ_MAX_MS = 300
/** KV rejects more frequent writes of one key. */
const WRITE_EVERY_MS = 1_000
/** An unchanged copy is rewritten at this age, so that it stays well below the maximum age of its freshness class. */
const CONFIRM_MS = 5 * 60_000
/** KV writes per isolate. Limited, because callers choose parts of the keys and each write costs money. */
const WRITES = oneSecondBurst(2)

/** True if a new body should be written to KV. */
export function isWorthStoring(body: string, stored: StoredCopy | undefined, now: number): boolean {
  return !stored || now - stored.at >= (stored.body === body ? CONFIRM_MS : WRITE_EVERY_MS)
}

export class AnswerTiers {
  readonly #deps: AnswerTiersDeps
  #writes: Bucket = fullBucket(WRITES, 0)

  constructor(deps: AnswerTiersDeps) {
    this.#deps = deps
  }

  /** The nearest fresh copy, else the newest one; undefined if there is no copy. Never rejects. */
  async find(key: string, terms: FreshnessTerms, waitUntil: WaitUntil): Promise<CachedAnswer | undefined> {
    let newest: CachedAnswer | undefined
    for (const tier of terms.tiers) {
      const copy = await this.#read(tier, key)
      if (!copy) continue
      const stored = tier === 'network' ? { stored: { at: copy.at, body: copy.body } } : {}
      newest = { ...(!newest || copy.at > newest.at ? copy : newest), ...stored }
      if (useOf(this.#deps.now() - newest.at, terms) !== 'fresh') continue
      if (tier === 'network') waitUntil(this.#write('region', key, newest, terms))
      break
    }
    return newest
  }

  /** Writes a response to every tier that is due; returns the copy that KV then holds. */
  store(
    key: string,
    answer: CachedAnswer,
    stored: StoredCopy | undefined,
    terms: FreshnessTerms,
    waitUntil: WaitUntil,
  ): StoredCopy | undefined {
    const now = this.#deps.now()
    if (terms.tiers.includes('region')) waitUntil(this.#write('region', key, answer, terms))
    if (!terms.tiers.includes('network') || !isWorthStoring(answer.body, stored, now) || !this.#mayWrite(now))
      return stored
    waitUntil(this.#write('network', key, answer, terms))
    return { at: now, body: answer.body }
  }

  #mayWrite(now: number): boolean {
    const { bucket, taken } = takeTokens(this.#writes, WRITES, 1, now)
    this.#writes = bucket
    return taken === 1
  }

  async #read(tier: Tier, key: string): Promise<CachedAnswer | null> {
    const store = this.#deps.stores[tier]
    if (!store) return null
    try {
      const text = await orFallback(store.get(key), READ_MAX_MS, null, this.#deps.after)
      return text ? decodeStored(key, text, this.#deps.now()) : null
    } catch {
      return null
    }
  }

  async #write(tier: Tier, key: string, answer: CachedAnswer, { ifErrorMs }: FreshnessTerms): Promise<void> {
    try {
      await this.#deps.stores[tier]?.put(key, encodeStored(key, answer), Math.ceil(ifErrorMs / 1000))
    } catch {
      // If there is no copy, the next isolate fetches from the source.
    }
  }
}

const VERSION = 1
/** Maximum clock difference between machines or requests. A copy from further in the future is not trusted. */
const CLOCK_SKEW_MS = 5_000

const Head = z.object({
  v: z.literal(VERSION),
  /** The full request, to detect hash collisions. */
  key: z.string(),
  at: z.int().min(0),
  length: z.int().min(0),
  height: z.int().min(0).optional(),
  lagMs: z.int().min(0).optional(),
})

/** Encodes a JSON header, a line break and the body. Decoding checks request, completeness and time. */
export function encodeStored(key: string, { body, at, height, lagMs }: CachedAnswer): string {
  const head: z.infer<typeof Head> = { v: VERSION, key, at, length: body.length, height, lagMs }
  return `${JSON.stringify(head)}\n${body}`
}

/** The response stored for this request; null if the string is anything else. */
export function decodeStored(key: string, text: string, now: number): CachedAnswer | null {
  const end = text.indexOf('\n')
  if (end < 0) return null
  const head = Head.safeParse(parseJson(text.slice(0, end)))
  if (!head.success || head.data.key !== key || head.data.at > now + CLOCK_SKEW_MS) return null
  const { length, height, lagMs } = head.data
  const body = text.slice(end + 1)
  if (body.length !== length || parseJson(body) === undefined) return null
  const known = { ...(height === undefined ? {} : { height }), ...(lagMs === undefined ? {} : { lagMs }) }
  return { body, at: Math.min(head.data.at, now), ...known }
}

// In-memory cache of one isolate and chain, bounded in size. It does not know freshness classes; readers decide what is
// too old. The oldest written entry is evicted first, because popular entries are rewritten with every refresh.

export interface CachedAnswer extends InfoAnswer {
  /** Start of the fetch. */
  readonly at: number
  /** Last failed refresh. */
  readonly failedAt?: number
  /** Copy in KV, as last seen. */
  readonly stored?: StoredCopy
}

export interface StoredCopy {
  /** Time of the write, or of the fetch of its response. */
  readonly at: number
  readonly body: string
}

/** In characters; nearly all responses are ASCII. */
const MAX_LENGTH = 16 * 1024 * 1024
const ENTRY_LENGTH = 256

export class AnswerCache {
  readonly #entries: BoundedMap<string, CachedAnswer>
  readonly #longest: number

  constructor(maxLength: number = MAX_LENGTH) {
    this.#entries = new BoundedMap<string, CachedAnswer>(maxLength, lengthOf)
    this.#longest = maxLength / 4
  }

  get(key: string, now: number): CachedAnswer | undefined {
    const entry = this.#entries.get(key)
    if (!entry || entry.at <= now + CLOCK_SKEW_MS) return entry
    this.#entries.delete(key)
    return undefined
  }

  /** Stores a response unless a newer one is cached. */
  set(key: string, answer: CachedAnswer): void {
    const known = this.#entries.get(key)
    if ((known && known.at > answer.at) || lengthOf(answer, key) > this.#longest) return
    this.#entries.set(key, answer)
  }
}

function lengthOf({ body, stored }: CachedAnswer, key: string): number {
  const other = stored === undefined || stored.body === body ? 0 : stored.body.length
  return key.length + body.length + other + ENTRY_LENGTH
}
