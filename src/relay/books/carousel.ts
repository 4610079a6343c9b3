// The Snapshots of one hub's coins, handed round to all who wait for them. Laws: a coin is asked for once for all who are
// there, and its text written once; a hub that does not answer keeps nobody waiting for the others; between two sends
// the pace is kept, so no stretch without a pause is longer than a Snapshot and the burst of the pace.

import type { Coin } from '../../core/coin.ts'
import { entryOf } from '../../core/entry-of.ts'
import type { BookSnapshot, JoinAnswer } from '../../protocol/hub/hub-api.ts'
import type { BookChannel } from '../channel.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import type { Joiner } from './joiner.ts'

/** Coins asked for at once; a hub answers so many of them as fit into 1 MiB. */
const MAX_COINS = 64
/** How long books are kept for one that has yet to read what it was sent. */
const PATIENCE_MS = 1000

/** Who is sent Snapshots, and how its channel writes them. */
export interface Seeding {
  /** Of its topic in the fan-out. */
  readonly key: string
  readonly connection: Connection
  readonly joiner: Joiner
  readonly encode: NonNullable<BookChannel<unknown>['snapshot']>
  /** Wants few coins, and so does not wait behind those that want all. */
  readonly isQuick: boolean
}

export interface CarouselPorts {
  readonly hub: number
  readonly clock: Clock
  wait(ms: number): Promise<void>
  /** Counts bytes that were sent; resolves when more may be. */
  pace(bytes: number): Promise<void>
  /** Null where the hub does not answer. */
  fetch(coins: readonly string[]): Promise<JoinAnswer | null>
  /** Around a fetch and the sending of what it brought. */
  watch(coins: readonly string[]): void
  unwatch(coins: readonly string[]): void
  handOut(to: Seeding, snapshot: BookSnapshot, text: string): void
}

interface Rider extends Seeding {
  readonly leave: (isServed: boolean) => void
  /** Nothing may be sent to it before. */
  notBeforeMs: number
  /** When it was last sent something in the present round, or that began. */
  servedMs: number
  /** The others were kept waiting for it in vain. */
  isSlow: boolean
  /** Of the Snapshot that it was last to be sent. */
  bytes: number
}

export class Carousel {
  readonly #ports: CarouselPorts
  /** In the order of their coming. */
  readonly #riders = new Set<Rider>()
  #isTurning = false
  #isQuick = false

  constructor(ports: CarouselPorts) {
    this.#ports = ports
  }

