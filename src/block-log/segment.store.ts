// Stores segments of blocks and the state of the chain in the key-value API of the log's SQLite database. See
// schemas/storage.md.
//
// After an SQL write, the platform holds back every later frame until other machines confirm the write, and this cannot
// be turned off. For a key-value put, it can be turned off (workerd, actor-sqlite.c++, onWrite). If the object is lost,
// its last puts may be lost with it, until untilDurable() resolves. Nothing may be acknowledged until then. Readers see
// a segment at once.
//
// Rows of order-level books are stored after the rest of their segment, one piece per turn, because blocks wait for
// each put. Rows that were lost or dropped are read as unknown. Their reader then starts from a snapshot.

import { fromChunks, toChunks } from '../core/chunks.ts'
import type { StoredBlocks } from '../protocol/feed/archive-api.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import { splitIntoChunks } from '../protocol/feed/row-chunks.ts'
import { type ChainState, EMPTY_CHAIN } from './chain.ts'
import type { NewSegment } from './pending-segment.ts'
import type { EventsSegment } from './retained-fills.ts'
import { PaymentsCache } from './retained-payments.ts'
import type { SegmentKind } from './segment.ts'
import { keyOf, keysOf, keysOfKind, type SegmentEntry, segmentAt, UnarchivedSegments } from './unarchived-segments.ts'

/** Maximum segments to read in one turn, however small they are. */
const MAX_SEGMENTS_PER_READ = 64
/**
 * Maximum number of segments in the window, whatever the block times are. This is four times as many as five minutes
 * need.
 */
const MAX_SEGMENTS = 1200
/** Maximum number of retained pieces of order rows. They take 256 MiB. */
const MAX_ROW_PIECES = 512
/** Maximum number of retained pieces of signed actions. They take 512 MiB. */
const MAX_REPLICA_PIECES = 512
/** Order rows are dropped this much earlier than other data, because a slow reader gets a snapshot faster. */
const ROWS_YOUNGER_MS = 3 * 60_000
/** Maximum number of pieces that wait for their turn. If there are more, the oldest are stored at once. */
const MAX_PENDING_PIECES = 64
/** Maximum number of keys per call of the platform's API. */
const MAX_KEYS_PER_CALL = 128
const UNCONFIRMED = { allowUnconfirmed: true } as const

/**
 * The log's position: its chain, the time of its last block or snapshot, and the coins that were repaired since. It is
 * stored, so its keys must not change.
 */
interface LogState {
  readonly chain: ChainState
  readonly time: number | null
  readonly repaired: readonly string[]
}

/** The value under the key `log`. It is written together with each segment, so that both are lost or both are kept. */
interface StoredLog extends LogState {
  readonly segments: readonly SegmentEntry[]
}
const EMPTY_LOG: StoredLog = { chain: EMPTY_CHAIN, time: null, repaired: [], segments: [] }

/** Order rows of the segment that starts at `first`, and the pieces that are not stored yet. */
interface PendingRows {
  readonly first: number
  readonly text: string
  readonly pieces: readonly string[]
  next: number
}

