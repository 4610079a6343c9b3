// Sends the snapshots of one hub's coins to all waiting subscribers. Invariants: each coin is requested and encoded
// once for all current waiters; an unresponsive hub does not delay other hubs; sends are paced, so no burst exceeds one
// snapshot plus the pacer's burst.

import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { BookSnapshot, JoinResponse } from '../../protocol/hub/hub-api.ts'
import type { BookChannel } from '../channel.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import type { Joiner } from './joiner.ts'

/** Maximum number of coins per request. A hub returns as many as fit into 1 MiB. */
const MAX_COINS = 64
/** How long books are kept for a slow reader. */
const PATIENCE_MS = 1000

/** A subscriber that needs snapshots, with its channel's encoder. */
export interface SnapshotReceiver {
  /** Its topic in the fan-out. */
  readonly key: string
  readonly connection: Connection
  readonly joiner: Joiner
  readonly encode: NonNullable<BookChannel<unknown>['snapshot']>
  /** It needs few coins, so it does not wait behind full markets. */
  readonly isQuick: boolean
}

export interface ScanPorts {
  readonly hub: number
  readonly clock: Clock
  wait(ms: number): Promise<void>
  /** Counts sent bytes; resolves when more may be sent. */
  pace(bytes: number): Promise<void>
  /** Null if the hub does not respond. */
  fetch(coins: readonly string[]): Promise<JoinResponse | null>
  /** Call these before a fetch and after its snapshots have been sent. */
  startRecording(coins: readonly string[]): void
  stopRecording(coins: readonly string[]): void
  deliver(to: SnapshotReceiver, snapshot: BookSnapshot, text: string): void
}

interface Waiter extends SnapshotReceiver {
  readonly resolve: (isServed: boolean) => void
  /** Nothing may be sent to it before this time. */
  notBeforeMs: number
  /** Time of the last send to it in this scan, or the start of the scan. */
  servedMs: number
  /** True if it could not receive a snapshot within `PATIENCE_MS`. Other waiters then do not wait for it. */
  isSlow: boolean
  /** Size of the last snapshot that was due for it. */
  bytes: number
}

export class SharedSnapshotScan {
  readonly #ports: ScanPorts
  /** In arrival order. */
  readonly #waiters = new Set<Waiter>()
  #isRunning = false
  #isQuickTurn = false

  constructor(ports: ScanPorts) {
    this.#ports = ports
  }

