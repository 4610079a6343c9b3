// Counts the readers that are interested in each name, for example in a wallet whose order statuses they want.
// Invariant: after takeChange(), the sent names are names that at least one reader wants, up to a limit. The other
// wanted names are sent when there is room.

import { WALLETS_PER_FRAME } from '../protocol/feed/protocol.ts'

/** Users whose order statuses a reader wants, and coins whose order rows it wants. */
export interface Interests {
  readonly orders: ReadonlySet<unknown>
  readonly l4: ReadonlySet<unknown>
}

/** Names to add and names to drop. No name is in both lists. */
interface NamesChange {
  readonly add: readonly string[]
  readonly drop: readonly string[]
}

export class InterestCounts {
  readonly #max: number
  /** Number of interested readers by name. */
  readonly #counts = new Map<string, number>()
  readonly #sent = new Set<string>()
  /** Names whose state may differ from what was sent. */
  readonly #changed = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  get sent(): ReadonlySet<string> {
    return this.#sent
  }

  /** Adds a reader's interest in these names. The reader must not be interested in them yet. */
  add(names: Iterable<string>): void {
    for (const name of names) {
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
      this.#changed.add(name)
    }
  }

  /** Removes a reader's interest in these names. */
  remove(names: Iterable<string>): void {
    for (const name of names) {
      const remaining = (this.#counts.get(name) ?? 0) - 1
      if (remaining > 0) this.#counts.set(name, remaining)
      else this.#counts.delete(name)
      this.#changed.add(name)
    }
  }

  /** Returns the change to send now, and marks it as sent. Null if nothing changed. */
  takeChange(): NamesChange | null {
    const drop = [...this.#changed].filter((name) => this.#sent.has(name) && !this.#counts.has(name))
    for (const name of drop) this.#sent.delete(name)
    const missing = [...this.#changed].filter((name) => this.#counts.has(name) && !this.#sent.has(name))
    const add = missing.splice(0, this.#max - this.#sent.size)
    for (const name of add) this.#sent.add(name)
    this.#changed.clear()
    for (const name of missing) this.#changed.add(name)
    return add.length + drop.length > 0 ? { add, drop } : null
  }
}

const NO_CHANGE: NamesChange = { add: [], drop: [] }

interface InterestChange {
  readonly orders: NamesChange | null | undefined
  /** A change of coins; there are few enough for one part. */
  readonly l4: NamesChange | null | undefined
}

/**
 * Splits a change into one or more parts that fit into frames. `isWhole`: the first part replaces everything that was
 * sent earlier.
 */
export function* wantFrameParts({ orders, l4 }: InterestChange, isWhole: boolean) {
  const { add, drop } = orders ?? NO_CHANGE
  const coins = l4 ?? NO_CHANGE
  for (let at = 0; at === 0 || at < Math.max(add.length, drop.length); at += WALLETS_PER_FRAME) {
    const part = (names: readonly string[]) => names.slice(at, at + WALLETS_PER_FRAME)
    const first = at === 0 && {
      ...(isWhole && { whole: true as const }),
      ...(coins.add.length + coins.drop.length > 0 && { l4: { add: [...coins.add], drop: [...coins.drop] } }),
    }
    yield { ...first, orders: { add: part(add), drop: part(drop) } }
  }
}
