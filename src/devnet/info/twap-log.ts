// What became of every wallet's TWAP orders: seen from the list of those that run, and from the fills of their slices.

import type { Exchange, Twap } from '../exchange/exchange.ts'
import { amountOf, formatAmount, notional } from '../exchange/fixed-point.ts'
import { marketAt } from '../exchange/market.ts'
import type { DevnetBlock } from '../exchange/node-block.ts'
import { BLOCK_MS } from '../exchange/staking.ts'
import { Tail } from '../exchange/tail.ts'
import { BLOCKS_PER_SLICE, SLICES } from '../exchange/twap.ts'

/** Events kept per wallet. */
const KEPT = 500
/** Orders whose fills are added up; those of blocks that were read again may have ended long ago. */
const SUMS = 1_000
const MINUTES = Math.ceil((SLICES * BLOCKS_PER_SLICE * BLOCK_MS) / 60_000)

interface Executed {
  readonly sz: bigint
  readonly ntl: bigint
}

const NOTHING_YET: Executed = { sz: 0n, ntl: 0n }

interface TwapEvent {
  /** Seconds. */
  readonly time: number
  readonly state: ReturnType<typeof stateOf>
  readonly status: { readonly status: 'activated' | 'finished' }
  readonly twapId: number
}

interface Running {
  readonly twap: Twap
  readonly user: string
  readonly startedMs: number
}

export class TwapLog {
  readonly #running = new Map<number, Running>()
  readonly #executed = new Map<number, Executed>()
  readonly #events = new Map<string, Tail<TwapEvent>>()

  /** Adds up the slices of a block. */
  fills(fills: DevnetBlock['fills']): void {
    for (const [, { twapId, px, sz }] of fills) {
      if (twapId === null) continue
      const before = this.#executed.get(twapId) ?? NOTHING_YET
      const size = amountOf(sz)
      this.#executed.set(twapId, { sz: before.sz + size, ntl: before.ntl + notional(amountOf(px), size) })
      if (this.#executed.size > SUMS) this.#executed.delete(this.#executed.keys().next().value!)
    }
  }

  /** Looks which orders have begun and ended with the block that has just been made. */
  note(x: Exchange): void {
    const now = new Set(x.twaps.map(({ id }) => id))
    for (const twap of x.twaps) if (!this.#running.has(twap.id)) this.#begin(x, twap)
    for (const [id, running] of this.#running) if (!now.has(id)) this.#end(id, running, x.block.timeMs)
  }

  /** Newest first. */
  of(user: string): readonly TwapEvent[] {
    return this.#events.get(user)?.toArray().reverse() ?? []
  }

  /** Those that run now, with their ids. */
  states(user: string) {
    return [...this.#running]
      .filter(([, running]) => running.user === user)
      .map(([id, running]) => [id, stateOf(running, this.#executed.get(id) ?? NOTHING_YET)] as const)
  }

  #begin(x: Exchange, twap: Twap): void {
    // The first slice goes out in the block of the order itself; one that ran when the program began is older.
    const startedMs = x.block.timeMs - (SLICES - 1 - twap.slicesLeft) * BLOCKS_PER_SLICE * BLOCK_MS
    const running = { twap, user: x.accounts[twap.owner]!.address, startedMs }
    this.#running.set(twap.id, running)
    this.#push(running, 'activated', startedMs, NOTHING_YET)
  }

  #end(id: number, running: Running, timeMs: number): void {
    this.#running.delete(id)
    this.#push(running, 'finished', timeMs, this.#executed.get(id) ?? NOTHING_YET)
    this.#executed.delete(id)
  }

  #push(running: Running, status: 'activated' | 'finished', timeMs: number, executed: Executed): void {
    const tail = this.#events.get(running.user) ?? new Tail<TwapEvent>(KEPT)
    this.#events.set(running.user, tail)
    const time = Math.floor(timeMs / 1_000)
    tail.push({ time, state: stateOf(running, executed), status: { status }, twapId: running.twap.id })
  }
}

function stateOf({ twap: { market, side, sliceSz }, user, startedMs }: Running, executed: Executed) {
  return {
    coin: marketAt(market).coin,
    user,
    side,
    sz: formatAmount(sliceSz * BigInt(SLICES)),
    executedSz: formatAmount(executed.sz),
    executedNtl: formatAmount(executed.ntl),
    minutes: MINUTES,
    reduceOnly: false,
    randomize: false,
    timestamp: startedMs,
    trigger: null,
    stopPx: null,
  }
}
