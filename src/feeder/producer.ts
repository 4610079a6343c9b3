// Paired lines of the node in, blocks of the feed out: books advance, events are converted, gaps are named.

import type { BookKeeper } from './book-keeper.ts'
import { type BlockEvents, convertEvents } from './convert.ts'
import type { PairedBlock, PairedGap } from './pairing.ts'
import type { FeedSession } from './session.ts'
import { nodeTimeMs, readEvents, type StreamName } from './streams.ts'

export class Producer {
  readonly #keeper: BookKeeper
  readonly #session: FeedSession
  readonly #say: (sentence: string) => void
  /** Events left out because their shape was of no use. */
  refusedEvents = 0
  /** Heights that could not be sent whole. */
  gapHeights = 0

  /** `say` hears a sentence for people of everything unusual. */
  constructor(keeper: BookKeeper, session: FeedSession, say: (sentence: string) => void) {
    this.#keeper = keeper
    this.#session = session
    this.#say = say
  }

  /** Passes the next block or gap of the node. */
  accept(paired: PairedBlock | PairedGap): void {
    this.handOver()
    if (paired.kind === 'gap') {
      const { from, to, missing } = paired
      this.#gap(paired, `no line in ${missing.join(', ')}`, from === to ? paired.found.get('diffs') : undefined)
      return
    }
    const { height, time, lines } = paired
    const timeMs = nodeTimeMs(time)
    const events = new Map<StreamName, unknown[]>()
    const sends = this.#session.next !== null && height >= this.#session.next
    for (const [stream, text] of lines) {
      if (!sends && stream !== 'diffs') continue
      const read = readEvents(text)
      if (!read.ok || Number.isNaN(timeMs)) {
        const diffs = stream === 'diffs' ? undefined : lines.get('diffs')
        this.#gap(
          { from: height, to: height, time },
          `the line of ${stream} ${read.ok ? 'has no time' : read.error}`,
          diffs,
        )
        return
      }
      events.set(stream, read.value)
    }
    this.#block({ height, time }, timeMs, events, sends)
    this.handOver()
  }

  /** Hands in the books that are due, if production stands where they can be taken. Called between blocks. */
  handOver(): void {
    const repaired = this.#keeper.takeRepaired()
    if (repaired) this.#session.repaired(repaired)
    const { books, place } = this.#keeper
    // Books taken over before their block was read have no time yet; the next block brings it.
    if (!books || !place?.time) return
    const due = this.#session.due(place.height)
    if (!due) return
    const coins = due === 'all' ? books.coins() : due
    const whole = coins.map((coin) => ({ coin, levels: books.levels(coin) }))
    if (due === 'all') books.markAllKnown()
    this.#session.snapshot(due === 'all' ? 'all' : 'coins', place.height, nodeTimeMs(place.time), whole)
  }

  #block(
    place: { height: number; time: string },
    timeMs: number,
    events: ReadonlyMap<StreamName, unknown[]>,
    sends: boolean,
  ): void {
    const diffs = events.get('diffs') ?? []
    const books = this.#keeper.advance(place, diffs)
    if (!sends) return
    const all: BlockEvents = {
      fills: events.get('fills') ?? [],
      misc: events.get('misc') ?? null,
      twaps: events.get('twaps') ?? null,
      statuses: events.get('statuses') ?? null,
      diffs,
    }
    const refuse = (reason: string) => {
      this.refusedEvents++
      this.#say(`an event of block ${place.height} is left out: ${reason}`)
    }
    this.#session.block({
      height: place.height,
      time: timeMs,
      ...convertEvents(all, this.#session.want, refuse),
      books,
    })
  }

  #gap(
    { from, to, time }: { readonly from: number; readonly to: number; readonly time: string },
    why: string,
    diffs: string | undefined,
  ): void {
    const read = diffs === undefined ? null : readEvents(diffs)
    if (read?.ok) this.#keeper.advance({ height: to, time }, read.value)
    else this.#keeper.lose({ height: to, time })
    this.gapHeights += to - from + 1
    this.#session.gap(from, to)
    this.#say(`${from === to ? `height ${from} is` : `heights ${from} to ${to} are`} a gap: ${why}`)
  }
}
