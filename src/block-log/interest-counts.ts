// Names that several ask for, such as wallets whose order statuses are wanted. Law: once changes are taken, what was told
// is what somebody asks for, up to a bound; what is beyond it is told when there is room.

import { WALLETS_PER_FRAME } from '../protocol/feed/protocol.ts'

/** Users whose order statuses, and coins of which all rows, a reader wants. */
export interface Interests {
  readonly orders: ReadonlySet<unknown>
  readonly l4: ReadonlySet<unknown>
}

/** Disjoint. */
interface NamesChange {
  readonly add: readonly string[]
  readonly drop: readonly string[]
}

export class InterestCounts {
  readonly #max: number
  /** How many ask for a name. */
  readonly #counts = new Map<string, number>()
  readonly #sent = new Set<string>()
  /** Names that may differ from what was told. */
  readonly #changed = new Set<string>()

  constructor(most: number) {
    this.#max = most
  }

  get sent(): ReadonlySet<string> {
    return this.#sent
  }

  /** Somebody asks for names that he did not ask for before. */
  add(names: Iterable<string>): void {
    for (const name of names) {
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
      this.#changed.add(name)
    }
  }

  /** Somebody no longer asks for names that he asked for. */
  remove(names: Iterable<string>): void {
    for (const name of names) {
      const left = (this.#counts.get(name) ?? 0) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
      this.#changed.add(name)
    }
  }

  /** What is to be told now, and then counts as told; null where nothing is. */
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
  /** So few that they fit one part. */
  readonly l4: NamesChange | null | undefined
}

/** A change in parts that fit frames, at least one. `isWhole`: nothing else is wanted, as the first part says. */
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
