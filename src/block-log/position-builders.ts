// Remembers the builder through which each open position was last traded. A liquidation has no builder of its own and
// is attributed to that builder. Invariants: for each wallet and perp, the last fill that is not a liquidation decides;
// TWAP slices and closed positions have no builder; after missing blocks, nothing is guessed.

import { BoundedMap } from '../core/bounded-map.ts'
import { marketTypeOf } from '../core/coin.ts'
import { DECIMAL, toScaled } from '../core/decimal.ts'
import { hash32 } from '../core/hash.ts'
import type { Address, Fill, UserFill } from '../protocol/feed/block.ts'
import type { BuilderFill } from '../protocol/feed/log-api.ts'

/** Number of parts. Only one part is stored at a time. */
const PARTS = 64
/** Maximum positions per part, at about 200 bytes each. The oldest are dropped. */
const MAX_PER_PART = 1_024
const BUILDER_LENGTH = '0x'.length + 40

export class PositionBuilders {
  /** For each part, its positions by `wallet coin `. A value is the stored line: `wallet coin builder`. */
  readonly #parts = Array.from({ length: PARTS }, () => new BoundedMap<string, string>(MAX_PER_PART))
  /** Parts that changed since they were last stored. The part that has waited longest comes first. */
  readonly #changed = new Set<number>()

  /** `stored`: returns the stored string of a part, which came from `takeChanged`. */
  constructor(stored: (part: number) => string | undefined) {
    for (const [part, positions] of this.#parts.entries())
      for (const line of stored(part)?.match(/.+/g) ?? []) positions.set(line.slice(0, -BUILDER_LENGTH), line)
  }

  /** Applies the fills of the next block. Returns the builder of each liquidation, with the fill's index. */
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

  /** Returns the part that has waited longest to be stored; undefined if nothing has changed. */
  takeChanged(): { readonly part: number; readonly text: string } | undefined {
    const [part] = this.#changed
    if (part === undefined) return undefined
    this.#changed.delete(part)
    return { part, text: [...(this.#parts[part]?.values() ?? [])].join('\n') }
  }

  /** Forgets everything, because fills were missed. */
  forget(): void {
    for (const [part, positions] of this.#parts.entries()) {
      if (positions.size > 0) this.#changed.add(part)
      while (positions.size > 0) positions.dropOldest()
    }
  }
}

/** Whether a fill is the user's own side of a liquidation. The counterparty's fill also names the liquidated user. */
function isLiquidationOf(user: Address, { liquidation }: Fill): boolean {
  if (!liquidation) return false
  const { liquidatedUser = user } = liquidation as { liquidatedUser?: unknown }
  return liquidatedUser === user
}

function closesPosition({ startPosition, side, sz }: Fill): boolean {
  if (!DECIMAL.test(startPosition) || !DECIMAL.test(sz)) return false
  return toScaled(startPosition) === (side === 'B' ? -toScaled(sz) : toScaled(sz))
}
