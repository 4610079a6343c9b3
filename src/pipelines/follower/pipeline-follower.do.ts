// PipelineFollower: one Durable Object per chain. The log calls it when blocks become durable. It reads them once,
// evaluates them for all pipelines that wait (watch-list.ts), and calls the Sinks that have to read them. Otherwise
// neither it nor the Sinks are awake. After a restart it evaluates again from the last block that it has stored.

import { DurableObject } from 'cloudflare:workers'
import { readBooksLine } from '../../archive/replay/books-line.ts'
import { fromChunks } from '../../core/chunks.ts'
import { countStart, reportCounters } from '../../core/counter-reports.client.ts'
import { orReject } from '../../core/deadline.ts'
import { Objects } from '../../core/objects.client.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { after } from '../../core/timers.client.ts'
import { LiveSettings, readVariables } from '../../core/variables.ts'
import type { DurableLines, DurablePage, DurablePart } from '../../protocol/feed/durable-api.ts'
import { FOLLOWER_READER, LOG_API_VERSION, type RelayEvents } from '../../protocol/feed/log-api.ts'
import {
  type AdvanceResponse,
  FOLLOWER_API_VERSION,
  type FollowerApi,
  type ReadBlock,
  type WatchRequest,
  type WatchResponse,
} from '../follower-api.ts'
import { selectTopic } from '../topics/catalogue.ts'
import type { TopicBlock, TopicTrigger } from '../topics/topic.ts'
import { type FollowedKind, FollowerStore } from './follower.store.ts'
import { MAX_WATCHES, type Watch, WatchList } from './watch-list.ts'

const LOG_TIMEOUT_MS = 30_000
/** Longer than a Sink waits for its delivery. */
const POKE_TIMEOUT_MS = 15_000
/** Calls of Sinks at the same time. */
const MAX_POKES = 200
/** The log forgets the order statuses that a pipeline needs after 20 seconds. */
const KEEP_MS = 8_000
/** After this many failed scans, evaluation begins again at the newest block. */
const MAX_FAILURES = 3
/** The log calls at least this often. If it does not, it must be notified that it is needed. */
const SILENT_MS = 20_000

const KINDS: readonly FollowedKind[] = ['events', 'books']
const kindOf = ({ topic }: Pick<WatchRequest, 'topic'>): FollowedKind => (topic === 'book_diffs' ? 'books' : 'events')

export class PipelineFollower extends DurableObject<Cloudflare.Env> implements FollowerApi {
  readonly #objects: Objects
  readonly #store: FollowerStore
  readonly #lists: Readonly<Record<FollowedKind, WatchList>>
  /** Kinds whose last evaluated block is compared with the log before the next one is read. */
  readonly #uncompared = new Set<FollowedKind>(KINDS)
  #scanning: Promise<void> | null = null
  /** Scans that have failed in a row. */
  #failures = 0
  #pokes = 0
  #advancedMs = 0
  #keptMs = 0
  #storedMs = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('PipelineFollower')
    this.#objects = new Objects(env, readVariables(LiveSettings, env))
    this.#store = new FollowerStore(ctx.storage)
    const stored = (kind: FollowedKind) => new WatchList(this.#store.scanned(kind))
    this.#lists = { events: stored('events'), books: stored('books') }
    const nowMs = Date.now()
    for (const { filter, ...request } of this.#store.watches) {
      const trigger = filter === undefined ? null : triggerOf({ ...request, filter })
      this.#lists[kindOf(request)].add({ ...request, filter: filter ?? null }, trigger, nowMs)
    }
  }

