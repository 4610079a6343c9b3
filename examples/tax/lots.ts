// The units of one asset that a wallet holds, and what they cost. Decimals are exact. Where a division would not end, the
// remaining units carry the difference, so no cost appears or disappears.

import { Big } from 'big.js'

export const METHODS = ['fifo', 'lifo', 'average'] as const
export type Method = (typeof METHODS)[number]

/** `cost`: null if nobody knows what the units cost. */
type Lot = { sz: Big; cost: Big | null }
/** `cost`: of the units with a known cost. `unknownSz`: the others. */
export type Removal = { cost: Big; unknownSz: Big }

const ZERO = new Big(0)

export class Lots {
  readonly #method: Method
  /** Oldest first. */
  #lots: Lot[] = []

  constructor(method: Method) {
    this.#method = method
  }

  get sz(): Big {
    return this.#lots.reduce((sum, lot) => sum.plus(lot.sz), ZERO)
  }

  /** Cost of the units whose cost is known. */
  get cost(): Big {
    return this.#lots.reduce((sum, lot) => sum.plus(lot.cost ?? 0), ZERO)
  }

  get unknownSz(): Big {
    return this.#lots.reduce((sum, lot) => (lot.cost === null ? sum.plus(lot.sz) : sum), ZERO)
  }

  add(sz: Big, cost: Big | null): void {
    if (sz.lte(0)) return
    const same =
      this.#method === 'average' ? this.#lots.find((lot) => (lot.cost === null) === (cost === null)) : undefined
    if (!same) {
      this.#lots.push({ sz, cost })
      return
    }
    same.sz = same.sz.plus(sz)
    if (same.cost !== null && cost !== null) same.cost = same.cost.plus(cost)
  }

  /** Removes units. Of an average, those of unknown cost go first. Units that are not there count as unknown. */
  take(sz: Big): Removal {
    let left = sz
    let cost = ZERO
    let unknownSz = ZERO
    while (left.gt(0)) {
      const lot = this.#next()
      if (!lot) return { cost, unknownSz: unknownSz.plus(left) }
      const part = lot.sz.lt(left) ? lot.sz : left
      const isWhole = part.eq(lot.sz)
      if (lot.cost === null) unknownSz = unknownSz.plus(part)
      else {
        const partCost = isWhole ? lot.cost : lot.cost.times(part).div(lot.sz)
        cost = cost.plus(partCost)
        lot.cost = lot.cost.minus(partCost)
      }
      lot.sz = lot.sz.minus(part)
      if (isWhole) this.#lots = this.#lots.filter((one) => one !== lot)
      left = left.minus(part)
    }
    return { cost, unknownSz }
  }

  #next(): Lot | undefined {
    if (this.#method === 'fifo') return this.#lots[0]
    if (this.#method === 'lifo') return this.#lots.at(-1)
    return this.#lots.find((lot) => lot.cost === null) ?? this.#lots[0]
  }
}
