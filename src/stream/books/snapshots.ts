// The way of a book body's coins into force at their hubs, and of their Snapshots to the subscriber.
// Law: a coin is in force before its Snapshot is sent, and Snapshots are paced, for nobody can see how fast they are read.

import type { BookSnapshot, JoinAnswer } from '../../book/hub-api.ts'
import type { MarketType } from '../../core/coin.ts'
import { shardOf } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { aSecondsWorth, type Bucket, borrowTokens, fullBucket } from '../../core/token-bucket.ts'
import type { BookChannel, WantedBooks } from '../channel.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import type { Joiner } from './joiner.ts'

/** How long a subscriber waits for hubs that have no books yet. */
const READY_WAIT_MS = 5000
const READY_POLL_MS = 250
/** Snapshot bytes of a relay on their way at once, and per second after that. An answer of a hub is 1 MiB. */
const PACE = aSecondsWorth(8 * 1024 * 1024)

/** The hubs: links are up when `ensure` resolves; the others are calls to hub `hub`, as in BookHubApi. */
export interface BookSource {
  ensure(hub: number): Promise<void>
  join(hub: number, coins: readonly string[], withBooks: boolean): Promise<JoinAnswer>
  joinTypes(hub: number, types: readonly MarketType[]): Promise<{ readonly coins: readonly string[] }>
}

/** What was found out about the coins of a body, all in force now. */
export interface Found {
  /** Coins of a list that no hub has a book of. */
  readonly unknown: string[]
  readonly snapshots: { readonly hub: number; readonly snapshot: BookSnapshot }[]
  /** Coins whose snapshot is still to be fetched. */
  readonly missing: { readonly hub: number; readonly coins: readonly string[] }[]
}

/** Who is sent Snapshots, and how its channel writes them. */
export interface Seeding {
  readonly connection: Connection
  readonly joiner: Joiner
  readonly encode: NonNullable<BookChannel<unknown>['snapshot']>
}

/** What a client is told of coins that have no book; `nearest` answers the coin that was probably meant. */
export async function noBookOf(
  coins: readonly string[],
  nearest: (coin: string) => Promise<string | undefined>,
): Promise<Failure> {
  const named = coins.slice(0, 5).map(async (coin) => {
    const meant = await nearest(coin)
    return JSON.stringify(coin) + (meant === undefined ? '' : ` (did you mean ${JSON.stringify(meant)}?)`)
  })
  const names = await Promise.all(named)
  const hint = `coin: there is no book of ${names.join(', ')}: send coins as "meta" and "spotMeta" name them`
  return { kind: 'not_found', what: 'coin', hint }
}

export class Snapshots {
  readonly #source: BookSource
  readonly #shards: number
  readonly #clock: Clock
  readonly #wait: (ms: number) => Promise<void>
  #pacer: Bucket

  constructor(source: BookSource, shards: number, clock: Clock, wait: (ms: number) => Promise<void>) {
    this.#source = source
    this.#shards = shards
    this.#clock = clock
    this.#wait = wait
    this.#pacer = fullBucket(PACE, clock.nowMs)
  }

  /** Brings a body into force at its hubs, of a wildcard only `types`; null where a hub has no books yet. */
  async find(
    { channel, body }: WantedBooks,
    types: readonly MarketType[],
    hubs: readonly number[],
  ): Promise<Found | null> {
    const found: Found = { unknown: [], snapshots: [], missing: [] }
    const jobs = hubs.map((hub) => {
      if (body.coins === null) return this.#findTypes(hub, types, found)
      const coins = body.coins.filter((coin) => shardOf(coin, this.#shards) === hub)
      return this.#findCoins(hub, coins, channel.snapshot !== null, found)
    })
    return (await Promise.all(jobs)).includes(false) ? null : found
  }

  /** Sends every Snapshot of `found`, then what was held back; ends the socket where that cannot be done. */
  async serve(to: Seeding, found: Found): Promise<void> {
    const { connection, joiner } = to
    if (!(await this.#send(to, found).catch(() => false))) return connection.broken('overflow')
    const { texts, broken } = joiner.open()
    if (broken) return connection.broken('continuity')
    for (const text of texts) connection.send(text)
  }

  /** False where a hub stopped answering. */
  async #send(to: Seeding, found: Found): Promise<boolean> {
    for (const { hub, snapshot } of found.snapshots) await this.#sendOne(to, hub, snapshot)
    for (const { hub, coins } of found.missing) {
      for (let rest = coins; rest.length > 0 && !to.connection.ended; ) {
        const answer = await this.#joinWhenReady(hub, rest, true)
        if (!answer) return false
        for (const snapshot of answer.snapshots) await this.#sendOne(to, hub, snapshot)
        rest = answer.rest
      }
    }
    return true
  }

  async #findTypes(hub: number, types: readonly MarketType[], found: Found): Promise<boolean> {
    if (types.length === 0) return true
    if (!(await this.#joinWhenReady(hub, [], false))) return false
    const { coins } = await this.#source.joinTypes(hub, types)
    found.missing.push({ hub, coins })
    return true
  }

  /** The first answer's books are kept; of the other coins it is only asked whether they exist, until their turn. */
  async #findCoins(hub: number, coins: readonly string[], withBooks: boolean, found: Found): Promise<boolean> {
    const first = await this.#joinWhenReady(hub, coins, withBooks)
    if (!first) return false
    found.unknown.push(...first.unknown)
    found.snapshots.push(...first.snapshots.map((snapshot) => ({ hub, snapshot })))
    if (first.rest.length > 0) found.missing.push({ hub, coins: first.rest })
    for (let rest = first.rest; rest.length > 0; ) {
      const answer = await this.#joinWhenReady(hub, rest, false)
      if (!answer) return false
      found.unknown.push(...answer.unknown)
      rest = answer.rest
    }
    return true
  }

  async #joinWhenReady(hub: number, coins: readonly string[], withBooks: boolean): Promise<JoinAnswer | null> {
    for (let waited = 0; waited <= READY_WAIT_MS; waited += READY_POLL_MS) {
      const answer = await this.#source.join(hub, coins, withBooks)
      if (answer.ready) return answer
      await this.#wait(READY_POLL_MS)
      await this.#source.ensure(hub)
    }
    return null
  }

  async #sendOne({ connection, joiner, encode }: Seeding, hub: number, snapshot: BookSnapshot): Promise<void> {
    const text = encode(snapshot)
    for (let ms = 1; ms > 0 && !connection.ended; ) {
      ms = connection.snapshotWaitMs(text.length)
      if (ms > 0 && !connection.ended) await this.#wait(ms)
    }
    if (connection.ended) return
    joiner.joined(snapshot, hub)
    connection.send(text)
    const { bucket, waitMs } = borrowTokens(this.#pacer, PACE, snapshot.levels.length, this.#clock.nowMs)
    this.#pacer = bucket
    if (waitMs > 0) await this.#wait(waitMs)
  }
}