  async watch(request: WatchRequest): Promise<WatchResponse> {
    const kind = kindOf(request)
    const list = this.#lists[kind]
    const isSilent = Math.abs(Date.now() - this.#advancedMs) > SILENT_MS
    if (list.size === 0 || list.scanned === null) await this.#begin(kind)
    if (isSilent) await this.#scan()
    const answer = list.has(request) ? list.renew(request, Date.now()) : this.#add(list, request)
    // Not earlier: the log would be notified that it is not needed.
    if (isSilent) await orReject(this.#objects.log().follow(), LOG_TIMEOUT_MS, after)
    if (isSilent) this.#advancedMs = Date.now()
    return answer
  }

  #add(list: WatchList, request: WatchRequest): WatchResponse {
    if (this.#size >= MAX_WATCHES) throw new Error('too many pipelines wait for rows')
    const from = Math.max(request.from, (list.scanned?.height ?? -1) + 1)
    const watch = list.add({ ...request, from }, triggerOf(request), Date.now())
    this.#store.put({ ...watch.request, ...(watch.trigger && { filter: request.filter }) })
    return { v: FOLLOWER_API_VERSION, from, empty: null }
  }

  async advance(): Promise<AdvanceResponse> {
    const isNeeded = this.#size > 0
    // If this fails, waiting pipelines have to read the log themselves.
    if (isNeeded)
      await this.#scan().catch((error: unknown) => {
        this.#advancedMs = 0
        throw error
      })
    // A log that is not needed stops to call.
    this.#advancedMs = isNeeded ? Date.now() : 0
    if (isNeeded) this.#pokeDue()
    if (isNeeded && Math.abs(Date.now() - this.#storedMs) >= MINUTE_MS) this.#tidy()
    reportCounters(this.ctx, this.env)
    const waits = KINDS.flatMap((kind) => this.#lists[kind].nextDueMs(Date.now()) ?? [])
    return { v: FOLLOWER_API_VERSION, isNeeded, againMs: waits.length > 0 ? Math.min(...waits) : null }
  }

  get #size(): number {
    return this.#lists.events.size + this.#lists.books.size
  }

  /** Begins at the newest block. */
  async #begin(kind: FollowedKind): Promise<void> {
    const { head } = await this.#page(kind, null)
    if (head) this.#lists[kind].restart({ ...head, epoch: null })
  }

  /** Evaluates all blocks that are durable. Concurrent calls share one scan. */
  #scan(): Promise<void> {
    this.#scanning ??= this.#scanAll().finally(() => {
      this.#scanning = null
    })
    return this.#scanning
  }

  async #scanAll(): Promise<void> {
    for (const kind of KINDS) {
      if (this.#lists[kind].size === 0) continue
      if (this.#lists[kind].scanned === null) await this.#begin(kind)
      await this.#scanKind(kind)
    }
  }

  async #scanKind(kind: FollowedKind): Promise<void> {
    try {
      for (let isMore = true; isMore; ) isMore = await this.#scanPage(kind)
      this.#failures = 0
    } catch (error) {
      // Perhaps the page is too large. Each pipeline then reads for itself.
      if (++this.#failures >= MAX_FAILURES) await this.#begin(kind)
      throw error
    }
  }

  /** Evaluates a page of blocks. Returns whether there may be more. */
  async #scanPage(kind: FollowedKind): Promise<boolean> {
    const list = this.#lists[kind]
    const { scanned } = list
    if (scanned === null) return false
    const kept = this.#isKeepDue(kind) ? list.ofOrders : null
    const isUncompared = this.#uncompared.has(kind)
    const { head, parts, kept: known = [] } = await this.#page(kind, scanned.height + (isUncompared ? 0 : 1), kept)
    const nowMs = Date.now()
    if (head === null) this.#uncompared.add(kind)
    if (head === null) return false
    // If the log was reset, each pipeline compares it with what it has read.
    if (head.height < scanned.height || (isUncompared && isChanged(scanned, kind, parts))) {
      list.restart({ ...head, epoch: null })
      return false
    }
    this.#uncompared.delete(kind)
    for (const part of parts) {
      if ('gap' in part) list.readGap(Math.max(part.gap.from, (list.scanned?.height ?? -1) + 1), part.gap.to, nowMs)
      else this.#readLines(list, kind, part, nowMs)
    }
    list.mark()
    for (const [at, watch] of (kept ?? []).entries()) list.confirm(watch, known[at] ?? null, list.scanned, nowMs)
    return parts.length > 0 && (list.scanned?.height ?? head.height) < head.height
  }

  #readLines(list: WatchList, kind: FollowedKind, { first, lines, orders = [] }: DurableLines, nowMs: number): void {
    const statuses = fromChunks(orders).split('\n')
    for (const [at, line] of fromChunks(lines).split('\n').entries()) {
      const height = first + at
      if (height <= (list.scanned?.height ?? -1)) continue
      const block = blockOf(kind, line, statuses[at])
      if (block?.height === height) list.read(block, nowMs)
      else list.readGap(height, height, nowMs)
    }
  }

  #isKeepDue(kind: FollowedKind): boolean {
    const nowMs = Date.now()
    if (kind !== 'events' || Math.abs(nowMs - this.#keptMs) < KEEP_MS) return false
    this.#keptMs = nowMs
    return true
  }

  #page(kind: FollowedKind, from: number | null, kept: readonly Watch[] | null = null): Promise<DurablePage> {
    const hasOrders = kind === 'events' && this.#lists.events.ofOrders.length > 0
    const orders = hasOrders && { orders: [] }
    const keep = kept && { keep: kept.map(({ request: { id } }) => id) }
    const request = { v: LOG_API_VERSION, reader: FOLLOWER_READER, from, kind, ...orders, ...keep }
    const page = this.#objects.log().durable(request)
    return orReject(page, LOG_TIMEOUT_MS, after)
  }

  #pokeDue(): void {
    for (const kind of KINDS)
      for (const watch of this.#lists[kind].due(Date.now(), MAX_POKES - this.#pokes))
        this.ctx.waitUntil(this.#poke(this.#lists[kind], watch))
  }

  async #poke(list: WatchList, watch: Watch): Promise<void> {
    const { id, revision } = watch.request
    const empty = watch.matched?.empty ?? null
    this.#pokes++
    const poke = this.#objects.sink(id).poke({ v: FOLLOWER_API_VERSION, revision, empty })
    const answer = await orReject(poke, POKE_TIMEOUT_MS, after).catch(() => null)
    this.#pokes--
    list.onAnswered(watch)
    if (answer) list.onRead(watch, answer.next, Date.now())
    else list.onFailed(watch)
    if (!list.isWatched(id)) this.#store.remove(id)
  }

  /** Stores the position, and drops pipelines that are gone. */
  #tidy(): void {
    const nowMs = Date.now()
    this.#storedMs = nowMs
    for (const kind of KINDS) {
      const list = this.#lists[kind]
      for (const id of list.expired(nowMs)) {
        list.remove(id)
        this.#store.remove(id)
      }
      const { settled } = list
      if (settled && list.size > 0) this.#store.setScanned(kind, settled)
    }
  }
}

/** Whether the log has another block at this height. */
function isChanged({ height, time }: ReadBlock, kind: FollowedKind, parts: readonly DurablePart[]): boolean {
  const part = parts.find((one) => !('gap' in one) && one.first <= height && height <= one.last)
  if (!part || 'gap' in part) return false
  const block = blockOf(kind, fromChunks(part.lines).split('\n')[height - part.first] ?? '')
  return block?.time !== time
}

/** Null: every block may matter. */
function triggerOf(request: Pick<WatchRequest, 'topic' | 'filter'>): TopicTrigger | null {
  const chosen = selectTopic(request)
  if (!chosen.ok) return null
  const { definition, interest } = chosen.value
  return definition.trigger?.(interest) ?? null
}

/** Null: the line cannot be parsed. */
function blockOf(kind: FollowedKind, line: string, orders = ''): TopicBlock | null {
  try {
    if (kind === 'books') return readBooksLine(line, null)
    const block = JSON.parse(line) as RelayEvents
    return orders === '' ? block : ({ ...block, orders: JSON.parse(orders) as unknown[] } as RelayEvents)
  } catch {
    return null
  }
}
