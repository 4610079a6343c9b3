// Pages of the positions of all wallets in a coin, largest first. A cursor names the height, so that all pages of a list
// show the same positions.

import { NO_POSITION, type PositionChange, positionAfter } from '../../archive/positions.ts'
import { compareDecimals, fromScaled, toScaled } from '../../core/decimal.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { CoinPositions } from '../ports.ts'
import { positionFields } from './own-positions.ts'

export const POSITION_CURSOR = /^\d{1,15}_\d{1,9}$/

type Side = 'long' | 'short'

interface Page {
  readonly side?: Side | undefined
  /** Number of positions that are passed. */
  readonly from: number
  readonly limit: number
}

/** The height and the number of passed positions that a cursor names. */
export function placeOfCursor(cursor: string): { readonly height: number; readonly from: number } {
  const [height = 0, from = 0] = cursor.split('_').map(Number)
  return { height, from }
}

export function positionPage({ height, lastGap, byUser }: CoinPositions, { side, from, limit }: Page) {
  const ends = [...byUser].map(([user, change]) => [user, positionAfter(change)] as const)
  const open = ends.filter(([, { szi }]) => szi !== NO_POSITION)
  const sides = Map.groupBy(open, ([, { szi }]): Side => (szi.startsWith('-') ? 'short' : 'long'))
  const listed = (side ? sides.get(side) : open) ?? []
  const rows = listed.toSorted(largestFirst).slice(from, from + limit)
  const sizes = { long: totalOf(sides.get('long')), short: totalOf(sides.get('short')) }
  const positions = rows.map(([user, change]) => ({
    user,
    ...positionFields({ change, gapAfter: change.height < lastGap }),
  }))
  const isEnd = from + limit >= listed.length
  return { body: { height, ...sizes, positions }, next: isEnd ? undefined : `${height}_${from + limit}` }
}

type OpenPosition = readonly [Address, PositionChange]

const sizeOf = ([, { szi }]: OpenPosition) => szi.replace('-', '')

/** Positions of one size are in the order of their wallets. */
function largestFirst(a: OpenPosition, b: OpenPosition): number {
  return compareDecimals(sizeOf(b), sizeOf(a)) || (a[0] < b[0] ? -1 : 1)
}

function totalOf(open: readonly OpenPosition[] = []) {
  const sz = open.reduce((sum, one) => sum + toScaled(sizeOf(one)), 0n)
  return { wallets: open.length, sz: fromScaled(sz) }
}
