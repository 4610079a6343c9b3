// One subscription of a simulated client on the client library, with its invariants.

import type { Connection } from '../../src/client/connection.ts'
import { DiffBooks } from '../../src/client/diff-books.ts'
import type { ClientRuntime } from '../../src/client/runtime.ts'
import type { DataFrame } from '../../src/client/server-frame.ts'
import { type BookScope, isInScope, type SubscriptionBody } from '../../src/client/subscription.ts'
import { BookReplicas } from '../kit/book-replicas.ts'
import { BookLaw, EventLaw, type HeldBook, TopLaw, type Witness } from './laws.ts'

export type Wish =
  | { readonly books: 'l2BookDiff' | 'l2BookDiff2'; readonly scope: BookScope }
  | {
      readonly events: 'allFills' | 'userFills' | 'userNonFundingLedgerUpdates' | 'trades' | 'orderUpdates'
      readonly of: readonly string[]
    }
  | { readonly bbo: string }

export interface Running {
  close(): void
  anew(isLive: boolean): void
  /** Its socket has ended. */
  ended(): void
  /** Sees a frame that the library is about to take. */
  comes?(frame: RawFrame): void
  /** Sees a frame that the library has taken. */
  seen?(frame: RawFrame): void
  missing(height: number): string | null
}

export interface RawFrame {
  readonly channel: string
  readonly data?: {
    readonly Snapshot?: object
    readonly Updates?: {
      readonly epoch?: string
      readonly block_height: number
      readonly book_diffs: readonly { readonly coin: string; readonly checksum?: number }[]
    }
  }
}

export interface Surroundings {
  readonly client: string
  readonly connection: Connection
  readonly runtime: ClientRuntime
  readonly witness: Witness
  /** A hub of this client's relay was lately late. */
  isLate(): boolean
  /** Something of this key and type, with a space between, was served for so long. */
  served(what: string, ms: number): void
  refused(reason: string): void
}

/** What a connection hands on as it comes, paid by the minute from its acknowledgement on. */
abstract class RunningFrames implements Running {
  protected leave = () => {}
  protected sinceMs: number | null = null
  protected readonly around: Surroundings
  readonly #type: string

  constructor(type: string, around: Surroundings) {
    this.#type = type
    this.around = around
  }

  abstract anew(isLive: boolean): void
  abstract missing(height: number): string | null

  close(): void {
    this.leave()
    this.ended()
  }

  ended(): void {
    const { client, runtime, served } = this.around
    if (this.sinceMs !== null) served(`${client} ${this.#type}`, runtime.now() - this.sinceMs)
    this.sinceMs = null
  }
}

export class RunningEvents extends RunningFrames {
  readonly #laws: ReadonlyMap<string, EventLaw>
  #isLive = false

  constructor({ events, of }: Extract<Wish, { events: string }>, around: Surroundings) {
    super(events, around)
    const { client, connection, runtime, witness, refused } = around
    const kind = KINDS[events]
    const mayMiss = () => events === 'orderUpdates' && !witness.isCalm()
    const lawOf = (name: string) =>
      new EventLaw(witness, `${client} ${events} ${name}`, witness.truth.sequence(kind, name), mayMiss)
    this.#laws = new Map(of.map((name) => [name, lawOf(name)]))
    this.leave = connection.subscribe(bodyOf(events, of), {
      live: () => {
        this.sinceMs ??= runtime.now()
        // What a new socket brings continues what the one before brought, unless something is said to be lost.
        if (!this.#isLive) this.anew(true)
      },
      lost: () => this.anew(false),
      refused,
      frame: (frame) => this.#frame(frame),
    })
  }

  anew(isLive: boolean): void {
    this.#isLive = isLive
    for (const law of this.#laws.values()) law.anew(isLive)
  }

  missing(): string | null {
    for (const law of this.#laws.values()) {
      const missing = law.missing()
      if (missing !== null) return missing
    }
    return null
  }

  #frame(frame: DataFrame): void {
    if (frame.channel === 'allFills' || frame.channel === 'userFills') {
      for (const [user, { tid, side }] of frame.fills)
        for (const name of ['*', user]) this.#laws.get(name)?.came(`${tid} ${side}`)
    } else if (frame.channel === 'userNonFundingLedgerUpdates') {
      const { user, nonFundingLedgerUpdates } = frame.data
      for (const { delta } of nonFundingLedgerUpdates)
        this.#laws.get(user)?.came(String('usdc' in delta ? delta.usdc : ''))
    } else if (frame.channel === 'trades') {
      for (const { coin, tid } of frame.data) this.#laws.get(coin)?.came(String(tid))
    } else if (frame.channel === 'orderUpdates') {
      for (const { user, order } of frame.updates) this.#laws.get(user)?.came(String(order.oid))
      this.around.witness.checked('frames of order statuses')
    }
  }
}

const KINDS = {
  allFills: 'fills',
  userFills: 'fills',
  userNonFundingLedgerUpdates: 'ledger',
  trades: 'trades',
  orderUpdates: 'orders',
} as const

function bodyOf(type: keyof typeof KINDS, of: readonly string[]): SubscriptionBody {
  if (type === 'allFills') return { type }
  return type === 'trades' ? { type, coin: of[0]! } : { type, addresses: of }
}

export class RunningTop extends RunningFrames {
  readonly #law: TopLaw

