// Paired lines of the node in, blocks of the feed out: books advance, events are converted, gaps are named.

import type { L4Rows } from '../protocol/feed/block.ts'
import { VERIFIED_MOST } from '../protocol/feed/protocol.ts'
import type { BookKeeper } from './book-keeper.ts'
import { type BlockEvents, convertEvents } from './convert.ts'
import type { OrderBooks } from './order-books.ts'
import type { LateLine, PairedBlock, PairedGap } from './pairing.ts'
import { coinOf } from './raw-diff.ts'
import { SeedCut } from './seed-cut.ts'
import type { FeedSession } from './session.ts'
import { nodeTimeMs, readEvents, type StreamName } from './streams.ts'
import { type WantedRows, wantedStatuses } from './wanted-statuses.ts'

/** A snapshot that is being handed in, and the books it is of. */
interface Cut {
  readonly seed: SeedCut
  readonly books: OrderBooks
}

export class Producer {
  readonly #keeper: BookKeeper
  readonly #session: FeedSession
  readonly #say: (sentence: string) => void
  /** Events left out because their shape was of no use. */
  refusedEvents = 0
  #cut: Cut | null = null
  /** From here on every height was sent, or is a gap; null while blocks pass in silence. */
  #sentFrom: number | null = null
  /** Lines that came after their block and wait for the next one. */
  #late: LateLine[] = []
  /** What was left out of the next block may have told who paid funding. */
  #isPaidUnknown = false
  /** Heights that could not be sent whole. */
  gapHeights = 0

  /** `say` hears a sentence for people of everything unusual. */
  constructor(keeper: BookKeeper, session: FeedSession, say: (sentence: string) => void) {
    this.#keeper = keeper
    this.#session = session
    this.#say = say
  }

  /** Passes the next block or gap of the node, a long one in steps, once handOver() has nothing left. */
  *accept(paired: PairedBlock | PairedGap): Generator<void, void> {
    if (paired.kind === 'gap') {
      const { from, to, missing } = paired
      const diffs = from === to ? paired.found.get('diffs') : undefined
      return yield* this.#gap(paired, `no line in ${missing.join(', ')}`, diffs)
    }
    const { height, time, lines, late } = paired
    const timeMs = nodeTimeMs(time)
    const events = new Map<StreamName, unknown[]>()
    const sends = this.#session.next !== null && height >= this.#session.next
    // What is wanted may change between two steps.
    const { coins } = this.#session.l4
    const l4: L4Lines = { coins, statuses: null, spoilt: paired.streams.includes('statuses') ? new Set() : coins }
    this.#sentFrom = sends ? (this.#sentFrom ?? height) : null
    this.#keepLate(late)
    for (const [stream, text] of lines) {
      if (!sends && stream !== 'diffs') continue
      if (stream === 'statuses') {
        const rows = yield* this.#statuses(text, l4, `the line of statuses of height ${height}`)
        events.set(stream, rows?.ofWallets ?? [])
        l4.statuses = rows?.ofCoins ?? null
        continue
      }
      const read = readEvents(text)
      if (!read.ok || Number.isNaN(timeMs)) {
        const diffs = stream === 'diffs' ? undefined : lines.get('diffs')
        const why = `the line of ${stream} ${read.ok ? 'has no time' : read.error}`
        return yield* this.#gap({ from: height, to: height, time }, why, diffs)
      }
      events.set(stream, read.value)
    }
    if (paired.streams.includes('misc') && !events.has('misc')) events.set('misc', [])
    for (const line of this.#late.splice(0).reverse()) yield* this.#addLate(line, events, l4)
    yield* this.#block({ height, time }, timeMs, events, sends && l4)
    if (sends) this.#tellVerified(height)
  }

  /**
   * Hands in the books that are due, if production stands where they can be taken: one part a call. Called between
   * blocks; true while parts are left, and no block may be accepted before they are handed in.
   */
  handOver(): boolean {
    const repaired = this.#keeper.takeRepaired()
    if (repaired) this.#session.repaired(repaired)
    this.#cut ??= this.#begun()
    const cut = this.#cut
    if (!cut) return false
    const { books, place } = this.#keeper
    const isCurrent = books === cut.books && place?.height === cut.seed.head.height
    if (isCurrent && cut.seed.prepare()) return true
    const text = isCurrent ? cut.seed.next() : null
    if (text !== null && this.#session.snapshotPart(text, cut.seed.isDone)) {
      if (!cut.seed.isDone) return true
      if (cut.seed.head.scope === 'all') cut.books.markAllKnown()
    } else this.#session.snapshotBroken()
    this.#cut = null
    return false
  }

  /** What a line says of a block that was sent from here without it, the gateway has yet to hear. */
  #keepLate(lines: readonly LateLine[]): void {
    const from = this.#sentFrom
    this.#late = from === null ? [] : [...this.#late, ...lines.filter(({ height }) => height >= from)]
  }

