// Books kept from `l2BookDiff`: a Snapshot first, Updates after it, everything dropped with the socket.
// The stream has no sequence numbers: what is lost on the way cannot be seen here, so nothing survives a reconnect.
// Frames do not say which body they are of: a Snapshot may be another's, whose changes do not all come to this one. Invariant: as
// many Snapshots of a coin as bodies wait for means one for each.

import type { Connection } from './connection.ts'
import { type BookSnapshotData, MergedBook, type SeededBook } from './merged-book.ts'
import type { DataFrame } from './server-frame.ts'
import { type StepListener, SteppedBooks } from './steps.ts'
import { type BookScope, bookBody, isInScope, listedCoins, type SubscriptionBody } from './subscription.ts'
import type { ChannelTypes } from './wire.ts'

/** Books of one body. */
interface Seeding {
  covers(coin: string): boolean
}

/** Which books of one connection go on by themselves. */
class Seedings {
  static readonly #all = new WeakMap<object, Seedings>()
  /** Those that are live, each with the coins of which its own Snapshot came. */
  readonly #seeded = new Map<Seeding, Set<string>>()
  /** Of coins for which several wait, how many Snapshots came. */
  readonly #came = new Map<string, number>()
  #last: object | null = null

  static of(connection: object): Seedings {
    const known = Seedings.#all.get(connection) ?? new Seedings()
    Seedings.#all.set(connection, known)
    return known
  }

  began(one: Seeding): void {
    this.#seeded.set(one, new Set())
  }

  /** What came may have been for this one. */
  ended(one: Seeding): void {
    const seeded = this.#seeded.get(one)
    this.#seeded.delete(one)
    for (const [coin, came] of this.#came) {
      if (!seeded || seeded.has(coin) || !one.covers(coin)) continue
      if (came > 1) this.#came.set(coin, came - 1)
      else this.#came.delete(coin)
    }
  }

  /** A Snapshot came, which each of those who hear it tells. */
  came(coin: string, snapshot: object): void {
    if (snapshot === this.#last) return
    this.#last = snapshot
    const waiting = [...this.#seeded].filter(([one, seeded]) => !seeded.has(coin) && one.covers(coin))
    const came = (this.#came.get(coin) ?? 0) + 1
    if (came < waiting.length) {
      this.#came.set(coin, came)
      return
    }
    this.#came.delete(coin)
    for (const [, seeded] of waiting) seeded.add(coin)
  }

  /** Its own Snapshot came, or a change that can be no other's. */
  isOwn(one: Seeding, coin: string, isChange: boolean): boolean {
    const seeded = this.#seeded.get(one)
    if (!isChange || !seeded || seeded.has(coin)) return seeded?.has(coin) ?? false
    for (const other of this.#seeded.keys()) if (other !== one && other.covers(coin)) return false
    seeded.add(coin)
    return true
  }
}

type BookUpdatesData = Extract<ChannelTypes['l2BookDiff']['frame']['data'], { Updates: unknown }>['Updates']

export interface SeededListener {
  changed?(book: SeededBook): void
  /** All books are gone (coin null), or one coin's change came without a Snapshot before it. */
  gap?(coin: string | null, reason: string): void
  /** Whether a book, or (coin null) the whole, is in step has changed; as far as this stream can tell. */
  step?: StepListener
  refused?(reason: string): void
}

export class SeededBooks extends SteppedBooks<MergedBook> {
  readonly #body: SubscriptionBody
  readonly #listener: SeededListener
  readonly #seedings: Seedings
  readonly #seeding: Seeding = { covers: (coin) => isInScope(this.#body, coin) }
  readonly #leave: () => void

  constructor(connection: Connection, scope: BookScope, listener: SeededListener) {
    super(listener.step?.bind(listener))
    this.#listener = listener
    this.#seedings = Seedings.of(connection)
    this.#body = bookBody('l2BookDiff', scope)
    this.#leave = connection.subscribe(this.#body, {
      live: () => this.#live(),
      lost: (reason) => this.#lost(reason),
      frame: (frame) => this.#frame(frame),
      refused: (reason) => listener.refused?.(reason),
    })
  }

  close(): void {
    this.#leave()
    this.#seedings.ended(this.#seeding)
    this.steps.setAll('out of step', 'closed')
    this.books.clear()
  }

  #live(): void {
    const coins = listedCoins(this.#body)
    if (!coins) this.steps.forget()
    for (const coin of coins ?? []) this.steps.set(coin, 'syncing')
    this.books.clear()
    this.#seedings.began(this.#seeding)
  }

  #lost(reason: string): void {
    this.#seedings.ended(this.#seeding)
    this.steps.setAll('out of step', reason)
    this.books.clear()
    this.#listener.gap?.(null, reason)
  }

  #frame(frame: DataFrame): void {
    if (frame.channel !== 'l2BookDiff') return
    if ('Snapshot' in frame.data) this.#seed(frame.data.Snapshot)
    else this.#update(frame.data.Updates)
  }

  #seed(seed: BookSnapshotData): void {
    const { coin } = seed
    if (!isInScope(this.#body, coin)) return
    const book = this.books.get(coin) ?? new MergedBook(coin)
    book.seed(seed)
    this.books.set(coin, book)
    this.#seedings.came(coin, seed)
    this.#stepped(coin, false)
    this.#listener.changed?.(book)
  }

  #update(updates: BookUpdatesData): void {
    for (const { coin, levels } of updates.book_diffs) {
      if (!isInScope(this.#body, coin)) continue
      const book = this.books.get(coin)
      if (!book) {
        const why = 'an update came before the snapshot'
        this.steps.set(coin, 'out of step', why)
        this.#listener.gap?.(coin, why)
        continue
      }
      const isNews = book.apply(levels, updates.block_height, updates.time)
      if (this.steps.of(coin) === 'syncing') this.#stepped(coin, true)
      if (isNews) this.#listener.changed?.(book)
    }
  }

  #stepped(coin: string, isChange: boolean): void {
    const isOwn = this.#seedings.isOwn(this.#seeding, coin, isChange)
    this.steps.set(coin, isOwn ? 'in step' : 'syncing', isOwn ? '' : 'the snapshot may be of another subscription')
  }
}
