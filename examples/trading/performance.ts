// Statistics of a strategy: drawdown, profit per minute, and the quality of its fills. They are floats, which are precise
// enough for statistics; the money that they are made of is exact.

import type { Fill } from './paper-exchange.ts'

const MINUTE_MS = 60_000
const MINUTES_PER_DAY = 1_440
/** The mid is compared with the price of a fill this long after the fill. */
const MARKOUT_MS = 5_000

/** Profit over time. Values between two minutes only count for the drawdown. */
export class ProfitCurve {
  #peak = 0
  #maxDrawdown = 0
  #minute: number | null = null
  #last = 0
  /** Profit of each whole minute. */
  readonly #changes: number[] = []
  #atMinute = 0

  add(time: number, profit: number): void {
    this.#peak = Math.max(this.#peak, profit)
    this.#maxDrawdown = Math.max(this.#maxDrawdown, this.#peak - profit)
    const minute = Math.floor(time / MINUTE_MS)
    if (this.#minute !== null && minute > this.#minute) {
      this.#changes.push(this.#last - this.#atMinute)
      this.#atMinute = this.#last
    }
    this.#minute = minute
    this.#last = profit
  }

  /**
   * `perDay`: mean profit of a minute divided by its deviation, scaled to a day as if minutes were independent. Null for
   * fewer than two whole minutes, or if the profit never changes.
   */
  get result(): { maxDrawdown: number; minutes: number; meanPerMinute: number | null; perDay: number | null } {
    const minutes = this.#changes.length
    const mean = meanOf(this.#changes)
    const deviation =
      mean === null || minutes < 2
        ? 0
        : Math.sqrt(this.#changes.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (minutes - 1))
    const perDay = mean === null || deviation === 0 ? null : (mean / deviation) * Math.sqrt(MINUTES_PER_DAY)
    return { maxDrawdown: this.#maxDrawdown, minutes, meanPerMinute: mean, perDay }
  }
}

/** How long fills waited, and how the market moved after them. */
export class FillQuality {
  readonly #waits: number[] = []
  readonly #moves: number[] = []
  /** Fills whose move is not due yet. */
  #unmarked: Fill[] = []

  add(fill: Fill): void {
    this.#waits.push(fill.waitedMs)
    this.#unmarked.push(fill)
  }

  /** The mid after a block. */
  mid(time: number, mid: number): void {
    if (this.#unmarked.length === 0) return
    this.#unmarked = this.#unmarked.filter((fill) => {
      if (time - fill.time < MARKOUT_MS) return true
      const move = (mid / Number(fill.px) - 1) * 10_000
      this.#moves.push(fill.side === 'B' ? move : -move)
      return false
    })
  }

  /** Blocks are missing, so moves that are not due yet stay unknown. */
  forget(): void {
    this.#unmarked = []
  }

  /** `moveBp`: positive if the market moved in favor of the fills. Null without fills. */
  get result(): { medianWaitMs: number | null; moveBp: number | null } {
    const waits = this.#waits.toSorted((a, b) => a - b)
    return { medianWaitMs: waits[Math.floor(waits.length / 2)] ?? null, moveBp: meanOf(this.#moves) }
  }
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length
}