  /** Resolves when the joiner needs nothing more from this hub; false if the hub stopped responding. */
  serve(receiver: SnapshotReceiver): Promise<boolean> {
    if (receiver.joiner.pendingCoins(this.#ports.hub).size === 0) return Promise.resolve(true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiters.add({ ...receiver, resolve, notBeforeMs: 0, servedMs: 0, isSlow: false, bytes: 0 })
    if (!this.#isRunning) this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (this.#releaseServed(); this.#waiters.size > 0; this.#releaseServed()) {
      const next = this.#nextWaiter()
      if (next) await this.#scanCoins([...next.joiner.pendingCoins(this.#ports.hub)].slice(0, MAX_COINS))
      else await this.#ports.wait(this.#untilReadyMs())
    }
    this.#isRunning = false
  }

  /** Releases waiters that have all their snapshots. */
  #releaseServed(): void {
    for (const waiter of this.#waiters)
      if (waiter.joiner.pendingCoins(this.#ports.hub).size === 0) this.#remove(waiter, true)
  }

  #remove(waiter: Waiter, isServed: boolean): void {
    if (this.#waiters.delete(waiter)) waiter.resolve(isServed)
  }

  /** The waiter whose coins are next. Quick and full waiters alternate, each in arrival order. */
  #nextWaiter(): Waiter | undefined {
    this.#isQuickTurn = !this.#isQuickTurn
    const { nowMs } = this.#ports.clock
    // Books are read for a slow waiter only when it can receive one.
    const isReady = (waiter: Waiter) => !waiter.isSlow || this.#canSend(waiter, waiter.bytes)
    const ready = [...this.#waiters].filter((waiter) => waiter.notBeforeMs <= nowMs && isReady(waiter))
    return ready.find(({ isQuick }) => isQuick === this.#isQuickTurn) ?? ready[0]
  }

  /** Time until a waiter is ready. It is bounded, so that a new waiter is noticed in time. */
  #untilReadyMs(): number {
    return Math.min(PATIENCE_MS, Math.max(1, earliestMs([...this.#waiters]) - this.#ports.clock.nowMs))
  }

  /**
   * Waiters that arrive during a scan wait for the next scan, because a snapshot that was requested earlier lacks changes
   * from before their arrival.
   */
  async #scanCoins(coins: readonly string[]): Promise<void> {
    const current = [...this.#waiters]
    this.#ports.startRecording(coins)
    try {
      const reply = await this.#ports.fetch(coins).catch(() => null)
      if (reply) await this.#distribute(current, reply.snapshots)
      for (const waiter of current)
        for (const coin of reply?.unknown ?? [])
          if (this.#awaits(waiter, coin)) waiter.joiner.onSnapshot({ coin, height: -1 })
      if (!reply)
        for (const waiter of current) if (coins.some((coin) => this.#awaits(waiter, coin))) this.#remove(waiter, false)
    } finally {
      this.#ports.stopRecording(coins)
    }
  }

  /** Sends one snapshot to each waiter in turn, as fast as each waiter can receive them. */
  async #distribute(waiters: readonly Waiter[], snapshots: readonly BookSnapshot[]): Promise<void> {
    const { clock, wait } = this.#ports
    const texts = new TextCache()
    for (const waiter of waiters) waiter.servedMs = clock.nowMs
    for (;;) {
      for (const waiter of waiters) {
        const snapshot = waiter.notBeforeMs <= clock.nowMs && snapshots.find(({ coin }) => this.#awaits(waiter, coin))
        if (snapshot) await this.#send(waiter, snapshot, texts.of(snapshot, waiter.encode))
      }
      const waiting = waiters.filter((waiter) => snapshots.some(({ coin }) => this.#awaits(waiter, coin)))
      // Waits for readers that can receive more soon, so that a book is read once for all of them. Slow readers are
      // served by a later scan.
      for (const waiter of waiting) waiter.isSlow ||= waiter.notBeforeMs - waiter.servedMs > PATIENCE_MS
      const untilMs = earliestMs(waiting.filter(({ isSlow }) => !isSlow))
      if (untilMs === Number.POSITIVE_INFINITY) return
      if (untilMs > clock.nowMs) await wait(untilMs - clock.nowMs)
    }
  }

  /** Does nothing if it cannot be sent now. */
  async #send(waiter: Waiter, snapshot: BookSnapshot, text: string): Promise<void> {
    if (!this.#canSend(waiter, text.length)) return
    waiter.servedMs = waiter.notBeforeMs
    waiter.isSlow = false
    this.#ports.deliver(waiter, snapshot, text)
    this.#releaseServed()
    await this.#ports.pace(text.length)
  }

  /** Whether this many bytes may be sent now. If not, the waiter is skipped until then. */
  #canSend(waiter: Waiter, bytes: number): boolean {
    const waitMs = waiter.connection.snapshotWaitMs(bytes)
    waiter.notBeforeMs = this.#ports.clock.nowMs + waitMs
    waiter.bytes = bytes
    return waitMs === 0
  }

  #awaits({ joiner }: SnapshotReceiver, coin: Coin): boolean {
    return joiner.pendingCoins(this.#ports.hub).has(coin)
  }
}

/** The earliest time at which any of them may receive a snapshot. */
function earliestMs(waiters: readonly Waiter[]): number {
  return Math.min(...waiters.map(({ notBeforeMs }) => notBeforeMs))
}

/** Encoded snapshots, each built once per encoder. */
class TextCache {
  readonly #byEncoder = new Map<SnapshotReceiver['encode'], Map<BookSnapshot, string>>()

  of(snapshot: BookSnapshot, encode: SnapshotReceiver['encode']): string {
    const texts = getOrCreate(this.#byEncoder, encode, () => new Map<BookSnapshot, string>())
    return getOrCreate(texts, snapshot, () => encode(snapshot))
  }
}