  constructor({ bbo }: Extract<Wish, { bbo: string }>, around: Surroundings) {
    super('bbo', around)
    const { client, connection, runtime, witness, refused } = around
    const law = new TopLaw(witness, `${client} bbo ${bbo}`, bbo)
    this.#law = law
    this.leave = connection.subscribe(
      { type: 'bbo', coin: bbo },
      {
        live: () => {
          this.sinceMs = runtime.now()
          law.anew(true)
        },
        lost: () => law.anew(false),
        refused,
        frame: (frame) =>
          frame.channel === 'bbo' && frame.data.coin === bbo && law.came(frame.data.time, frame.data.bbo),
      },
    )
  }

  anew(isLive: boolean): void {
    this.#law.anew(isLive)
  }

  missing(height: number): string | null {
    return this.#law.missing(this.around.witness.truth.timeOf(height))
  }
}

export class RunningBooks implements Running {
  readonly #law: BookLaw
  readonly #books: DiffBooks | BookReplicas
  readonly #witness: Witness
  readonly #wish: Extract<Wish, { books: string }>
  #isRefused = false

  constructor(wish: Extract<Wish, { books: string }>, around: Surroundings) {
    const { client, connection, runtime, witness, refused } = around
    this.#wish = wish
    this.#witness = witness
    this.#law = new BookLaw(witness, `${client} ${wish.books} ${JSON.stringify(wish.scope)}`, around.isLate)
    // The library tells of no acknowledgement of books: a body counts as live until it is lost or refused.
    const listener = {
      changed: (book: HeldBook) => {
        if (!this.#law.isLive) this.#law.anew(true)
        this.#law.changed(book)
      },
      refused: (reason: string) => {
        if (this.#isRefused) return
        this.#isRefused = true
        this.close()
        refused(reason)
      },
    }
    if (wish.books === 'l2BookDiff') {
      const gap = (coin: string | null, reason: string) => {
        if (coin === null) this.#law.anew(false)
        else witness.wrong(`${client}: ${coin}: ${reason}`)
      }
      this.#books = new BookReplicas(connection, wish.scope, { ...listener, gap })
    } else
      this.#books = new DiffBooks(connection, runtime, wish.scope, {
        ...listener,
        gap: (coin, why) => {
          witness.checked('books fetched again')
          if (why.startsWith('checksum')) witness.wrong(`${client}: ${coin}: ${why}`)
        },
      })
  }

  close(): void {
    this.#books.close()
  }

  anew(isLive: boolean): void {
    this.#law.anew(isLive)
  }

  ended(): void {
    this.anew(false)
  }

  comes({ channel, data }: RawFrame): void {
    if (channel !== 'l2BookDiff2' || channel !== this.#wish.books || !data?.Updates) return
    const { book_diffs, block_height } = data.Updates
    const lacking = new Set<string>()
    for (const { coin, checksum } of book_diffs)
      if (checksum === undefined) lacking.add(coin)
      else this.#witness.checked('checksums')
    if (lacking.size === 0 || this.#witness.hasJumped()) return
    // One that a snapshot holds may come without (WS-146).
    for (const { coin, height } of this.#held())
      if (lacking.has(coin) && height < block_height) this.#witness.wrong(`${coin} at ${block_height} has no checksum`)
  }

  seen({ channel, data }: RawFrame): void {
    if (channel !== this.#wish.books) return
    if (data?.Snapshot) this.#law.seeded()
    const updates = data?.Updates
    if (!updates) return
    const coins = updates.book_diffs.map(({ coin }) => coin)
    this.#law.came({ epoch: updates.epoch ?? '', height: updates.block_height, coins }, this.#held())
  }

  missing(height: number): string | null {
    const { truth } = this.#witness
    const body = { type: this.#wish.books, ...this.#wish.scope } as SubscriptionBody
    const coins = truth.coins.filter((coin) => isInScope(body, coin) && this.#isNamed(coin, body))
    const get = (coin: string) => [...this.#held()].find((book) => book.coin === coin)
    return this.#law.missing(coins, get, height)
  }

  /** A wildcard of changes hears of a coin with its next change alone. */
  #isNamed(coin: string, { coin: listed }: SubscriptionBody): boolean {
    return this.#books instanceof BookReplicas || listed !== undefined || this.#books.get(coin) !== undefined
  }

  *#held(): Generator<HeldBook> {
    for (const coin of this.#books.coins()) {
      const book = this.#books.get(coin)!
      if (!('live' in book) || book.live) yield book
    }
  }
}
