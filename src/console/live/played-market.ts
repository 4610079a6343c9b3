// A market of the past as the gateway plays it: its book and its trades, in the frames of live. Law: books come whole or
// not at all; what is missing is said.

import type { Connection } from '../../client/connection.ts'
import type { DataFrame, ReplayNews } from '../../client/server-frame.ts'
import { SnapshotBook } from '../../client/snapshot-book.ts'
import { reasonOf, type SubscriptionBody } from '../../client/subscription.ts'
import type { BookHearer } from './market-book.ts'
import { type Happening, type Trade, withTrades } from './recent.ts'

type PlayedHearer = Pick<BookHearer, 'changed' | 'happened'>

export const SPEEDS = [1, 2, 5, 10, 30, 60]

export class PlayedMarket {
  book: SnapshotBook | null = null
  trades: readonly Trade[] = []
  /** Time of the last block that was told. */
  timeMs: number
  state: 'waiting' | 'playing' | 'paused' | 'over' = 'waiting'
  readonly #link: Connection
  readonly #hearer: PlayedHearer
  readonly #bodies: readonly [book: SubscriptionBody, trades: SubscriptionBody]
  readonly #leaves: (() => void)[]

  constructor(
    link: Connection,
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
    const listener = {
      lost: () => over('the link is down'),
      refused: (reason: string) => over(reasonOf(reason)),
      frame: (frame: DataFrame) => this.#frame(frame),
      replay: (news: ReplayNews) => this.#told(news),
    }
    this.#leaves = this.#bodies.map((body) => link.subscribe(body, listener, { replay: range }))
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

  #frame(frame: DataFrame): void {
    if (this.state === 'over') return
    if (this.state === 'waiting') this.state = 'playing'
    if (frame.channel === 'trades') {
      this.trades = withTrades(this.trades, frame.data)
      this.#at(frame.data.at(-1)?.time ?? 0)
    } else if (frame.channel === 'l2BookDiff') {
      if ('Snapshot' in frame.data) {
        this.book = new SnapshotBook(frame.data.Snapshot)
        this.#at(this.book.time)
      } else {
        const { book_diffs, block_height, time } = frame.data.Updates
        for (const { levels } of book_diffs) this.book?.apply(levels, block_height, time)
        this.#at(time)
      }
    }
    this.#hearer.changed()
  }

  #at(timeMs: number): void {
    this.timeMs = Math.max(this.timeMs, timeMs)
  }

  #told({ event, from, to, subscription }: ReplayNews): void {
    if (this.state === 'over') return
    if (event === 'paused') this.state = 'paused'
    else if (event === 'playing' || event === 'sought') this.state = 'playing'
    else if (event === 'gap') this.#hearer.happened('bad', `Replay: blocks ${from} to ${to} are missing`)
    else if (event === 'unknown') {
      this.book = null
      this.#hearer.happened('wait', `Replay: books are not known from block ${from} on`)
    } else if (event === 'ended' && subscription.type === 'l2BookDiff')
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
