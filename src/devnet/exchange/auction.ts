// Deploy auctions: one after the other on a fixed timetable, the price falling from its start in a straight line
// until somebody buys, late enough that one of two is always in progress, or it reaches the floor. A function of seed and time alone. Times are a sixtieth of the
// exchange's own (31 hours there), so that an auction can be watched to its end.

import { formatAmount, units } from './fixed-point.ts'
import { Prng, seedState } from './prng.ts'

const DURATION_S = 1_860
const PERIOD_S = 2_160
const FLOOR = units(10)

interface Auction {
  readonly startTimeSeconds: number
  readonly durationSeconds: number
  readonly startGas: string
  /** Null once the auction has ended. */
  readonly currentGas: string | null
  /** Null while it lasts. */
  readonly endGas: string | null
}

/** The auction of a `slot` (each has its own timetable) that has begun last. */
export function auctionAt(seed: number, slot: number, timeMs: number): Auction {
  const seconds = timeMs / 1000 - slot * 700
  const round = Math.floor(seconds / PERIOD_S)
  const elapsed = seconds - round * PERIOD_S
  const rng = new Prng(seedState(seed + slot * 2 ** 40 + round))
  const start = units(rng.between(500, 1_500))
  // Now and then nobody buys.
  const soldAfter = rng.chance(800_000) ? rng.between(1_500, DURATION_S - 60) : DURATION_S
  const ended = elapsed >= soldAfter
  const price = (after: number) =>
    formatAmount(start - ((start - FLOOR) * BigInt(Math.floor(after))) / BigInt(DURATION_S))
  return {
    startTimeSeconds: round * PERIOD_S + slot * 700,
    durationSeconds: DURATION_S,
    startGas: formatAmount(start),
    currentGas: ended ? null : price(elapsed),
    endGas: ended ? price(soldAfter) : null,
  }
}
