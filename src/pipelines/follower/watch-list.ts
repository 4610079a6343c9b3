// The pipelines that wait for rows at the head of the log. Each block is evaluated once for all of them. Invariants: a
// block with rows for a pipeline leads to a call of the pipeline, repeated until it has read the block or is no longer
// watched; a range is called empty only if every block in it was evaluated; work per block depends on the
// block and on the pipelines that it matters to, not on the number of pipelines.

import { getOrCreate } from '../../core/get-or-create.ts'
import { MINUTE_MS } from '../../core/time.ts'
import {
  type EmptyRange,
  FOLLOWER_API_VERSION,
  type ReadBlock,
  type WatchRequest,
  type WatchResponse,
} from '../follower-api.ts'
import type { TopicBlock, TopicTrigger, TriggerSource } from '../topics/topic.ts'

/** A pipeline with rows in every block is called this often. */
const EVERY_MS = 2_000
/** Delay after a failed call, multiplied by the number of failures. */
const RETRY_MS = 5_000
const MAX_FAILURES = 3
/** Calls of one account's pipelines at the same time, so that slow destinations do not delay other accounts. */
const MAX_CALLED = 10
/** Pipelines confirm every four minutes that they wait. */
const EXPIRE_MS = 15 * MINUTE_MS
/** Characters of all filters, which take about 50 MB. Pipelines beyond this read every block, once a minute. */
const MAX_FILTER_CHARS = 10_000_000
export const MAX_WATCHES = 10_000
/** Ends of pages, which cover the calls that may be pending. */
const MAX_MARKS = 300

export interface Watch {
  readonly request: Omit<WatchRequest, 'filter'>
  readonly filterChars: number
  /** Null: the pipeline reads every block, once a minute. */
  readonly trigger: TopicTrigger | null
  /** First height that the pipeline has not read. */
  from: number
  /** First block to read since then; null: none. */
  matched: { readonly height: number; readonly atMs: number; readonly empty: EmptyRange | null } | null
  lastMatch: number
  isCalled: boolean
  calledMs: number
  failures: number
  seenMs: number
  /** For order statuses: the last block up to which the log has confirmed that it had all of them. */
  confirmed: ReadBlock | null
}

interface SourceWatches {
  readonly all: Set<Watch>
  readonly byName: Map<string, Set<Watch>>
}

export class WatchList {
  readonly #watches = new Map<string, Watch>()
  readonly #bySource = new Map<TriggerSource, SourceWatches>()
  /** Watches without a trigger, and those with an end. */
  readonly #minutely = new Set<Watch>()
  readonly #ending = new Set<Watch>()
  /** Watches with a block to read, those that have waited longest first. */
  readonly #matched = new Set<Watch>()
  /** Number of called pipelines by account. */
  readonly #called = new Map<string, number>()
  #filterChars = 0
  #scanned: ReadBlock | null
  #marks: ReadBlock[] = []

  /** `scanned`: the last block that an earlier list had evaluated, with all calls that it led to. */
  constructor(scanned: ReadBlock | null) {
    this.#scanned = scanned
  }

  /** The last block that was evaluated; null: none. */
  get scanned(): ReadBlock | null {
    return this.#scanned
  }

  get size(): number {
    return this.#watches.size
  }

  [Symbol.iterator](): Iterator<Watch> {
    return this.#watches.values()
  }

  /** Sets where evaluation begins: after this block. Nothing is known about earlier blocks. */
  restart(scanned: ReadBlock): void {
    this.#scanned = scanned
    this.#marks = []
    for (const watch of this.#watches.values()) {
      watch.from = Math.min(watch.from, scanned.height + 1)
      this.#match(watch, scanned.height, 0, null)
    }
  }

  isWatched(id: string): boolean {
    return this.#watches.has(id)
  }

  /** Whether the pipeline is watched with this record. Not while it is called: its answer may be that it does not wait. */
  has({ id, revision }: Pick<WatchRequest, 'id' | 'revision'>): boolean {
    const watch = this.#watches.get(id)
    return watch?.request.revision === revision && !watch.isCalled
  }

  /** Adds a watch. `trigger` is resolved from its topic and filter; null: there is none. */
  add(request: WatchRequest, trigger: TopicTrigger | null, nowMs: number): Watch {
    this.remove(request.id)
    const { filter, ...kept } = request
    const filterChars = JSON.stringify(filter).length
    const isIndexed = trigger !== null && this.#filterChars + filterChars <= MAX_FILTER_CHARS
    const watch: Watch = {
      request: kept,
      filterChars,
      trigger: isIndexed ? trigger : null,
      from: request.from,
      matched: null,
      lastMatch: -1,
      isCalled: false,
      calledMs: Number.NEGATIVE_INFINITY,
      failures: 0,
      seenMs: nowMs,
      confirmed: null,
    }
    this.#watches.set(request.id, watch)
    if (request.end) this.#ending.add(watch)
    if (watch.trigger) this.#index(watch, watch.trigger)
    else this.#minutely.add(watch)
    return watch
  }