  /** The wanted rows of a line of order statuses; null where it cannot be read, and no coin's are known. */
  *#statuses(text: string, l4: L4Lines, what: string): Generator<void, WantedRows | null> {
    const read = yield* wantedStatuses(text, { wallets: this.#session.wanted, coins: l4.coins })
    if (read.ok) return read.value
    this.#say(`${what} is left out: it ${read.error}`)
    l4.spoilt = l4.coins
    return null
  }

  *#addLate(
    { stream, height, text }: LateLine,
    events: Map<StreamName, unknown[]>,
    l4: L4Lines,
  ): Generator<void, void> {
    const what = `the late line of ${stream} of height ${height}`
    const add = (rows: readonly unknown[]) => events.set(stream, [...rows, ...(events.get(stream) ?? [])])
    if (stream === 'statuses') {
      const rows = yield* this.#statuses(text, l4, what)
      if (!rows) return
      add(rows.ofWallets)
      // They belong to a block that went out as if it had none.
      l4.spoilt = new Set([...l4.spoilt, ...rows.ofCoins.keys()])
      return
    }
    const read = readEvents(text)
    if (read.ok) add(read.value)
    else {
      this.#say(`${what} is left out: it ${read.error}`)
      this.#isPaidUnknown ||= stream === 'misc'
    }
  }

  /** The snapshot that is due, null for none. */
  #begun(): Cut | null {
    const { books, place } = this.#keeper
    // Books taken over before their block was read have no time yet; the next block brings it.
    if (!books || !place?.time) return null
    const due = this.#session.due(place.height)
    if (!due) return null
    const head = { scope: due === 'all' ? 'all' : 'coins', height: place.height, time: nodeTimeMs(place.time) } as const
    const seed = new SeedCut(head, due === 'all' ? books.coins() : due, books)
    this.#session.snapshot(seed)
    return { seed, books }
  }

  /** True while parts of a snapshot are left to hand in. */
  get isCutting(): boolean {
    return this.#cut !== null
  }

  /** Tells the digests of books that agreed with the node's when last compared. */
  #tellVerified(height: number): void {
    const { books, isLevel } = this.#keeper
    if (!books || !isLevel || !this.#session.takesVerified(height)) return
    const coins = this.#keeper.takeConfirmed().slice(0, VERIFIED_MOST)
    if (coins.length === 0) return
    this.#session.verified(
      height,
      coins.map((coin) => ({ coin, digest: books.digest(coin) })),
    )
  }

  *#block(
    place: { height: number; time: string },
    timeMs: number,
    events: ReadonlyMap<StreamName, unknown[]>,
    sends: L4Lines | false,
  ): Generator<void, void> {
    const diffs = events.get('diffs') ?? []
    const books = yield* this.#keeper.advance(place, diffs)
    if (!sends) return
    const all: BlockEvents = {
      fills: events.get('fills') ?? [],
      misc: events.get('misc') ?? null,
      twaps: events.get('twaps') ?? null,
      statuses: events.get('statuses') ?? null,
    }
    const refuse = (reason: string) => {
      this.refusedEvents++
      this.#say(`an event of block ${place.height} is left out: ${reason}`)
    }
    const converted = convertEvents(all, refuse)
    if (this.#isPaidUnknown) converted.payments = null
    this.#isPaidUnknown = false
    const l4 = l4Rows(sends, diffs)
    const block = { height: place.height, time: timeMs, ...converted, ...(l4.length > 0 && { l4 }), books }
    try {
      if (this.#session.block(block)?.payments === null && converted.payments)
        this.#say(`who paid funding in block ${place.height} is left out: it is longer than a block may be`)
    } catch (error) {
      // An event that nests deeper than can be put into text would be met again and again.
      if (!(error instanceof RangeError)) throw error
      this.#sayGap(place.height, place.height, `it cannot be put into text (${error.message})`)
    }
  }

  *#gap(
    { from, to, time }: { readonly from: number; readonly to: number; readonly time: string },
    why: string,
    diffs: string | undefined,
  ): Generator<void, void> {
    const read = diffs === undefined ? null : readEvents(diffs)
    if (read?.ok) yield* this.#keeper.advance({ height: to, time }, read.value)
    else this.#keeper.lose({ height: to, time })
    this.#sayGap(from, to, why)
  }

  #sayGap(from: number, to: number, why: string): void {
    this.gapHeights += to - from + 1
    this.#session.gap(from, to)
    this.#say(`${from === to ? `height ${from} is` : `heights ${from} to ${to} are`} a gap: ${why}`)
  }
}

/** What a block says of the orders of coins beside its diffs. */
interface L4Lines {
  readonly coins: ReadonlySet<string>
  /**
   * Order statuses of each coin that has any; null where the block has no line of them: then what came with a diff is
   * not known, and only coins without diffs are.
   */
  statuses: ReadonlyMap<string, readonly unknown[]> | null
  /** Coins whose rows are not known, or were not of a block before, which went out as if it had none. */
  spoilt: ReadonlySet<string>
}

/** One entry for each coin whose rows are known, also where it has none. */
function l4Rows({ coins, statuses, spoilt }: L4Lines, diffs: readonly unknown[]): L4Rows[] {
  const entries = new Map<string, L4Rows>()
  for (const coin of coins)
    if (!spoilt.has(coin)) entries.set(coin, { coin, statuses: [...(statuses?.get(coin) ?? [])], diffs: [] })
  if (entries.size > 0) for (const diff of diffs) entries.get(coinOf(diff) ?? '')?.diffs.push(diff)
  return [...entries.values()].filter((entry) => statuses !== null || entry.diffs.length === 0)
}
