// Activates a body's coins at the hubs and sends their snapshots by shared scans. Invariant: a coin is active before
// its snapshot is sent, and snapshots are paced, because the read speed is unknown.

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
/** Snapshot bytes that a relay sends per second, and the size of a burst. 64 snapshots of 25 MB take 35 s. */
const PACE: Rate = { perSecond: 48 * 1024 * 1024, burst: 1024 * 1024 }

/** Calls to the hubs. `ensure` resolves when the link to a hub is up. The other methods are those of BookHubApi. */
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

  /** Activates listed coins and returns those that have no book. Null if a hub has no books yet. */
  async unknownCoins(coins: readonly string[], hubs: readonly number[]): Promise<string[] | null> {
    const replies = hubs.map((hub) => {
      const own = coins.filter((coin) => shardOf(coin, this.#ports.shards) === hub)
      return this.#joinWhenReady(hub, own, false)
    })
    const ready = (await Promise.all(replies)).filter((reply) => reply !== null)
    return ready.length < replies.length ? null : ready.flatMap(({ unknown }) => unknown)
  }

  /** Activates market types and returns the names of their coins; null if a hub has no books yet. */
  async coinsOfTypes(types: readonly MarketType[], hubs: readonly number[]): Promise<string[] | null> {
    if (types.length === 0) return []
    if ((await this.unknownCoins([], hubs)) === null) return null
    const replies = await Promise.all(hubs.map((hub) => this.#ports.books.joinTypes(hub, types)))
    return replies.flatMap(({ coins }) => coins)
  }

  /** Sends every snapshot that the joiner needs; false if a hub stopped responding. */
  async serve(receiver: SnapshotReceiver, hubs: readonly number[]): Promise<boolean> {
    // Coins listed meanwhile may need another pass.
    while (!receiver.joiner.isComplete) {
      const served = await Promise.all(hubs.map((hub) => this.#scans[hub]?.serve(receiver) ?? false))
      if (served.includes(false)) return false
    }
    receiver.joiner.markSeeded()
    return true
  }

  async #joinWhenReady(hub: number, coins: readonly string[], withBooks: boolean): Promise<JoinResponse | null> {
    for (let waited = 0; waited <= READY_WAIT_MS; waited += READY_POLL_MS) {
      const reply = await this.#ports.books.join(hub, coins, withBooks)
      if (reply.ready) return reply
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
