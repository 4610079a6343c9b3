// A replay of one market: its order book and trades, in the same frames as live. Invariant: missing blocks are always
// reported, and a book whose state is unknown after a block is dropped.

import type { Connection } from '../../client/connection.ts'
import type { DataFrame, ReplayEvent } from '../../client/server-frame.ts'
import { SnapshotBook } from '../../client/snapshot-book.ts'
import { reasonOf, type SubscriptionBody } from '../../client/subscription.ts'
import type { BookObserver } from './market-book.ts'
import { type ActivityEntry, addTrades, type Trade, type WireTrade } from './recent.ts'
import * as strings from './strings.ts'

type ReplayObserver = Pick<BookObserver, 'onChange' | 'onActivity'>

export const SPEEDS = [1, 2, 5, 10, 30, 60]

export class MarketReplay {
  book: SnapshotBook | null = null
  trades: readonly Trade[] = []
  /** Time of the last block received. */
  timeMs: number
  /** Seconds of the past per second. */
  readonly speed: number
  state: 'waiting' | 'playing' | 'paused' | 'over' = 'waiting'
  /** Receives all trades; those of `trades` are only the latest. */
  onTrades: ((trades: readonly WireTrade[]) => void) | null = null
  readonly #connection: Connection
  readonly #observer: ReplayObserver
  readonly #bodies: readonly [book: SubscriptionBody, trades: SubscriptionBody]
  readonly #unsubscribes: (() => void)[]

  constructor(
    connection: Connection,
    coin: string,
    range: { readonly fromTime: number; readonly toTime: number; readonly speed: number },
    observer: ReplayObserver,
  ) {
    this.#connection = connection
    this.#observer = observer
    this.timeMs = range.fromTime
    this.speed = range.speed
    this.#bodies = [
      { type: 'l2BookDiff', coin },
      { type: 'trades', coin },
    ]
    const end = (reason: string) => this.#end('bad', strings.activityReplayEnded(reason))
    const listener = {
      lost: () => end(strings.activityBookDisconnected),
      refused: (reason: string) => end(reasonOf(reason)),
      frame: (frame: DataFrame) => this.#onFrame(frame),
      replay: (event: ReplayEvent) => this.#onReplayEvent(event),
    }
    this.#unsubscribes = this.#bodies.map((body) => connection.subscribe(body, listener, { replay: range }))
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
    for (const body of this.#bodies) this.#connection.controlReplay(body, action, to)
  }

  #onFrame(frame: DataFrame): void {
    if (this.state === 'over') return
    if (this.state === 'waiting') this.state = 'playing'
    if (frame.channel === 'trades') {
      this.trades = addTrades(this.trades, frame.data)
      this.onTrades?.(frame.data)
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
    else if (event === 'gap') this.#observer.onActivity('bad', strings.activityReplayGap(from, to))
    else if (event === 'unknown') {
      this.book = null
      this.#observer.onActivity('wait', strings.activityReplayNoBooks(from))
    } else if (event === 'ended' && subscription.type === 'l2BookDiff')
      return this.#end('good', strings.activityReplayFinished)
    this.#observer.onChange()
  }

  #end(kind: ActivityEntry['kind'], text: string): void {
    if (this.state === 'over') return
    this.close()
    this.#observer.onActivity(kind, text)
    this.#observer.onChange()
  }
}
