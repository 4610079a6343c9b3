// A market of the past as the gateway plays it: its book and its trades, in the frames of live. Law: books come whole or
// not at all; what is missing is said.

import type { Connection } from '../../client/connection.ts'
import type { DataFrame, ReplayEvent } from '../../client/server-frame.ts'
import { SnapshotBook } from '../../client/snapshot-book.ts'
import { reasonOf, type SubscriptionBody } from '../../client/subscription.ts'
import type { BookObserver } from './market-book.ts'
import { type ActivityEntry, addTrades, type Trade } from './recent.ts'

type ReplayObserver = Pick<BookObserver, 'onChange' | 'onActivity'>

export const SPEEDS = [1, 2, 5, 10, 30, 60]

export class MarketReplay {
  book: SnapshotBook | null = null
  trades: readonly Trade[] = []
  /** Time of the last block that was told. */
  timeMs: number
  state: 'waiting' | 'playing' | 'paused' | 'over' = 'waiting'
  readonly #link: Connection
  readonly #observer: ReplayObserver
  readonly #bodies: readonly [book: SubscriptionBody, trades: SubscriptionBody]
  readonly #unsubscribes: (() => void)[]

  constructor(
    link: Connection,
    coin: string,
    range: { readonly fromTime: number; readonly toTime: number; readonly speed: number },
    hearer: ReplayObserver,
  ) {
    this.#link = link
    this.#observer = hearer
    this.timeMs = range.fromTime
    this.#bodies = [
      { type: 'l2BookDiff', coin },
      { type: 'trades', coin },
    ]
    const over = (reason: string) => this.#end('bad', `The replay ended: ${reason}`)
    const listener = {
      lost: () => over('the link is down'),
      refused: (reason: string) => over(reasonOf(reason)),
      frame: (frame: DataFrame) => this.#onFrame(frame),
      replay: (news: ReplayEvent) => this.#onReplayEvent(news),
    }
    this.#unsubscribes = this.#bodies.map((body) => link.subscribe(body, listener, { replay: range }))
  }

  pause(): void {
    this.#send('pause')
  }
  resume(): void {
    this.#send('resume')
  }
  seek(fromTime: number): void {
    this.book = null
    this.trades = []
    this.timeMs = fromTime
    this.#send('seek', { fromTime })
  }

  close(): void {
    for (const leave of this.#unsubscribes.splice(0)) leave()
    this.state = 'over'
  }

  #send(action: 'pause' | 'resume' | 'seek', to = {}): void {
    for (const body of this.#bodies) this.#link.controlReplay(body, action, to)
  }

  #onFrame(frame: DataFrame): void {
    if (this.state === 'over') return
    if (this.state === 'waiting') this.state = 'playing'
    if (frame.channel === 'trades') {
      this.trades = addTrades(this.trades, frame.data)
      this.#advanceTo(frame.data.at(-1)?.time ?? 0)
    } else if (frame.channel === 'l2BookDiff') {
      if ('Snapshot' in frame.data) {
        this.book = new SnapshotBook(frame.data.Snapshot)
        this.#advanceTo(this.book.time)
      } else {
        const { book_diffs, block_height, time } = frame.data.Updates
        for (const { levels } of book_diffs) this.book?.apply(levels, block_height, time)
        this.#advanceTo(time)
      }
    }
    this.#observer.onChange()
  }

  #advanceTo(timeMs: number): void {
    this.timeMs = Math.max(this.timeMs, timeMs)
  }

  #onReplayEvent({ event, from, to, subscription }: ReplayEvent): void {
    if (this.state === 'over') return
    if (event === 'paused') this.state = 'paused'
    else if (event === 'playing' || event === 'sought') this.state = 'playing'
    else if (event === 'gap') this.#observer.onActivity('bad', `Replay: blocks ${from} to ${to} are missing`)
    else if (event === 'unknown') {
      this.book = null
      this.#observer.onActivity('wait', `Replay: books are not known from block ${from} on`)
    } else if (event === 'ended' && subscription.type === 'l2BookDiff')
      return this.#end('good', 'The replay is at its end')
    this.#observer.onChange()
  }

  #end(kind: ActivityEntry['kind'], text: string): void {
    if (this.state === 'over') return
    this.close()
    this.#observer.onActivity(kind, text)
    this.#observer.onChange()
  }
}
