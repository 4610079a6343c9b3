// Joins the fills of a liquidation: one wallet's position in one coin is usually closed by many trades, in one block or a
// few. Time is an argument.

import { Big } from 'big.js'

export type LiquidationFill = {
  coin: string
  px: string
  sz: string
  side: 'B' | 'A'
  time: number
  oid: number
  tid?: number | undefined
  liquidation?: { liquidatedUser?: string | undefined; markPx: string; method: string } | undefined
}

export type Liquidation = {
  user: string
  coin: string
  /** Of the position that was closed. */
  side: 'long' | 'short'
  sz: string
  usd: string
  /** Average price, rounded to eight digits. */
  px: string
  method: string
  /** Of the first fill. */
  time: number
  fills: string[]
}

type Group = { user: string; fills: Map<string, LiquidationFill>; firstAt: number; lastAt: number }

/** A group ends this long after its last fill, and at the latest this long after its first one. */
const QUIET_MS = 1_000
const LONGEST_MS = 5_000
/** Bounds the memory: a group with more fills ends early. */
const MAX_FILLS = 1_000

export class LiquidationGroups {
  readonly #groups = new Map<string, Group>()

  get size(): number {
    return this.#groups.size
  }

  /** `now`: local time. Only the fill of the liquidated wallet counts, because both sides of a trade arrive. */
  add(user: string, fill: LiquidationFill, now: number): void {
    if (fill.liquidation?.liquidatedUser?.toLowerCase() !== user.toLowerCase()) return
    const key = `${user} ${fill.coin} ${fill.side}`
    const group = this.#groups.get(key) ?? { user, fills: new Map(), firstAt: now, lastAt: now }
    group.fills.set(nameOf(fill), fill)
    group.lastAt = now
    this.#groups.set(key, group)
  }

  /** Removes and returns the groups that have ended. */
  due(now: number): Liquidation[] {
    return this.#take(
      ({ fills, firstAt, lastAt }) =>
        now - lastAt >= QUIET_MS || now - firstAt >= LONGEST_MS || fills.size >= MAX_FILLS,
    )
  }

  /** Removes and returns all groups, because the program ends. */
  all(): Liquidation[] {
    return this.#take(() => true)
  }

  #take(isOver: (group: Group) => boolean): Liquidation[] {
    const over = [...this.#groups].filter(([, group]) => isOver(group))
    for (const [key] of over) this.#groups.delete(key)
    return over.map(([, group]) => summaryOf(group))
  }
}

/** Name of a fill, which is the same after a restart. Recordings of old fills have no trade id. */
export function nameOf({ coin, tid, time, oid, px, sz }: LiquidationFill): string {
  return tid === undefined ? `${coin} ${time} ${oid} ${px} ${sz}` : `${coin} ${tid}`
}

function summaryOf({ user, fills }: Group): Liquidation {
  const list = [...fills.values()]
  const [first] = list
  const sz = list.reduce((sum, fill) => sum.plus(fill.sz), new Big(0))
  const usd = list.reduce((sum, fill) => sum.plus(new Big(fill.px).times(fill.sz)), new Big(0))
  const average = sz.eq(0) ? sz : usd.div(sz)
  return {
    user,
    coin: first!.coin,
    side: first!.side === 'A' ? 'long' : 'short',
    sz: sz.toFixed(),
    usd: usd.toFixed(2),
    px: average.eq(0) ? '0' : new Big(average.toPrecision(8)).toFixed(),
    method: first!.liquidation?.method ?? 'unknown',
    time: first!.time,
    fills: [...fills.keys()],
  }
}
