// The Snapshots of one hub's coins, handed round to all who wait for them. Laws: a coin is asked for once for all who are
// there, and its text written once; a hub that does not answer keeps nobody waiting for the others; between two sends
// the pace is kept, so no stretch without a pause is longer than a Snapshot and the burst of the pace.

import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { BookSnapshot, JoinResponse } from '../../protocol/hub/hub-api.ts'
import type { BookChannel } from '../channel.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import type { Joiner } from './joiner.ts'

/** Coins asked for at once; a hub answers so many of them as fit into 1 MiB. */
const MAX_COINS = 64
/** How long books are kept for one that has yet to read what it was sent. */
const PATIENCE_MS = 1000

/** Who is sent Snapshots, and how its channel writes them. */
export interface SnapshotReceiver {
  /** Of its topic in the fan-out. */
  readonly key: string
  readonly connection: Connection
  readonly joiner: Joiner
  readonly encode: NonNullable<BookChannel<unknown>['snapshot']>
  /** Wants few coins, and so does not wait behind those that want all. */
  readonly isQuick: boolean
}

export interface ScanPorts {
  readonly hub: number
  readonly clock: Clock
  wait(ms: number): Promise<void>
  /** Counts bytes that were sent; resolves when more may be. */
  pace(bytes: number): Promise<void>
  /** Null where the hub does not answer. */
  fetch(coins: readonly string[]): Promise<JoinResponse | null>
  /** Around a fetch and the sending of what it brought. */
  startRecording(coins: readonly string[]): void
  stopRecording(coins: readonly string[]): void
  deliver(to: SnapshotReceiver, snapshot: BookSnapshot, text: string): void
}

interface Waiter extends SnapshotReceiver {
  readonly resolve: (isServed: boolean) => void
  /** Nothing may be sent to it before. */
  notBeforeMs: number
  /** When it was last sent something in the present round, or that began. */
  servedMs: number
  /** The others were kept waiting for it in vain. */
  isSlow: boolean
  /** Of the Snapshot that it was last to be sent. */
  bytes: number
}

export class SharedSnapshotScan {
  readonly #ports: ScanPorts
  /** In the order of their coming. */
  readonly #waiters = new Set<Waiter>()
  #isRunning = false
  #isQuickTurn = false

  constructor(ports: ScanPorts) {
    this.#ports = ports
  }

