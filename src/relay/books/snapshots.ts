// What the hubs say of a book body's coins, and the carousels that bring their Snapshots.
// Law: a coin is in force before its Snapshot is sent, and Snapshots are paced, for nobody can see how fast they are read.

import type { MarketType } from '../../core/coin.ts'
import { shardOf } from '../../core/coin.ts'
import { type Bucket, borrowTokens, fullBucket, type Rate } from '../../core/token-bucket.ts'
import type { JoinResponse, ViewsResponse } from '../../protocol/hub/hub-api.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import type { BookFanout } from './book-fanout.ts'
import { SharedSnapshotScan, type SnapshotReceiver } from './shared-snapshot-scan.ts'

/** How long a subscriber waits for hubs that have no books yet. */
const READY_WAIT_MS = 5000
const READY_POLL_MS = 250
/** Snapshot bytes of a relay per second, and at once: 64 joiners of 25 MB have theirs in 35 s. */
const PACE: Rate = { perSecond: 48 * 1024 * 1024, burst: 1024 * 1024 }

/** The hubs: links are up when `ensure` resolves; the others are calls to hub `hub`, as in BookHubApi. */
export interface BookHubs {
  ensure(hub: number): Promise<void>
  join(hub: number, coins: readonly string[], withBooks: boolean): Promise<JoinResponse>
  joinTypes(hub: number, types: readonly MarketType[]): Promise<{ readonly coins: readonly string[] }>
  joinViews(hub: number, wants: readonly string[]): Promise<ViewsResponse>
}

interface SnapshotPorts {
  readonly books: BookHubs
  readonly shards: number
  readonly clock: Clock
  wait(ms: number): Promise<void>
}

export class SnapshotService {
  readonly #ports: SnapshotPorts
  readonly #scans: readonly SharedSnapshotScan[]
  #pacer: Bucket

  constructor(ports: SnapshotPorts, books: BookFanout<Connection>) {
    const { shards, clock } = ports
    this.#ports = ports
    this.#pacer = fullBucket(PACE, clock.nowMs)
    this.#scans = Array.from({ length: shards }, (_, hub) => {
      return new SharedSnapshotScan({
        hub,
        clock,
        wait: (ms) => ports.wait(ms),
        pace: (bytes) => this.#pace(bytes),
        fetch: (coins) => this.#joinWhenReady(hub, coins, true),
        startRecording: (coins) => books.startRecording(coins),
        stopRecording: (coins) => books.stopRecording(coins),
        deliver: ({ key, connection }, snapshot, text) => books.deliverSnapshot(key, connection, snapshot, text),
      })
    })
  }

  /** Brings the coins of a list into force and answers those that have no book; null where a hub has no books yet. */
  async unknownCoins(coins: readonly string[], hubs: readonly number[]): Promise<string[] | null> {
    const answers = hubs.map((hub) => {
      const own = coins.filter((coin) => shardOf(coin, this.#ports.shards) === hub)
      return this.#joinWhenReady(hub, own, false)
    })
    const found = (await Promise.all(answers)).filter((answer) => answer !== null)
    return found.length < answers.length ? null : found.flatMap(({ unknown }) => unknown)
  }

  /** Brings market types into force and answers the names of their coins; null where a hub has no books yet. */
  async coinsOfTypes(types: readonly MarketType[], hubs: readonly number[]): Promise<string[] | null> {
    if (types.length === 0) return []
    if ((await this.unknownCoins([], hubs)) === null) return null
    const answers = await Promise.all(hubs.map((hub) => this.#ports.books.joinTypes(hub, types)))
    return answers.flatMap(({ coins }) => coins)
  }

  /** Sends every Snapshot that the joiner awaits; false where a hub stopped answering. */
  async serve(seeding: SnapshotReceiver, hubs: readonly number[]): Promise<boolean> {
    // Coins that are listed meanwhile may want another round.
    while (!seeding.joiner.isComplete) {
      const served = await Promise.all(hubs.map((hub) => this.#scans[hub]?.serve(seeding) ?? false))
      if (served.includes(false)) return false
    }
    seeding.joiner.markSeeded()
    return true
  }

  async #joinWhenReady(hub: number, coins: readonly string[], withBooks: boolean): Promise<JoinResponse | null> {
    for (let waited = 0; waited <= READY_WAIT_MS; waited += READY_POLL_MS) {
      const answer = await this.#ports.books.join(hub, coins, withBooks)
      if (answer.ready) return answer
      await this.#ports.wait(READY_POLL_MS)
      await this.#ports.books.ensure(hub)
    }
    return null
  }

  async #pace(bytes: number): Promise<void> {
    const { bucket, waitMs } = borrowTokens(this.#pacer, PACE, bytes, this.#ports.clock.nowMs)
    this.#pacer = bucket
    if (waitMs > 0) await this.#ports.wait(waitMs)
  }
}
