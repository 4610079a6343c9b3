// Reads a pipeline's blocks from the archive, then from the durable part of the log. Invariants: each height once and
// in order, as a line or within a gap; the log continues where the archive ends, and blocks that the log has dropped in
// the meantime are read from the archive; each repair of a gap is visible from one moment on, which the reader chooses.

import type { ArchivedSegment, ArchiveReader } from '../../archive/archive/archive-read.ts'
import { ArchiveDamage } from '../../archive/archive/archive-read.ts'
import { fromChunks } from '../../core/chunks.ts'
import { visible } from '../../core/visible.ts'
import type { DurableLines, DurablePage, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { withoutPayments } from '../../protocol/feed/payments.ts'
import type { ReadBlock } from '../follower-api.ts'
import type { Pipeline } from '../pipeline.ts'
import { FatalPipelineError } from '../pipeline.ts'
import type { LineKind } from '../topics/topic.ts'

/** The end of a pipeline, inclusive. */
export type EndPosition = { readonly height: number } | { readonly timeMs: number }

const HEIGHT = /^\d{1,15}$/

/** `now`: after the newest block. */
export function startOf(text: string): StartPosition | 'now' {
  if (text === '' || text === 'latest') return 'now'
  if (text === 'earliest') return { first: true }
  return HEIGHT.test(text) ? { height: Number(text) } : { timeMs: Date.parse(text) }
}

/** `now`: at the newest block; null: never. */
export function endOf({
  execution_mode,
  execution_stop_from: text,
}: Pick<Pipeline, 'execution_mode' | 'execution_stop_from'>): EndPosition | 'now' | null {
  if (text === '' && execution_mode === 'continuous') return null
  if (text === '' || text === 'latest') return 'now'
  if (text === 'earliest') return { height: -1 }
  return HEIGHT.test(text) ? { height: Number(text) } : { timeMs: Date.parse(text) }
}

export const isBeyond = (
  end: EndPosition | null,
  { height, time }: { readonly height: number; readonly time: number },
) => end !== null && ('height' in end ? height > end.height : time > end.timeMs)

/** Where to start: at a height, at the first block at or after a time, or at the first available block. */
export type StartPosition = { readonly height: number } | { readonly timeMs: number } | { readonly first: true }

export type SourceItem =
  | { readonly height: number; readonly line: string; readonly rows?: string; readonly isArchived?: true }
  | { readonly from: number; readonly to: number; readonly why: string }

/** First height whose order statuses were known when the blocks up to `to` were first read. */
export interface KnownOrders {
  readonly to: number
  readonly ordersFrom: number
}

export interface SourcePorts {
  /** Null: no archive, or it does not cover the topic. */
  readonly archive: Pick<ArchiveReader, 'segmentsFrom' | 'lines' | 'last'> | null
  /** Whether the blocks of a segment count as missing, because a repair has added them that comes later. */
  isLater?(segment: ArchivedSegment): Promise<boolean>
  /** The newest durable block of the log, cached briefly; null: there is none. */
  head(): Promise<HeightAndTime | null>
  /** Durable blocks of the log, starting at a height. */
  durable(from: number): Promise<DurablePage>
}

const MAX_MESSAGE_CHARS = 100
const MISSING_REASON = 'these blocks are not available'
/** Reasons for missing order statuses. */
const ORDERS_NOT_REQUESTED_REASON = 'order statuses were not requested yet'
const TOO_MANY_WALLETS_REASON =
  'order statuses are not requested: all pipelines and streams together have reached the wallet limit'
export const DAMAGED_REASON = 'the archive of these blocks is damaged'

/** Stored blocks do not change, so reading one again helps only after an update of the reader. */
export function unreadableBlock(height: number, error: unknown): FatalPipelineError {
  const reason = visible(error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS)
  return new FatalPipelineError(
    `Block ${height} cannot be read; the operator must investigate: ${reason}. Set the pipeline to running to retry, ` +
      `or set "execution_start_from" to "${height + 1}" to skip the block`,
  )
}

/**
 * The feed was reset. `head`: newest block, which is below the last one that was read; null: the last block read has
 * changed.
 */
function feedReset(head: number | null, read: number): FatalPipelineError {
  const found = head === null ? 'it has changed since' : `the log now ends at block ${head}`
  return new FatalPipelineError(
    `Block ${read} was read, but ${found}: the feed was reset. Set the pipeline to running to continue once the log has that block again. ` +
      'For a different chain, create a new pipeline, or set "execution_start_from" after deleting these heights from the destination',
  )
}

type Archive = NonNullable<SourcePorts['archive']>

export class Source {
  readonly #ports: SourcePorts
  readonly #kind: LineKind
  readonly #known: KnownOrders
  /** Block to compare with the log; null: already compared. */
  #uncompared: ReadBlock | null
  readonly #lastRead: ReadBlock | null
  #hasRead: boolean
  /** The next height; null: not known yet. */
  #next: number | null = null
  #isReadingLog: boolean
  /** Delay that the log requested. */
  retryMs = 0
  /** True if reading ended before the newest durable block. */
  isBehind = false
  /** First height whose order statuses are known for the current read; null if they are not used. */
  ordersFrom: number | null = null

  /** `read`: the last block before those to read. `isRecent`: the log still has the blocks after it. */
  constructor(
    ports: SourcePorts,
    kind: LineKind,
    known: KnownOrders | null = null,
    read: ReadBlock | null = null,
    isRecent = false,
  ) {
    this.#isReadingLog = isRecent
    this.#ports = ports
    this.#kind = kind
    this.#known = known ?? { to: -1, ordersFrom: 0 }
    this.#uncompared = read
    this.#lastRead = read
    this.#hasRead = read !== null
  }

  /** Items from a position up to the newest durable block. A later call continues after the last item. */
  async *items(place: StartPosition): AsyncGenerator<SourceItem> {
    if ('height' in place) this.#next ??= place.height
    this.retryMs = 0
    this.isBehind = false
    this.ordersFrom = null
    for (;;) {
      if (!this.#isReadingLog) yield* this.#archiveItems(place)
      this.#isReadingLog = true
      for await (const piece of this.#logItems()) yield piece
      if (this.#isReadingLog) return
    }
  }

  async *#archiveItems(place: StartPosition): AsyncGenerator<SourceItem> {
    const { archive } = this.#ports
    if (!archive || (await this.#isArchiveStale(archive))) return
    for (;;) {
      const at = this.#next === null ? ('timeMs' in place ? place : { height: 0 }) : { height: this.#next }
      const segment = await this.#segmentFrom(archive, at)
      if (!segment) break
      if (this.#next !== null && segment.first > this.#next) yield this.#gap(segment.first - 1, MISSING_REASON)
      yield* this.#segmentItems(archive, segment)
    }
    const last = this.#next === null ? await archive.last() : null
    if (last !== null) this.#next = last + 1
  }

  async *#segmentItems(archive: Archive, segment: ArchivedSegment): AsyncGenerator<SourceItem> {
    let height = segment.first
    this.#next ??= height
    if (await this.#ports.isLater?.(segment)) return yield this.#gap(segment.last, MISSING_REASON)
    try {
      for await (const line of archive.lines(segment, this.#kind === 'books' ? 'books' : 'events')) {
        if (height >= this.#next) {
          this.#next = height + 1
          this.#hasRead = true
          yield { height, line: withoutPayments(line), isArchived: true }
        }
        height++
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
    }
    if (this.#next <= segment.last) yield this.#gap(segment.last, DAMAGED_REASON)
  }

  async *#logItems(): AsyncGenerator<SourceItem> {
    for (;;) {
      const { head, parts, retryMs = 0, ordersFrom } = await this.#ports.durable(this.#from)
      this.retryMs = retryMs
      const before = (this.#next ?? 0) - 1
      if (this.#hasRead && head && head.height < before) throw feedReset(head.height, before)
      this.isBehind = retryMs > 0
      if (parts.length === 0) return
      this.#uncompared = null
      if (this.#kind === 'orders') {
        const from = ordersFrom ?? Number.POSITIVE_INFINITY
        // All blocks of a batch must use the same first height with known order statuses.
        this.isBehind = from !== (this.ordersFrom ?? from)
        if (this.isBehind) return
        this.ordersFrom = from
      }
      for (const part of parts) {
        if (!('gap' in part)) {
          yield* this.#lineItems(part)
          continue
        }
        const { to } = part.gap
        if (await this.#hasArchived(to)) {
          this.#isReadingLog = false
          return
        }
        this.#next ??= 0
        if (to >= this.#next) yield this.#gap(to, MISSING_REASON)
      }
    }
  }

  *#lineItems({ first, last, lines, orders, replica }: DurableLines): Generator<SourceItem> {
    this.#next ??= first
    const texts = fromChunks(lines).split('\n')
    const rows = fromChunks(orders ?? replica ?? []).split('\n')
    if (texts.length !== last - first + 1)
      throw unreadableBlock(first, `the log has ${texts.length} lines for blocks ${first} to ${last}`)
    for (const [at, line] of texts.entries()) {
      const height = first + at
      if (height === this.#lastRead?.height) this.#compare(line, this.#lastRead)
      if (height < this.#next) continue
      const from = this.#ordersFrom(height)
      if (height < from) {
        let to = height
        while (to < last && this.#ordersFrom(to + 1) === from && to + 1 < from) to++
        yield this.#gap(to, from === Number.POSITIVE_INFINITY ? TOO_MANY_WALLETS_REASON : ORDERS_NOT_REQUESTED_REASON)
        continue
      }
      this.#next = height + 1
      this.#hasRead = true
      const own = rows[at]
      yield { height, line, ...(own && { rows: own }) }
    }
  }

  /** Blocks below this height may lack order statuses. */
  #ordersFrom(height: number): number {
    const { to, ordersFrom } = this.#known
    return height <= to ? ordersFrom : (this.ordersFrom ?? 0)
  }

  /** Blocks that are missing from the log may have reached the archive since the archive was last read. */
  async #hasArchived(to: number): Promise<boolean> {
    const { archive } = this.#ports
    if (!archive || (await this.#isArchiveStale(archive))) return false
    const segment = await this.#segmentFrom(archive, { height: this.#next ?? 0 })
    return segment !== null && segment.first <= to
  }

  /** Includes the previous block for comparison. */
  get #from(): number {
    const next = this.#next ?? 0
    return this.#uncompared?.height === next - 1 ? next - 1 : next
  }

  /** Throws if the previous block is not the one that was read. */
  #compare(line: string, { height, time }: ReadBlock): void {
    const { time: now } = JSON.parse(line) as HeightAndTime
    if (now !== time) throw feedReset(null, height)
  }

  /** After a reset to lower heights, the archive contains the old chain until the log passes the end of that chain. */
  async #isArchiveStale(archive: Archive): Promise<boolean> {
    const [last, head] = await Promise.all([archive.last(), this.#ports.head()])
    return last !== null && head !== null && head.height < last
  }

  /** Segments of an old chain have a different epoch and earlier times. */
  async #segmentFrom(archive: Archive, at: Parameters<Archive['segmentsFrom']>[0]): Promise<ArchivedSegment | null> {
    const [segment = null] = await archive.segmentsFrom(at, 1)
    const read = this.#lastRead
    const isOther = segment?.epoch != null && read !== null && segment.epoch !== read.epoch
    return isOther && segment.lastMs < read.time ? null : segment
  }

  #gap(to: number, why: string): SourceItem {
    const from = this.#next ?? 0
    this.#next = to + 1
    return { from, to, why }
  }
}
