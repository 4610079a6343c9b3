// Turns paired lines of the node into blocks of the feed. It advances the books, converts events and reports gaps.

import type { L4Rows } from '../protocol/feed/block.ts'
import { VERIFIED_MAX } from '../protocol/feed/protocol.ts'
import { type BlockEvents, convertEvents } from './convert.ts'
import { readExtraEvents } from './extra-lines.ts'
import type { OrderBookProjector } from './order-book-projector.ts'
import type { OrderBooks } from './order-books.ts'
import type { LateLine, PairedBlock, PairedGap } from './pairing.ts'
import { coinOf } from './raw-diff.ts'
import { type ReplicaLine, readReplicaLine } from './replica-lines.ts'
import type { FeedSession } from './session.ts'
import { SnapshotEncoder } from './snapshot-encoder.ts'
import { filterStatuses, type MatchedRows } from './status-filter.ts'
import {
  EXTRA_STREAMS,
  type ExtraStream,
  isExtra,
  nodeTimeMs,
  readEvents,
  STREAM_FOLDER,
  type StreamName,
} from './streams.ts'

/** A snapshot that is being sent, and the books that it encodes. */
interface SnapshotInProgress {
  readonly encoder: SnapshotEncoder
  readonly books: OrderBooks
}

/** The lines of signed actions up to a height that were not taken yet; null while they are not read. */
interface ReplicaSource {
  take(height: number): readonly ReplicaLine[] | null
}

export class Producer {
  readonly #projector: OrderBookProjector
  readonly #session: FeedSession
  readonly #replica: ReplicaSource
  readonly #log: (message: string) => void
  /** Number of events left out because of an unusable shape. */
  refusedEvents = 0
  #snapshot: SnapshotInProgress | null = null
  /** First height of the current run of sent blocks and gaps; null while blocks are only applied. */
  #sentFrom: number | null = null
  /** Late lines that wait for the next block. */
  #lateLines: LateLine[] = []
  /** True if a skipped line may have had funding payments. */
  #arePaymentsUnknown = false
  /** Heights that could not be sent in full. */
  gapHeights = 0

  /** `log` is called with one sentence for every unusual event. */
  constructor(
    projector: OrderBookProjector,
    session: FeedSession,
    replica: ReplicaSource,
    log: (message: string) => void,
  ) {
    this.#projector = projector
    this.#session = session
    this.#replica = replica
    this.#log = log
  }

  /** Processes the next block or gap, in steps if it is long. Call only after handOverBooks() has returned false. */
  *accept(paired: PairedBlock | PairedGap): Generator<void, void> {
    if (paired.kind === 'gap') {
      const { from, to, missing } = paired
      const diffs = from === to ? paired.found.get('diffs') : undefined
      return yield* this.#produceGap(paired, `no line in ${missing.join(', ')}`, diffs)
    }
    const { height, time, lines, late } = paired
    const timeMs = nodeTimeMs(time)
    const events = new Map<StreamName, unknown[]>()
    const sends = this.#session.next !== null && height >= this.#session.next
    // Read once, because the wanted coins may change between two steps.
    const { coins } = this.#session.l4
    const l4: L4Input = { coins, statuses: null, unknownCoins: paired.streams.includes('statuses') ? new Set() : coins }
    this.#sentFrom = sends ? (this.#sentFrom ?? height) : null
    this.#retainLate(late)
    for (const stream of ['misc', ...EXTRA_STREAMS] as const)
      if (paired.streams.includes(stream)) events.set(stream, [])
    for (const [stream, text] of lines) {
      if (!sends && stream !== 'diffs') continue
      if (stream === 'statuses') {
        const rows = yield* this.#readStatuses(text, l4, `the status line of height ${height}`)
        events.set(stream, rows?.byWallet ?? [])
        l4.statuses = rows?.byCoin ?? null
        continue
      }
      if (isExtra(stream)) {
        const rows = this.#readExtra(stream, text, `the line of height ${height}`)
        if (rows) events.set(stream, rows)
        else events.delete(stream)
        continue
      }
      const read = readEvents(text)
      if (!read.ok || Number.isNaN(timeMs)) {
        const diffs = stream === 'diffs' ? undefined : lines.get('diffs')
        const why = `the line of ${stream} ${read.ok ? 'has no time' : read.error}`
        return yield* this.#produceGap({ from: height, to: height, time }, why, diffs)
      }
      events.set(stream, read.value)
    }
    for (const line of this.#lateLines.splice(0).reverse()) yield* this.#addLate(line, events, l4)
    yield* this.#produceBlock({ height, time }, timeMs, events, sends && l4)
    if (sends) this.#sendVerified(height)
  }

  /**
   * Sends the books that are due, one part per call, if production is at their height. Call between blocks. Returns
   * true while parts are left. Until it returns false, accept() must not be called.
   */
  handOverBooks(): boolean {
    const repaired = this.#projector.takeRepaired()
    if (repaired) this.#session.onRepaired(repaired)
    this.#snapshot ??= this.#startSnapshot()
    const snapshot = this.#snapshot
    if (!snapshot) return false
    const { books, position } = this.#projector
    const isCurrent = books === snapshot.books && position?.height === snapshot.encoder.head.height
    if (isCurrent && snapshot.encoder.prepare()) return true
    const text = isCurrent ? snapshot.encoder.next() : null
    if (text !== null && this.#session.addSnapshotPart(text, snapshot.encoder.isDone)) {
      if (!snapshot.encoder.isDone) return true
      if (snapshot.encoder.head.scope === 'all') snapshot.books.markAllKnown()
    } else this.#session.dropSnapshot()
    this.#snapshot = null
    return false
  }

  /** Keeps late lines whose blocks were already sent. */
  #retainLate(lines: readonly LateLine[]): void {
    const from = this.#sentFrom
    this.#lateLines = from === null ? [] : [...this.#lateLines, ...lines.filter(({ height }) => height >= from)]
  }