export class SegmentStore {
  readonly #storage: Pick<DurableObjectStorage, 'kv' | 'put' | 'delete' | 'sync'>
  #pendingRows: PendingRows[] = []
  #segments: readonly SegmentEntry[]
  readonly #payments = new PaymentsCache()
  readonly #unarchived: UnarchivedSegments
  /** The log's position when this object restarted. */
  readonly state: LogState
  /** Resolves once all writes so far are done. After a write has failed, it always rejects. */
  #writes: Promise<unknown> = Promise.resolve()

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    const { segments, ...state } = storage.kv.get<StoredLog>('log') ?? EMPTY_LOG
    this.#segments = segments
    this.state = state
    const listed = [...storage.kv.list<SegmentEntry>({ prefix: UnarchivedSegments.prefix })].map(([, one]) => one)
    this.#unarchived = new UnarchivedSegments(storage.kv.get<number>('archived') ?? null, listed)
  }

  /**
   * Stores a segment (null: none), the log's state after it, and the values in `more`. The segment's order rows are
   * stored later (storeRows). Drops data older than `oldestMs`, except books and events that are not archived yet.
   */
  save(
    segment: NewSegment | null,
    state: LogState,
    oldestMs: number,
    more: Readonly<Record<string, string>> = {},
  ): void {
    const puts: Record<string, unknown> = { ...more }
    const all = segment ? [...this.#segments, this.#encodeSegment(segment, puts)] : this.#segments
    const isRetained = ({ time }: SegmentEntry, at: number) => time >= oldestMs && at >= all.length - MAX_SEGMENTS
    const withRows = withRecent('l4', MAX_ROW_PIECES, oldestMs + ROWS_YOUNGER_MS, all.filter(isRetained))
    this.#segments = withRecent('replica', MAX_REPLICA_PIECES, oldestMs, withRows)
    this.#payments.forget(this.first)
    const unarchived = this.#unarchived.retain(all.filter((one, at) => !isRetained(one, at)))
    puts.log = { ...state, segments: this.#segments } satisfies StoredLog
    this.#put({ ...puts, ...unarchived.puts })
    const retained = new Map([...this.#segments, ...unarchived.spared].map(({ first, chunks }) => [first, chunks]))
    for (const { first, chunks } of all) {
      const rest = retained.get(first) ?? {}
      const dropped = Object.entries(chunks).filter(([kind]) => rest[kind as SegmentKind] === undefined)
      if (dropped.length > 0) this.#delete(keysOf({ first, chunks: Object.fromEntries(dropped) }))
    }
    while (this.#pendingRows.reduce((sum, { pieces, next }) => sum + pieces.length - next, 0) > MAX_PENDING_PIECES)
      this.storeRows()
  }

  /** Adds the chunks of a segment to `puts`, except its order rows. */
  #encodeSegment(
    { first, last, time, lines: { l4, ...lines } }: NewSegment,
    puts: Record<string, unknown>,
  ): SegmentEntry {
    const chunks: Partial<Record<SegmentKind, number>> = {}
    let bytes = 0
    for (const [kind, text] of Object.entries(lines) as [SegmentKind, string][]) {
      const pieces = toChunks(text)
      for (const [part, piece] of pieces.entries()) puts[keyOf(kind, first, part)] = piece
      chunks[kind] = pieces.length
      if (kind !== 'orders' && kind !== 'replica') for (const piece of pieces) bytes += piece.byteLength
    }
    if (l4 === undefined) return { first, last, time, chunks, bytes }
    const rows = { first, text: l4, pieces: splitIntoChunks(l4), next: 0 }
    this.#pendingRows.push(rows)
    return { first, last, time, chunks: { ...chunks, l4: rows.pieces.length }, bytes }
  }

  /** Stores the next piece of order rows. Returns true if more pieces remain. */
  storeRows(): boolean {
    const rows = this.#pendingRows[0]
    if (!rows) return false
    const { first, pieces, next: part } = rows
    rows.next++
    if (rows.next === pieces.length) this.#pendingRows.shift()
    const isHeld = this.#find(first)?.chunks.l4 !== undefined
    if (isHeld) this.#put({ [keyOf('l4', first, part)]: new TextEncoder().encode(pieces[part]) })
    return this.#pendingRows.length > 0
  }

  #track(write: Promise<unknown>): void {
    this.#writes = Promise.all([this.#writes, write])
  }

  #put(values: Record<string, unknown>): void {
    const keys = Object.keys(values)
    for (let at = 0; at < keys.length; at += MAX_KEYS_PER_CALL) {
      const some = keys.slice(at, at + MAX_KEYS_PER_CALL).map((key) => [key, values[key]])
      this.#track(this.#storage.put(Object.fromEntries(some), UNCONFIRMED))
    }
  }

  #delete(keys: readonly string[]): void {
    for (let at = 0; at < keys.length; at += MAX_KEYS_PER_CALL)
      this.#track(this.#storage.delete(keys.slice(at, at + MAX_KEYS_PER_CALL), UNCONFIRMED))
  }

  /**
   * Resolves once everything that was saved so far would survive the loss of this machine. If a write was lost, it
   * rejects now and in all later calls, because storage then differs from this object's state.
   */
  async untilDurable(): Promise<void> {
    await this.#writes
    await this.#storage.sync()
  }

  /** Lines of the segment that contains `height`; null if there is none. The segment may start below `height`. */
  segmentWith(kind: SegmentKind, height: number): readonly string[] | null {
    const found = this.#find(height)
    return found && this.#text(kind, found).split('\n')
  }

  /** The segment of events that contains `height`; null if there is none. */
  eventsWith(height: number): EventsSegment | null {
    const found = this.#find(height)
    return found && { last: found.last, text: this.#text('events', found) }
  }

  /** Payments of each block in the segment that contains `height`; an empty list if no block has payments. */
  paymentsWith(height: number): readonly string[] {
    const found = this.#find(height)
    if (found?.chunks.payments === undefined) return []
    return this.#payments.linesOf(found.first, () => this.#text('payments', found))
  }

  /** First stored height; null if there is none. */
  get first(): number | null {
    return this.#segments[0]?.first ?? null
  }

  #find(height: number): SegmentEntry | null {
    return segmentAt(this.#segments, height)
  }

  #text(kind: SegmentKind, listed: SegmentEntry): string {
    const isWaiting = kind === 'l4' && listed.chunks.l4
    const waiting = isWaiting ? this.#pendingRows.find((rows) => rows.first === listed.first) : undefined
    if (waiting) return waiting.text
    const pieces = this.#pieces(kind, listed)
    // biome-ignore lint/style/noNonNullAssertion: rows of orders may be removed under a reader; any other piece that is missing must throw
    return kind === 'l4' && pieces.includes(undefined!) ? '' : fromChunks(pieces)
  }

  #pieces(kind: SegmentKind, listed: SegmentEntry): Uint8Array[] {
    // biome-ignore lint/style/noNonNullAssertion: as above
    return keysOfKind(kind, listed).map((key) => this.#storage.kv.get<Uint8Array>(key)!)
  }

  /**
   * Stored blocks for the archive, starting at `height`: from the window, or from older segments that are not archived
   * yet. Null if there are none. `only`: the only kind of lines to return, and `replica` if `hasReplica`.
   */
  blocksWith(height: number, only?: SegmentKind, hasReplica = false): StoredBlocks | null {
    const found = this.#unarchived.at(height) ?? this.#find(height)
    if (!found) return null
    const { first, last } = found
    const pieces = (kind: SegmentKind) => ((only ?? kind) === kind ? this.#pieces(kind, found) : [])
    const payments = only || found.chunks.payments === undefined ? {} : { payments: pieces('payments') }
    const isHeld = hasReplica && found.chunks.replica !== undefined
    const replica = isHeld && { replica: this.#pieces('replica', found) }
    return { first, last, books: pieces('books'), events: pieces('events'), ...payments, ...replica }
  }

  /** First stored height above this one; null if there is none. */
  firstAbove(height: number): number | null {
    const inWindow = this.#segments.find(({ first }) => first > height)?.first
    const found = [this.#unarchived.firstAbove(height) ?? inWindow, inWindow].filter((one) => one !== undefined)
    return found.length === 0 ? null : Math.min(...found)
  }

  /** Sets the height up to which everything is archived; null if there is no archive. */
  setArchived(height: number | null): void {
    if (height === this.#unarchived.archivedTo) return
    const { segments, keys } = this.#unarchived.release(height)
    if (height !== null) this.#put({ archived: height })
    this.#delete([...segments.flatMap(keysOf), ...keys, ...(height === null ? ['archived'] : [])])
  }

  /** Whether the archive's backlog is full. */
  get isFull(): boolean {
    return this.#unarchived.isFull
  }

  /** Height and time of the newest stored block; null if there is none. */
  newest(): HeightAndTime | null {
    const last = this.#segments.at(-1)
    return last ? { height: last.last, time: last.time } : null
  }

  /** Segments of events that start below `before`, newest first. Reading stops when they have `minChars` characters. */
  eventsBefore(before: number, minChars: number): { segments: EventsSegment[]; next: number | null } {
    const below = this.#segments.filter(({ first }) => first < before).reverse()
    const segments: EventsSegment[] = []
    let chars = 0
    for (const one of below.slice(0, MAX_SEGMENTS_PER_READ)) {
      if (chars >= minChars) break
      const text = this.#text('events', one)
      segments.push({ last: one.last, text })
      chars += text.length
    }
    return { segments, next: segments.length < below.length ? (below[segments.length - 1]?.first ?? null) : null }
  }

  /** Discards the chain and its segments, and stores the values in `more`. */
  reset(more: Readonly<Record<string, string>> = {}): void {
    const { segments, keys } = this.#unarchived.clear()
    this.#delete([...[...this.#segments, ...segments].flatMap(keysOf), ...keys])
    this.#segments = []
    this.#payments.forget(null)
    this.#pendingRows = []
    this.#put({ ...more, log: EMPTY_LOG })
  }
}

/** Returns the segments without those pieces of a kind that are too old or too many. */
function withRecent(
  kind: SegmentKind,
  maxPieces: number,
  oldestMs: number,
  segments: readonly SegmentEntry[],
): SegmentEntry[] {
  let pieces = 0
  return segments
    .toReversed()
    .map((one) => {
      pieces += one.chunks[kind] ?? 0
      const isHeld = one.time >= oldestMs && pieces <= maxPieces
      const { [kind]: _, ...chunks } = one.chunks
      return isHeld || one.chunks[kind] === undefined ? one : { ...one, chunks }
    })
    .toReversed()
}