  /** Answers a pipeline that is watched. It has read everything below `from`. */
  renew({ id, from }: WatchRequest, nowMs: number): WatchResponse {
    const watch = this.#watches.get(id)
    if (!watch) throw new Error('the pipeline is not watched')
    if (from > watch.from) this.onRead(watch, from, nowMs)
    watch.seenMs = nowMs
    const v = FOLLOWER_API_VERSION
    // It need not wait for the call.
    if (watch.matched) return { v, from: Math.max(watch.from, watch.lastMatch + 1), empty: null }
    const empty = this.#emptyUpTo(watch, this.#scanned)
    return { v, from: watch.from, empty: empty && empty.last.height >= from ? empty : null }
  }

  remove(id: string): void {
    const watch = this.#watches.get(id)
    if (!watch) return
    this.#watches.delete(id)
    for (const set of [this.#matched, this.#minutely, this.#ending]) set.delete(watch)
    if (!watch.trigger) return
    const { source, names } = watch.trigger
    const watches = this.#bySource.get(source)
    watches?.all.delete(watch)
    for (const name of names) {
      const named = watches?.byName.get(name)
      named?.delete(watch)
      if (named?.size === 0) watches?.byName.delete(name)
    }
    if (watches?.all.size === 0) this.#bySource.delete(source)
    this.#filterChars -= watch.filterChars
  }

  #index(watch: Watch, { source, names }: TopicTrigger): void {
    const watches = getOrCreate(this.#bySource, source, () => ({ all: new Set<Watch>(), byName: new Map() }))
    watches.all.add(watch)
    for (const name of names) getOrCreate(watches.byName, name, () => new Set<Watch>()).add(watch)
    this.#filterChars += watch.filterChars
  }

  /** Evaluates the next block. */
  read(block: TopicBlock, nowMs: number): void {
    const { height, time, epoch = null } = block
    const before = this.#scanned
    const isNewEpoch = epoch !== null && before?.epoch !== epoch
    if (isNewEpoch) this.#matchAll(height, nowMs)
    else for (const [source, watches] of this.#bySource) this.#readSource(source, watches, block, nowMs)
    const isNewMinute = Math.floor(time / MINUTE_MS) !== Math.floor((before?.time ?? 0) / MINUTE_MS)
    if (isNewMinute) for (const watch of this.#minutely) this.#match(watch, height, nowMs, null)
    for (const watch of this.#ending)
      if (isLast(watch.request.end, block)) this.#matchAfter(watch, before, height, nowMs)
    this.#scanned = { height, time, epoch: epoch ?? before?.epoch ?? null }
  }

  #readSource(source: TriggerSource, { all, byName }: SourceWatches, block: TopicBlock, nowMs: number): void {
    let names: Iterable<string> | null = null
    try {
      names = source.namesIn(block)
    } catch {
      // The pipelines find out what is wrong with the block.
    }
    const before = this.#scanned
    if (names === null) for (const watch of all) this.#matchAfter(watch, before, block.height, nowMs)
    for (const name of names ?? [])
      for (const watch of byName.get(name) ?? []) this.#matchAfter(watch, before, block.height, nowMs)
  }

  /** Every pipeline has to read these heights: they are missing, or cannot be evaluated. */
  readGap(from: number, to: number, nowMs: number): void {
    for (const watch of this.#watches.values())
      if (to >= watch.from)
        this.#match(watch, to, nowMs, from > watch.from ? this.#emptyUpTo(watch, this.#scanned) : null)
    const { time = 0, epoch = null } = this.#scanned ?? {}
    this.#scanned = { height: to, time, epoch }
  }

  #matchAll(height: number, nowMs: number): void {
    for (const watch of this.#watches.values()) this.#matchAfter(watch, this.#scanned, height, nowMs)
  }

  #matchAfter(watch: Watch, before: ReadBlock | null, height: number, nowMs: number): void {
    if (height >= watch.from) this.#match(watch, height, nowMs, watch.matched ? null : this.#emptyUpTo(watch, before))
  }

  #match(watch: Watch, height: number, atMs: number, empty: EmptyRange | null): void {
    watch.lastMatch = Math.max(watch.lastMatch, height)
    watch.matched ??= { height, atMs, empty }
    if (!watch.isCalled) this.#matched.add(watch)
  }

  #emptyUpTo(watch: Watch, last: ReadBlock | null): EmptyRange | null {
    const proven = watch.request.topic === 'order_updates' ? watch.confirmed : last
    const isKnown = watch.trigger !== null && proven !== null && proven.height >= watch.from
    return isKnown ? { from: watch.from, last: proven } : null
  }

  /** Ids of the pipelines for which the log has to keep order statuses. */
  get ofOrders(): readonly Watch[] {
    return [...this.#watches.values()].filter(({ request }) => request.topic === 'order_updates')
  }

  /**
   * The log has all order statuses of this pipeline from height `knownFrom` up to `last`; null: it has none, so the
   * pipeline has to request them again.
   */
  confirm(watch: Watch, knownFrom: number | null, last: ReadBlock | null, nowMs: number): void {
    if (this.#watches.get(watch.request.id) !== watch) return
    if (knownFrom !== null && knownFrom <= watch.from) {
      if (watch.matched === null && !watch.isCalled) watch.confirmed = last
    } else this.#match(watch, last?.height ?? watch.from, nowMs, null)
  }

  /** Pipelines to call now, at most `count`. They count as called. */
  due(nowMs: number, count: number): readonly Watch[] {
    const found: Watch[] = []
    for (const watch of this.#matched) {
      if (found.length >= count) break
      const called = this.#called.get(watch.request.account) ?? 0
      if (waitMs(watch, nowMs) > 0 || called >= MAX_CALLED) continue
      this.#called.set(watch.request.account, called + 1)
      watch.isCalled = true
      watch.calledMs = nowMs
      this.#matched.delete(watch)
      found.push(watch)
    }
    return found
  }

  /** Delay until the next pipeline is due; null: none is. */
  nextDueMs(nowMs: number): number | null {
    let next = Number.POSITIVE_INFINITY
    for (const watch of this.#matched) next = Math.min(next, waitMs(watch, nowMs))
    return next === Number.POSITIVE_INFINITY ? null : next
  }

  /** A call has ended. Call this before `onRead` or `onFailed`. */
  onAnswered({ request: { account } }: Watch): void {
    const called = (this.#called.get(account) ?? 0) - 1
    if (called > 0) this.#called.set(account, called)
    else this.#called.delete(account)
  }

  /** The pipeline has read everything below `next`; null: it does not wait, so it is no longer watched. */
  onRead(watch: Watch, next: number | null, nowMs: number): void {
    if (this.#watches.get(watch.request.id) !== watch) return
    if (next === null) return this.remove(watch.request.id)
    watch.isCalled = false
    watch.failures = 0
    watch.seenMs = nowMs
    watch.from = next
    watch.confirmed = null
    watch.matched = null
    if (watch.lastMatch >= next) this.#match(watch, watch.lastMatch, nowMs, null)
  }

  /** A call failed. After several failures, the pipeline is no longer watched: its own alarm resumes it. */
  onFailed(watch: Watch): void {
    if (this.#watches.get(watch.request.id) !== watch) return
    watch.failures++
    if (watch.failures >= MAX_FAILURES) return this.remove(watch.request.id)
    watch.isCalled = false
    this.#matched.add(watch)
  }

  /** Pipelines that have not confirmed for long that they wait. */
  expired(nowMs: number): readonly string[] {
    return [...this.#watches].filter(([, { seenMs }]) => nowMs - seenMs > EXPIRE_MS).map(([id]) => id)
  }

  /** Records the end of a page. */
  mark(): void {
    if (this.#scanned) this.#marks = [...this.#marks, this.#scanned].slice(-MAX_MARKS)
  }

  /** The last mark up to which every pipeline has read the blocks that matter to it; null: none. */
  get settled(): ReadBlock | null {
    let limit = Number.POSITIVE_INFINITY
    for (const { matched } of this.#watches.values()) if (matched) limit = Math.min(limit, matched.height)
    return this.#marks.findLast(({ height }) => height < limit) ?? null
  }
}

/** Delay until the pipeline is due. A longer wait than any means that the clock was set back. */
function waitMs({ request: { gatherMs }, matched, calledMs, failures }: Watch, nowMs: number): number {
  const upTo = (ms: number, maxMs: number) => (ms > maxMs ? 0 : Math.max(0, ms))
  const callMs = failures > 0 ? failures * RETRY_MS : EVERY_MS
  const sinceCallMs = upTo(calledMs + callMs - nowMs, callMs)
  return failures > 0 ? sinceCallMs : Math.max(sinceCallMs, upTo((matched?.atMs ?? 0) + gatherMs - nowMs, gatherMs))
}

const isLast = (end: WatchRequest['end'], { height, time }: TopicBlock) =>
  end !== null && ('height' in end ? height >= end.height : time > end.timeMs)