  /** The wanted rows in a line of order statuses. Null if the line is unreadable: no coin's rows are then known. */
  *#readStatuses(text: string, l4: L4Input, what: string): Generator<void, MatchedRows | null> {
    const read = yield* filterStatuses(text, { wallets: this.#session.wantedWallets, coins: l4.coins })
    if (read.ok) return read.value
    this.#log(`skipping ${what}: it ${read.error}`)
    l4.unknownCoins = l4.coins
    return null
  }

  /** The events of an extra stream's line. Null if they are unusable, which affects no other part of the block. */
  #readExtra(stream: ExtraStream, text: string, what: string): unknown[] | null {
    const read = readExtraEvents(text)
    if (read.ok) return read.value
    this.refusedEvents++
    this.#log(`skipping ${what} of ${STREAM_FOLDER[stream]}: it ${read.error}`)
    return null
  }

  *#addLate(
    { stream, height, text }: LateLine,
    events: Map<StreamName, unknown[]>,
    l4: L4Input,
  ): Generator<void, void> {
    const what = `the late line of ${stream} of height ${height}`
    const add = (rows: readonly unknown[]) => events.set(stream, [...rows, ...(events.get(stream) ?? [])])
    if (stream === 'statuses') {
      const rows = yield* this.#readStatuses(text, l4, what)
      if (!rows) return
      add(rows.byWallet)
      // These coins are unknown, because the block was already sent without these rows.
      l4.unknownCoins = new Set([...l4.unknownCoins, ...rows.byCoin.keys()])
      return
    }
    if (isExtra(stream)) {
      add(this.#readExtra(stream, text, `the late line of height ${height}`) ?? [])
      return
    }
    const read = readEvents(text)
    if (read.ok) add(read.value)
    else {
      this.#log(`skipping ${what}: it ${read.error}`)
      this.#arePaymentsUnknown ||= stream === 'misc'
    }
  }

  /** The snapshot that is due; null if there is none. */
  #startSnapshot(): SnapshotInProgress | null {
    const { books, position } = this.#projector
    // Adopted books have no time until the next block provides it.
    if (!books || !position?.time) return null
    const due = this.#session.dueBooks(position.height)
    if (!due) return null
    const head = {
      scope: due === 'all' ? 'all' : 'coins',
      height: position.height,
      time: nodeTimeMs(position.time),
    } as const
    const seed = new SnapshotEncoder(head, due === 'all' ? books.coins() : due, books)
    this.#session.openSnapshot(seed)
    return { encoder: seed, books }
  }

  /** True while parts of a snapshot are left. */
  get isHandingOver(): boolean {
    return this.#snapshot !== null
  }

  /** Sends the digests of the books that matched the node's in the last comparison. */
  #sendVerified(height: number): void {
    const { books, isAligned } = this.#projector
    if (!books || !isAligned || !this.#session.canSendVerified(height)) return
    const coins = this.#projector.takeConfirmed().slice(0, VERIFIED_MAX)
    if (coins.length === 0) return
    this.#session.addVerified(
      height,
      coins.map((coin) => ({ coin, digest: books.digest(coin) })),
    )
  }

  *#produceBlock(
    position: { height: number; time: string },
    timeMs: number,
    events: ReadonlyMap<StreamName, unknown[]>,
    input: L4Input | false,
  ): Generator<void, void> {
    const diffs = events.get('diffs') ?? []
    const books = yield* this.#projector.advance(position, diffs)
    const signed = this.#replica.take(position.height)
    if (!input) return
    const all: BlockEvents = {
      fills: events.get('fills') ?? [],
      misc: events.get('misc') ?? null,
      twaps: events.get('twaps') ?? null,
      statuses: events.get('statuses') ?? null,
      oracle: events.get('oracle') ?? null,
      writer: events.get('writer') ?? null,
    }
    const refuse = (reason: string) => {
      this.refusedEvents++
      this.#log(`skipping an event of block ${position.height}: ${reason}`)
    }
    const converted = convertEvents(all, timeMs, refuse)
    if (this.#arePaymentsUnknown) converted.payments = null
    this.#arePaymentsUnknown = false
    const l4 = l4Rows(input, diffs)
    const replica = signed?.flatMap((line) => readReplicaLine(line, refuse))
    const optional = { ...(l4.length > 0 && { l4 }), ...(replica && { replica }) }
    const block = { height: position.height, time: timeMs, ...converted, ...optional, books }
    try {
      if (this.#session.addBlock(block)?.payments === null && converted.payments)
        this.#log(`skipping the funding payments of block ${position.height}: they exceed the maximum size of a block`)
    } catch (error) {
      // An event that is nested too deeply cannot be encoded, so retrying would fail again.
      if (!(error instanceof RangeError)) throw error
      this.#reportGap(position.height, position.height, `it cannot be encoded (${error.message})`)
    }
  }

  *#produceGap(
    { from, to, time }: { readonly from: number; readonly to: number; readonly time: string },
    why: string,
    diffs: string | undefined,
  ): Generator<void, void> {
    const read = diffs === undefined ? null : readEvents(diffs)
    if (read?.ok) yield* this.#projector.advance({ height: to, time }, read.value)
    else this.#projector.loseBooks({ height: to, time })
    this.#reportGap(from, to, why)
  }

  #reportGap(from: number, to: number, why: string): void {
    this.gapHeights += to - from + 1
    this.#session.addGap(from, to)
    this.#log(`${from === to ? `height ${from} is` : `heights ${from} to ${to} are`} a gap: ${why}`)
  }
}

/** A block's order-level input, apart from its diffs. */
interface L4Input {
  readonly coins: ReadonlySet<string>
  /**
   * Order statuses by coin. Null when the block has no line of order statuses: only coins that have no diffs are then
   * known.
   */
  statuses: ReadonlyMap<string, readonly unknown[]> | null
  /** Coins with unknown rows, in this block or in an earlier one that was sent without those rows. */
  unknownCoins: ReadonlySet<string>
}

/** One entry per coin whose rows are known, even if it has no rows. */
function l4Rows({ coins, statuses, unknownCoins }: L4Input, diffs: readonly unknown[]): L4Rows[] {
  const entries = new Map<string, L4Rows>()
  for (const coin of coins)
    if (!unknownCoins.has(coin)) entries.set(coin, { coin, statuses: [...(statuses?.get(coin) ?? [])], diffs: [] })
  if (entries.size > 0) for (const diff of diffs) entries.get(coinOf(diff) ?? '')?.diffs.push(diff)
  return [...entries.values()].filter((entry) => statuses !== null || entry.diffs.length === 0)
}
