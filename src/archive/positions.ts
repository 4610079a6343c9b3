// Positions in perps, from fills alone: after a fill, the position is its startPosition plus or minus its size.
//
// A change summarizes consecutive fills of one wallet in one coin. Invariant: `joinChanges` is associative, so that the
// position after any fills does not depend on how they were summarized in between.
//
// A break is a fill that does not start where the position was known to be: at the end of the fill before it, or at zero
// if there is none. Fills are missing before it, but from it on the position is exact again. A closed position is
// forgotten, with its break.

import { type Coin, marketTypeOf } from '../core/coin.ts'
import { DECIMAL, fromScaled, toScaled, UNSIGNED_DECIMAL } from '../core/decimal.ts'
import type { Address, Fill, UserFill } from '../protocol/feed/block.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'

export interface PositionChange extends HeightAndTime {
  /** Signed position after the last fill, in wire form. `height` and `time` are the block of that fill. */
  readonly szi: string
  /** The position before the first fill; null if the position before it does not matter any more. */
  readonly start: string | null
  /** With `start`, the block of the first fill. Without, the last break; null: none since the position was opened. */
  readonly at: HeightAndTime | null
}

/** A change as it is stored. The last element is absent if it is null, or the block of the row itself. */
export type PositionRow = readonly [
  user: Address,
  szi: string,
  start: string | null,
  at?: readonly [height: number, time: number],
]

export const NO_POSITION = '0.0'
const FLAT = { start: null, at: null } as const

/** The change that a fill makes; null for markets other than perps, and if an amount is not a decimal. */
export function changeOf(
  { coin, startPosition, sz, side }: Fill,
  { height, time }: HeightAndTime,
): PositionChange | null {
  if (marketTypeOf(coin) !== 'perp' || !DECIMAL.test(startPosition) || !UNSIGNED_DECIMAL.test(sz)) return null
  const start = toScaled(startPosition)
  const szi = fromScaled(side === 'B' ? start + toScaled(sz) : start - toScaled(sz))
  const at = { height, time }
  return { ...at, szi, ...(szi === NO_POSITION ? FLAT : { start: fromScaled(start), at }) }
}

/** The change of two that follow each other. */
export function joinChanges(a: PositionChange, b: PositionChange): PositionChange {
  if (b.start === null) return b
  return b.start === a.szi ? { ...b, start: a.start, at: a.at } : { ...b, start: null }
}

/** A wallet's position before its first known fill. */
const BEFORE_ALL: PositionChange = { height: -1, time: -1, szi: NO_POSITION, ...FLAT }

/** The position after a change that nothing is known before. */
export function positionAfter(change: PositionChange): PositionChange {
  return joinChanges(BEFORE_ALL, change)
}

/** Changes by wallet. Each must be later than those that were added before. */
export class PositionFold {
  readonly byUser = new Map<Address, PositionChange>()

  add(user: Address, change: PositionChange): void {
    const known = this.byUser.get(user)
    this.byUser.set(user, known ? joinChanges(known, change) : change)
  }

  addFills(fills: readonly UserFill[], at: HeightAndTime, coin: Coin): void {
    for (const [user, fill] of fills) {
      const change = fill.coin === coin ? changeOf(fill, at) : null
      if (change) this.add(user, change)
    }
  }
}

export function rowOf(user: Address, { szi, start, at, height }: PositionChange): PositionRow {
  const isOwn = at === null || (start !== null && at.height === height)
  return isOwn ? [user, szi, start] : [user, szi, start, [at.height, at.time]]
}

/** `line`: the block of the row. */
export function changeOfRow([, szi, start, at]: PositionRow, { height, time }: HeightAndTime): PositionChange {
  const own = { height, time }
  return { ...own, szi, start, at: at ? { height: at[0], time: at[1] } : start === null ? null : own }
}
