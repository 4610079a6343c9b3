// Paired lines of the node in, blocks of the feed out: books advance, events are converted, gaps are named.

import type { L4Rows } from '../protocol/feed/block.ts'
import { VERIFIED_MAX } from '../protocol/feed/protocol.ts'
import { type BlockEvents, convertEvents } from './convert.ts'
import type { OrderBookProjector } from './order-book-projector.ts'
import type { OrderBooks } from './order-books.ts'
import type { LateLine, PairedBlock, PairedGap } from './pairing.ts'
import { coinOf } from './raw-diff.ts'
import type { FeedSession } from './session.ts'
import { SnapshotEncoder } from './snapshot-encoder.ts'
import { filterStatuses, type MatchedRows } from './status-filter.ts'
import { nodeTimeMs, readEvents, type StreamName } from './streams.ts'

/** A snapshot that is being handed in, and the books it is of. */
interface SnapshotInProgress {
  readonly encoder: SnapshotEncoder
  readonly books: OrderBooks
}

export class Producer {
  readonly #projector: OrderBookProjector
  readonly #session: FeedSession
  readonly #log: (sentence: string) => void
  /** Events left out because their shape was of no use. */
  refusedEvents = 0
  #snapshot: SnapshotInProgress | null = null
  /** From here on every height was sent, or is a gap; null while blocks pass in silence. */
  #sentFrom: number | null = null
  /** Lines that came after their block and wait for the next one. */
  #lateLines: LateLine[] = []
  /** What was left out of the next block may have told who paid funding. */
  #arePaymentsUnknown = false
  /** Heights that could not be sent whole. */
  gapHeights = 0

  /** `say` hears a sentence for people of everything unusual. */
  constructor(keeper: OrderBookProjector, session: FeedSession, say: (sentence: string) => void) {
    this.#projector = keeper
    this.#session = session
    this.#log = say
  }

