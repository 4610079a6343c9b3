// A market of the past as the gateway plays it: its book and its trades, in the frames of live. Law: books come whole or
// not at all; what is missing is said.

import { MergedBook } from '../../client/merged-book.ts'
import type { Body, Frame, Link } from './link.ts'
import type { Happening } from './timeline.ts'
import { type Trade, type WireTrade, withTrades } from './trade-list.ts'

export interface PlayedHearer {
  changed(): void
  happened(kind: Happening['kind'], text: string): void
}

/** Speeds to choose from. */
export const SPEEDS = [1, 2, 5, 10, 30, 60]

export class PlayedMarket {
  book: MergedBook | null = null
  trades: readonly Trade[] = []
  /** Time of the last block that was told. */
  timeMs: number
  state: 'waiting' | 'playing' | 'paused' | 'over' = 'waiting'
  readonly #link: Link
  readonly #hearer: PlayedHearer
  readonly #bodies: readonly [book: Body, trades: Body]
  readonly #leaves: (() => void)[]

  constructor(
    link: Link,
    coin: string,
    range: { readonly fromTime: number; readonly toTime: number; readonly speed: number },
    hearer: PlayedHearer,
  ) {
    this.#link = link
    this.#hearer = hearer
    this.timeMs = range.fromTime
    this.#bodies = [
      { type: 'l2BookDiff', coin },
      { type: 'trades', coin },
    ]
    const over = (reason: string) => this.#over('bad', `The replay ended: ${reason}`)
    const heard = { lost: () => over('the link is down'), refused: over, frame: (frame: Frame) => this.#frame(frame) }
    this.#leaves = this.#bodies.map((body) => link.subscribe(body, heard, { replay: range }))
  }

  pause(): void {
    this.#steer('pause')
  }
  resume(): void {
    this.#steer('resume')
  }
  seek(fromTime: number): void {
    this.book = null
    this.trades = []
    this.timeMs = fromTime
    this.#steer('seek', { fromTime })
  }

  close(): void {
    for (const leave of this.#leaves.splice(0)) leave()
    this.state = 'over'
  }

  #steer(action: 'pause' | 'resume' | 'seek', to = {}): void {
    for (const body of this.#bodies) this.#link.steer(body, action, to)
  }

  #frame({ channel, data }: Frame): void {
    if (this.state === 'over') return
    if (channel === 'replay') return this.#told(data)
    if (this.state === 'waiting') this.state = 'playing'
    if (channel === 'trades') this.#trades(data as readonly WireTrade[])
    else if (data?.Snapshot) {
      this.book = new MergedBook(data.Snapshot.coin)
      this.book.seed(data.Snapshot)
      this.#at(data.Snapshot.time)
    } else if (data?.Updates) {
      const { book_diffs, block_height, time } = data.Updates
      for (const { levels } of book_diffs) this.book?.apply(levels, block_height, time)
      this.#at(time)
    }
    this.#hearer.changed()
  }

  #trades(rows: readonly WireTrade[]): void {
    this.trades = withTrades(this.trades, rows)
    this.#at(rows.at(-1)?.time ?? 0)
  }

  #at(timeMs: number): void {
    this.timeMs = Math.max(this.timeMs, timeMs)
  }

  #told({ event, from, to, subscription }: Frame['data']): void {
    if (event === 'paused') this.state = 'paused'
    else if (event === 'playing' || event === 'sought') this.state = 'playing'
    else if (event === 'gap') this.#hearer.happened('bad', `Replay: blocks ${from} to ${to} are missing`)
    else if (event === 'unknown') {
      this.book = null
      this.#hearer.happened('wait', `Replay: books are not known from block ${from} on`)
    } else if (event === 'ended' && subscription?.type === 'l2BookDiff')
      return this.#over('good', 'The replay is at its end')
    this.#hearer.changed()
  }

  #over(kind: Happening['kind'], text: string): void {
    if (this.state === 'over') return
    this.close()
    this.#hearer.happened(kind, text)
    this.#hearer.changed()
  }
}
