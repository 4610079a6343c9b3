// Compares blocks of a source with the archived blocks around them, so that a source of a different chain or with wrong
// rows is refused. Invariants: blocks that agree with the archive are never refused; the reason names a height.

import { marketTypeOf } from '../../core/coin.ts'
import { pairs } from '../../core/pairs.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { UserFill } from '../../protocol/feed/block.ts'
import { amountsOf, FILL_CHARS } from '../fill-amounts.ts'

/** Block times may decrease slightly. */
const TIME_TOLERANCE_MS = MINUTE_MS
/** The exchange itself has up to 0.8 % of fills that do not start at the position after the previous fill. */
const BREAKS_TOLERATED = 1
const CHECKS_PER_BREAK = 50

type TimedBlock = Pick<CheckedBlock, 'height' | 'time'>

export interface CheckedBlock {
  readonly height: number
  readonly time: number
  readonly fills: readonly UserFill[]
}

/** The fields of an archive line that are compared. The others may be large, and many blocks are compared at once. */
export function checkedBlock(events: string): CheckedBlock {
  const { height, time, fills } = JSON.parse(events) as CheckedBlock
  return { height, time, fills }
}

/**
 * Why `blocks` contradict the archive; null if they do not. The lists are in height order. `archived`: the blocks next
 * to the missing heights, and any others. `around`: times of further archived blocks, some below and above `blocks`. Yields
 * the sizes of its steps.
 */
export function* contradictionOf(
  blocks: readonly CheckedBlock[],
  archived: readonly CheckedBlock[],
  around: readonly TimedBlock[] = [],
): Generator<number, string | null> {
  const known = new Map(archived.map((block) => [block.height, block]))
  const missing = blocks.filter(({ height }) => !known.has(height))
  for (const block of blocks) {
    const own = known.get(block.height)
    const difference = own ? differenceOf(block, own) : null
    if (difference) return `block ${block.height} differs from the archived block: ${difference}`
  }
  const byHeight = (a: TimedBlock, b: TimedBlock) => a.height - b.height
  const all = [...archived, ...missing].sort(byHeight)
  const added = new Set<TimedBlock>(missing)
  const early = pairs([...all, ...around].sort(byHeight)).find(
    ([one, next]) => (added.has(one) || added.has(next)) && next.time < one.time - TIME_TOLERANCE_MS,
  )
  if (early)
    return `block ${early[1].height} has the time ${early[1].time}, but block ${early[0].height} has ${early[0].time}`
  return yield* positionBreaks(all, added)
}

function differenceOf(block: CheckedBlock, own: CheckedBlock): string | null {
  if (block.time !== own.time) return `its time is ${block.time} instead of ${own.time}`
  if (block.fills.length !== own.fills.length)
    return `it has ${block.fills.length} fills instead of ${own.fills.length}`
  const at = block.fills.findIndex((fill, index) => identityOf(fill) !== identityOf(own.fills[index] as UserFill))
  return at < 0 ? null : `fill ${at} is not the same`
}

const identityOf = ([user, { coin, side, px, sz, oid, tid }]: UserFill) =>
  [user, coin, side, px, sz, oid, tid].join(' ')

/** Compares the position before each fill with the position after the wallet's previous fill of the coin. */
function* positionBreaks(
  blocks: readonly CheckedBlock[],
  added: ReadonlySet<TimedBlock>,
): Generator<number, string | null> {
  const positions = new Map<string, { readonly end: string; readonly isAdded: boolean }>()
  const breaks: string[] = []
  let checks = 0
  for (const [at, block] of blocks.entries()) {
    // A missing height may have fills that explain a difference.
    if (blocks[at - 1]?.height !== block.height - 1) positions.clear()
    const isAdded = added.has(block)
    yield block.fills.length * FILL_CHARS
    for (const [user, fill] of block.fills) {
      const amounts = marketTypeOf(fill.coin) === 'perp' ? amountsOf(fill) : null
      if (amounts === null) continue
      const key = `${user} ${fill.coin}`
      const before = positions.get(key)
      const start = amounts.start.toFixed()
      positions.set(key, { end: amounts.end.toFixed(), isAdded })
      if (before === undefined || !(before.isAdded || isAdded)) continue
      checks++
      if (before.end !== start)
        breaks.push(`${fill.coin} of ${user} starts at ${start} in block ${block.height} instead of ${before.end}`)
    }
  }
  if (breaks.length <= BREAKS_TOLERATED + Math.floor(checks / CHECKS_PER_BREAK)) return null
  return `${breaks.length} of ${checks} positions do not continue: ${breaks[0]}`
}