  /** Passes the next block or gap of the node, a long one in steps, once handOver() has nothing left. */
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
    // What is wanted may change between two steps.
    const { coins } = this.#session.l4
    const l4: L4Input = { coins, statuses: null, unknownCoins: paired.streams.includes('statuses') ? new Set() : coins }
    this.#sentFrom = sends ? (this.#sentFrom ?? height) : null
    this.#retainLate(late)
    for (const [stream, text] of lines) {
      if (!sends && stream !== 'diffs') continue
      if (stream === 'statuses') {
        const rows = yield* this.#readStatuses(text, l4, `the line of statuses of height ${height}`)
        events.set(stream, rows?.byWallet ?? [])
        l4.statuses = rows?.byCoin ?? null
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
    if (paired.streams.includes('misc') && !events.has('misc')) events.set('misc', [])
    for (const line of this.#lateLines.splice(0).reverse()) yield* this.#addLate(line, events, l4)
    yield* this.#produceBlock({ height, time }, timeMs, events, sends && l4)
    if (sends) this.#sendVerified(height)
  }

  /**
   * Hands in the books that are due, if production stands where they can be taken: one part a call. Called between
   * blocks; true while parts are left, and no block may be accepted before they are handed in.
   */
  handOverBooks(): boolean {
    const repaired = this.#projector.takeRepaired()
    if (repaired) this.#session.onRepaired(repaired)
    this.#snapshot ??= this.#startSnapshot()
    const cut = this.#snapshot
    if (!cut) return false
    const { books, position } = this.#projector
    const isCurrent = books === cut.books && position?.height === cut.encoder.head.height
    if (isCurrent && cut.encoder.prepare()) return true
    const text = isCurrent ? cut.encoder.next() : null
    if (text !== null && this.#session.addSnapshotPart(text, cut.encoder.isDone)) {
      if (!cut.encoder.isDone) return true
      if (cut.encoder.head.scope === 'all') cut.books.markAllKnown()
    } else this.#session.dropSnapshot()
    this.#snapshot = null
    return false
  }

  /** What a line says of a block that was sent from here without it, the gateway has yet to hear. */
  #retainLate(lines: readonly LateLine[]): void {
    const from = this.#sentFrom
    this.#lateLines = from === null ? [] : [...this.#lateLines, ...lines.filter(({ height }) => height >= from)]
  }

  /** The wanted rows of a line of order statuses; null where it cannot be read, and no coin's are known. */
  *#readStatuses(text: string, l4: L4Input, what: string): Generator<void, MatchedRows | null> {
    const read = yield* filterStatuses(text, { wallets: this.#session.wantedWallets, coins: l4.coins })
    if (read.ok) return read.value
    this.#log(`${what} is left out: it ${read.error}`)
    l4.unknownCoins = l4.coins
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
      // They belong to a block that went out as if it had none.
      l4.unknownCoins = new Set([...l4.unknownCoins, ...rows.byCoin.keys()])
      return
    }
    const read = readEvents(text)
    if (read.ok) add(read.value)
    else {
      this.#log(`${what} is left out: it ${read.error}`)
      this.#arePaymentsUnknown ||= stream === 'misc'
    }
  }

  /** The snapshot that is due, null for none. */
  #startSnapshot(): SnapshotInProgress | null {
    const { books, position } = this.#projector
    // Books taken over before their block was read have no time yet; the next block brings it.
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

  /** True while parts of a snapshot are left to hand in. */
  get isHandingOver(): boolean {
    return this.#snapshot !== null
  }

  /** Tells the digests of books that agreed with the node's when last compared. */
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
    place: { height: number; time: string },
    timeMs: number,
    events: ReadonlyMap<StreamName, unknown[]>,
    sends: L4Input | false,
  ): Generator<void, void> {
    const diffs = events.get('diffs') ?? []
    const books = yield* this.#projector.advance(place, diffs)
    if (!sends) return
    const all: BlockEvents = {
      fills: events.get('fills') ?? [],
      misc: events.get('misc') ?? null,
      twaps: events.get('twaps') ?? null,
      statuses: events.get('statuses') ?? null,
    }
    const refuse = (reason: string) => {
      this.refusedEvents++
      this.#log(`an event of block ${place.height} is left out: ${reason}`)
    }
    const converted = convertEvents(all, refuse)
    if (this.#arePaymentsUnknown) converted.payments = null
    this.#arePaymentsUnknown = false
    const l4 = l4Rows(sends, diffs)
    const block = { height: place.height, time: timeMs, ...converted, ...(l4.length > 0 && { l4 }), books }
    try {
      if (this.#session.addBlock(block)?.payments === null && converted.payments)
        this.#log(`who paid funding in block ${place.height} is left out: it is longer than a block may be`)
    } catch (error) {
      // An event that nests deeper than can be put into text would be met again and again.
      if (!(error instanceof RangeError)) throw error
      this.#reportGap(place.height, place.height, `it cannot be put into text (${error.message})`)
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

/** What a block says of the orders of coins beside its diffs. */
interface L4Input {
  readonly coins: ReadonlySet<string>
  /**
   * Order statuses of each coin that has any; null where the block has no line of them: then what came with a diff is
   * not known, and only coins without diffs are.
   */
  statuses: ReadonlyMap<string, readonly unknown[]> | null
  /** Coins whose rows are not known, or were not of a block before, which went out as if it had none. */
  unknownCoins: ReadonlySet<string>
}

/** One entry for each coin whose rows are known, also where it has none. */
function l4Rows({ coins, statuses, unknownCoins }: L4Input, diffs: readonly unknown[]): L4Rows[] {
  const entries = new Map<string, L4Rows>()
  for (const coin of coins)
    if (!unknownCoins.has(coin)) entries.set(coin, { coin, statuses: [...(statuses?.get(coin) ?? [])], diffs: [] })
  if (entries.size > 0) for (const diff of diffs) entries.get(coinOf(diff) ?? '')?.diffs.push(diff)
  return [...entries.values()].filter((entry) => statuses !== null || entry.diffs.length === 0)
}
