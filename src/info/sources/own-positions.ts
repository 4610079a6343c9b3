// A wallet's positions after a block, from its stored fills. Invariants: the blocks are read backwards, so the last
// fill of a coin is met first; a position without its fills up to now is marked.

import { changeOf, joinChanges, NO_POSITION, type PositionChange, positionAfter } from '../../archive/positions.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { EventBlock } from '../../protocol/feed/durable-api.ts'
import type { EventRead, Sources } from '../ports.ts'
import { EVER } from './own-history.ts'

interface Known {
  readonly change: PositionChange
  readonly gapAfter: boolean
}

interface OwnPositions {
  readonly height: number
  readonly read: EventRead
  readonly byCoin: ReadonlyMap<Coin, Known>
}

export function aboveHead(height: number): Failure {
  return { kind: 'bad_field', issues: [{ path: 'height', message: `must be at most ${height}, the newest block` }] }
}

/** `height`: undefined for the newest block. Closed positions are left out. */
export async function positionsOf(
  user: Address,
  height: number | undefined,
  { events }: Pick<Sources, 'events'>,
): Promise<Result<OwnPositions, Failure>> {
  const past = await events.open({ kind: 'fills', scope: { by: 'user', address: user } })
  if (!past.ok) return past
  const { head } = past.value
  const from = height ?? head.height
  if (from > head.height) return err(aboveHead(head.height))
  const known = new Map<Coin, Known>()
  let gapAfter = false
  const read = await past.value.read({ fromMs: 0, toMs: EVER, order: 'newest', from }, (block, isAfterHole) => {
    gapAfter ||= isAfterHole
    for (const [coin, change] of changesIn(block)) {
      const later = known.get(coin)
      known.set(coin, later ? { ...later, change: joinChanges(change, later.change) } : { change, gapAfter })
    }
    return true
  })
  if (!read.ok) return read
  const isAll = read.value.ended === 'all'
  const ends = [...known].map(([coin, one]): [Coin, Known] => [coin, { ...one, change: endOf(one.change, isAll) }])
  const byCoin = new Map(ends.filter(([, { change }]) => change.szi !== NO_POSITION))
  return ok({ height: from, read: read.value, byCoin })
}

/** `isAll`: whether these are all stored fills. If not, whether the first of them is a break is unknown. */
function endOf(change: PositionChange, isAll: boolean): PositionChange {
  if (isAll) return positionAfter(change)
  return change.start === null ? change : { ...change, at: null }
}

/** The changes of a block of one wallet. */
function changesIn(block: EventBlock): Map<Coin, PositionChange> {
  const changes = new Map<Coin, PositionChange>()
  for (const [, fill] of block.fills) {
    const change = changeOf(fill, block)
    const before = changes.get(fill.coin)
    if (change) changes.set(fill.coin, before ? joinChanges(before, change) : change)
  }
  return changes
}

/** The wire form of a position. */
export function positionFields({ change, gapAfter }: Known) {
  const { szi, height, time, at } = change
  return {
    side: szi.startsWith('-') ? 'short' : 'long',
    szi,
    lastHeight: height,
    lastTime: time,
    breakHeight: at?.height ?? null,
    breakTime: at?.time ?? null,
    gapAfter,
  } as const
}
