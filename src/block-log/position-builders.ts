// Through which builder each open position was last traded: a liquidation has no builder of its own, and is told to that one.
// Laws: of a wallet and a perp the last fill that is no liquidation decides; a slice of a TWAP order has no builder, nor has
// a position that was closed; after blocks that nobody has, nothing is known rather than guessed.

import { BoundedMap } from '../core/bounded-map.ts'
import { marketTypeOf } from '../core/coin.ts'
import { DECIMAL, toScaled } from '../core/decimal.ts'
import { hash32 } from '../core/hash.ts'
import type { Address, Fill, UserFill } from '../protocol/feed/block.ts'
import type { BuilderFill } from '../protocol/feed/log-api.ts'

/** They are stored by parts, a part at a time. */
const PARTS = 64
/** Positions of one part, of which each takes about 200 bytes; the oldest are forgotten. */
const MAX_PER_PART = 1_024
const BUILDER_LENGTH = '0x'.length + 40

export class PositionBuilders {
  /** By wallet and coin: both, and the builder. */
  readonly #parts = Array.from({ length: PARTS }, () => new BoundedMap<string, string>(MAX_PER_PART))
  /** Parts that have changed since they were taken to be stored, the first to change first. */
  readonly #changed = new Set<number>()

  /** `stored`: the text of a part, as `takeChanged` gave it. */
  constructor(stored: (part: number) => string | undefined) {
    for (const [part, positions] of this.#parts.entries())
      for (const line of stored(part)?.match(/.+/g) ?? []) positions.set(line.slice(0, -BUILDER_LENGTH), line)
  }

  /** Takes the fills of the next block, and tells which of them are liquidations to be told to a builder. */
  apply(fills: readonly UserFill[]): BuilderFill[] {
    return fills.flatMap(([user, fill], index): BuilderFill[] => {
      if (marketTypeOf(fill.coin) !== 'perp') return []
      const part = hash32(user) % PARTS
      const positions = this.#parts[part]
      if (!positions) return []
      const key = `${user} ${fill.coin} `
      const before = positions.get(key)
      const isLiquidated = isLiquidationOf(user, fill)
      if (!isLiquidated && typeof fill.builder === 'string' && typeof fill.twapId !== 'number')
        positions.set(key, key + fill.builder)
      else if (!isLiquidated) positions.delete(key)
      if (positions.has(key) && closesPosition(fill)) positions.delete(key)
      if (positions.get(key) !== before) this.#changed.add(part)
      return isLiquidated && before !== undefined ? [[index, before.slice(-BUILDER_LENGTH)]] : []
    })
  }

  /** The part that has waited longest to be stored; undefined where nothing has changed. */
  takeChanged(): { readonly part: number; readonly text: string } | undefined {
    const [part] = this.#changed
    if (part === undefined) return undefined
    this.#changed.delete(part)
    return { part, text: [...(this.#parts[part]?.values() ?? [])].join('\n') }
  }

  /** Fills were missed: what is known may not be so any more. */
  forget(): void {
    for (const [part, positions] of this.#parts.entries()) {
      if (positions.size > 0) this.#changed.add(part)
      while (positions.size > 0) positions.dropOldest()
    }
  }
}

/** The counterparty's fill says of whom it is a liquidation, too. */
function isLiquidationOf(user: Address, { liquidation }: Fill): boolean {
  if (!liquidation) return false
  const { liquidatedUser = user } = liquidation as { liquidatedUser?: unknown }
  return liquidatedUser === user
}

function closesPosition({ startPosition, side, sz }: Fill): boolean {
  if (!DECIMAL.test(startPosition) || !DECIMAL.test(sz)) return false
  return toScaled(startPosition) === (side === 'B' ? -toScaled(sz) : toScaled(sz))
}