  /** Resolves when the joiner has nothing more to get of this hub; false where the hub stopped answering. */
  serve(seeding: Seeding): Promise<boolean> {
    if (seeding.joiner.awaited(this.#ports.hub).size === 0) return Promise.resolve(true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#riders.add({ ...seeding, leave: resolve, notBeforeMs: 0, servedMs: 0, isSlow: false, bytes: 0 })
    if (!this.#isTurning) this.#turn()
    return promise
  }

  async #turn(): Promise<void> {
    this.#isTurning = true
    for (this.#dismiss(); this.#riders.size > 0; this.#dismiss()) {
      const driver = this.#driver()
      if (driver) await this.#round([...driver.joiner.awaited(this.#ports.hub)].slice(0, MAX_COINS))
      else await this.#ports.wait(this.#untilReadyMs())
    }
    this.#isTurning = false
  }

  /** Lets go of those that have all. */
  #dismiss(): void {
    for (const rider of this.#riders) if (rider.joiner.awaited(this.#ports.hub).size === 0) this.#leave(rider, true)
  }

  #leave(rider: Rider, isServed: boolean): void {
    if (this.#riders.delete(rider)) rider.leave(isServed)
  }

  /** Whose coins are next: those who want few and those who want many take turns, the first of them first. */
  #driver(): Rider | undefined {
    this.#isQuick = !this.#isQuick
    const { nowMs } = this.#ports.clock
    // For who was in vain waited for no book is read before it may be sent one.
    const mayHave = (rider: Rider) => !rider.isSlow || this.#mayHave(rider, rider.bytes)
    const ready = [...this.#riders].filter((rider) => rider.notBeforeMs <= nowMs && mayHave(rider))
    return ready.find(({ isQuick }) => isQuick === this.#isQuick) ?? ready[0]
  }

  /** No longer than somebody who comes meanwhile may wait. */
  #untilReadyMs(): number {
    return Math.min(PATIENCE_MS, Math.max(1, firstOf([...this.#riders]) - this.#ports.clock.nowMs))
  }

  /** Who comes while a round is under way waits for the next: a Snapshot that was asked for before lacks what it missed. */
  async #round(coins: readonly string[]): Promise<void> {
    const here = [...this.#riders]
    this.#ports.watch(coins)
    try {
      const answer = await this.#ports.fetch(coins).catch(() => null)
      if (answer) await this.#handRound(here, answer.snapshots)
      for (const rider of here)
        for (const coin of answer?.unknown ?? [])
          if (this.#awaits(rider, coin)) rider.joiner.joined({ coin, height: -1 })
      if (!answer)
        for (const rider of here) if (coins.some((coin) => this.#awaits(rider, coin))) this.#leave(rider, false)
    } finally {
      this.#ports.unwatch(coins)
    }
  }

  /** One Snapshot for each rider in turn, as fast as each may have them. */
  async #handRound(riders: readonly Rider[], snapshots: readonly BookSnapshot[]): Promise<void> {
    const { clock, wait } = this.#ports
    const texts = new Texts()
    for (const rider of riders) rider.servedMs = clock.nowMs
    for (;;) {
      for (const rider of riders) {
        const snapshot = rider.notBeforeMs <= clock.nowMs && snapshots.find(({ coin }) => this.#awaits(rider, coin))
        if (snapshot) await this.#hand(rider, snapshot, texts.of(snapshot, rider.encode))
      }
      const waiting = riders.filter((rider) => snapshots.some(({ coin }) => this.#awaits(rider, coin)))
      // Who may have more soon is waited for, so that a book is read once for all; not again for who was in vain.
      for (const rider of waiting) rider.isSlow ||= rider.notBeforeMs - rider.servedMs > PATIENCE_MS
      const untilMs = firstOf(waiting.filter(({ isSlow }) => !isSlow))
      if (untilMs === Number.POSITIVE_INFINITY) return
      if (untilMs > clock.nowMs) await wait(untilMs - clock.nowMs)
    }
  }

  /** Unless it may not be sent now. */
  async #hand(rider: Rider, snapshot: BookSnapshot, text: string): Promise<void> {
    if (!this.#mayHave(rider, text.length)) return
    rider.servedMs = rider.notBeforeMs
    rider.isSlow = false
    this.#ports.handOut(rider, snapshot, text)
    this.#dismiss()
    await this.#ports.pace(text.length)
  }

  /** Whether it may be sent so much now; else it is not asked before it may. */
  #mayHave(rider: Rider, bytes: number): boolean {
    const waitMs = rider.connection.snapshotWaitMs(bytes)
    rider.notBeforeMs = this.#ports.clock.nowMs + waitMs
    rider.bytes = bytes
    return waitMs === 0
  }

  #awaits({ joiner }: Seeding, coin: Coin): boolean {
    return joiner.awaited(this.#ports.hub).has(coin)
  }
}

/** When the first of them may be sent something. */
function firstOf(riders: readonly Rider[]): number {
  return Math.min(...riders.map(({ notBeforeMs }) => notBeforeMs))
}

/** What channels make of Snapshots, each once. */
class Texts {
  readonly #byEncoder = new Map<Seeding['encode'], Map<BookSnapshot, string>>()

  of(snapshot: BookSnapshot, encode: Seeding['encode']): string {
    const texts = entryOf(this.#byEncoder, encode, () => new Map<BookSnapshot, string>())
    return entryOf(texts, snapshot, () => encode(snapshot))
  }
}