  /** Resolves when the joiner has nothing more to get of this hub; false where the hub stopped answering. */
  serve(seeding: SnapshotReceiver): Promise<boolean> {
    if (seeding.joiner.pendingCoins(this.#ports.hub).size === 0) return Promise.resolve(true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiters.add({ ...seeding, resolve: resolve, notBeforeMs: 0, servedMs: 0, isSlow: false, bytes: 0 })
    if (!this.#isRunning) this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (this.#releaseServed(); this.#waiters.size > 0; this.#releaseServed()) {
      const driver = this.#nextWaiter()
      if (driver) await this.#scanCoins([...driver.joiner.pendingCoins(this.#ports.hub)].slice(0, MAX_COINS))
      else await this.#ports.wait(this.#untilReadyMs())
    }
    this.#isRunning = false
  }

  /** Lets go of those that have all. */
  #releaseServed(): void {
    for (const rider of this.#waiters)
      if (rider.joiner.pendingCoins(this.#ports.hub).size === 0) this.#remove(rider, true)
  }

  #remove(rider: Waiter, isServed: boolean): void {
    if (this.#waiters.delete(rider)) rider.resolve(isServed)
  }

  /** Whose coins are next: those who want few and those who want many take turns, the first of them first. */
  #nextWaiter(): Waiter | undefined {
    this.#isQuickTurn = !this.#isQuickTurn
    const { nowMs } = this.#ports.clock
    // For who was in vain waited for no book is read before it may be sent one.
    const mayHave = (rider: Waiter) => !rider.isSlow || this.#canSend(rider, rider.bytes)
    const ready = [...this.#waiters].filter((rider) => rider.notBeforeMs <= nowMs && mayHave(rider))
    return ready.find(({ isQuick }) => isQuick === this.#isQuickTurn) ?? ready[0]
  }

  /** No longer than somebody who comes meanwhile may wait. */
  #untilReadyMs(): number {
    return Math.min(PATIENCE_MS, Math.max(1, earliestMs([...this.#waiters]) - this.#ports.clock.nowMs))
  }

  /** Who comes while a round is under way waits for the next: a Snapshot that was asked for before lacks what it missed. */
  async #scanCoins(coins: readonly string[]): Promise<void> {
    const here = [...this.#waiters]
    this.#ports.startRecording(coins)
    try {
      const answer = await this.#ports.fetch(coins).catch(() => null)
      if (answer) await this.#distribute(here, answer.snapshots)
      for (const rider of here)
        for (const coin of answer?.unknown ?? [])
          if (this.#awaits(rider, coin)) rider.joiner.onSnapshot({ coin, height: -1 })
      if (!answer)
        for (const rider of here) if (coins.some((coin) => this.#awaits(rider, coin))) this.#remove(rider, false)
    } finally {
      this.#ports.stopRecording(coins)
    }
  }

  /** One Snapshot for each rider in turn, as fast as each may have them. */
  async #distribute(riders: readonly Waiter[], snapshots: readonly BookSnapshot[]): Promise<void> {
    const { clock, wait } = this.#ports
    const texts = new TextCache()
    for (const rider of riders) rider.servedMs = clock.nowMs
    for (;;) {
      for (const rider of riders) {
        const snapshot = rider.notBeforeMs <= clock.nowMs && snapshots.find(({ coin }) => this.#awaits(rider, coin))
        if (snapshot) await this.#send(rider, snapshot, texts.of(snapshot, rider.encode))
      }
      const waiting = riders.filter((rider) => snapshots.some(({ coin }) => this.#awaits(rider, coin)))
      // Who may have more soon is waited for, so that a book is read once for all; not again for who was in vain.
      for (const rider of waiting) rider.isSlow ||= rider.notBeforeMs - rider.servedMs > PATIENCE_MS
      const untilMs = earliestMs(waiting.filter(({ isSlow }) => !isSlow))
      if (untilMs === Number.POSITIVE_INFINITY) return
      if (untilMs > clock.nowMs) await wait(untilMs - clock.nowMs)
    }
  }

  /** Unless it may not be sent now. */
  async #send(rider: Waiter, snapshot: BookSnapshot, text: string): Promise<void> {
    if (!this.#canSend(rider, text.length)) return
    rider.servedMs = rider.notBeforeMs
    rider.isSlow = false
    this.#ports.deliver(rider, snapshot, text)
    this.#releaseServed()
    await this.#ports.pace(text.length)
  }

  /** Whether it may be sent so much now; else it is not asked before it may. */
  #canSend(rider: Waiter, bytes: number): boolean {
    const waitMs = rider.connection.snapshotWaitMs(bytes)
    rider.notBeforeMs = this.#ports.clock.nowMs + waitMs
    rider.bytes = bytes
    return waitMs === 0
  }

  #awaits({ joiner }: SnapshotReceiver, coin: Coin): boolean {
    return joiner.pendingCoins(this.#ports.hub).has(coin)
  }
}

/** When the first of them may be sent something. */
function earliestMs(riders: readonly Waiter[]): number {
  return Math.min(...riders.map(({ notBeforeMs }) => notBeforeMs))
}

/** What channels make of Snapshots, each once. */
class TextCache {
  readonly #byEncoder = new Map<SnapshotReceiver['encode'], Map<BookSnapshot, string>>()

  of(snapshot: BookSnapshot, encode: SnapshotReceiver['encode']): string {
    const texts = getOrCreate(this.#byEncoder, encode, () => new Map<BookSnapshot, string>())
    return getOrCreate(texts, snapshot, () => encode(snapshot))
  }
}
