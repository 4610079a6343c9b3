// Names that several ask for, such as wallets whose order statuses are wanted. Law: once changes are taken, what was told
// is what somebody asks for, up to a bound; what is beyond it is told when there is room.

import { WANTED_A_FRAME } from '../protocol/feed/protocol.ts'

/** Users whose order statuses, and coins of which all rows, a reader wants. */
export interface Wanted {
  readonly orders: ReadonlySet<unknown>
  readonly l4: ReadonlySet<unknown>
}

/** Disjoint. */
interface NamesChange {
  readonly add: readonly string[]
  readonly drop: readonly string[]
}

export class WantedNames {
  readonly #most: number
  /** How many ask for a name. */
  readonly #askers = new Map<string, number>()
  readonly #told = new Set<string>()
  /** Names that may differ from what was told. */
  readonly #open = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  get told(): ReadonlySet<string> {
    return this.#told
  }

  /** Somebody asks for names that he did not ask for before. */
  ask(names: Iterable<string>): void {
    for (const name of names) {
      this.#askers.set(name, (this.#askers.get(name) ?? 0) + 1)
      this.#open.add(name)
    }
  }

  /** Somebody no longer asks for names that he asked for. */
  letGo(names: Iterable<string>): void {
    for (const name of names) {
      const left = (this.#askers.get(name) ?? 0) - 1
      if (left > 0) this.#askers.set(name, left)
      else this.#askers.delete(name)
      this.#open.add(name)
    }
  }

  /** What is to be told now, and then counts as told; null where nothing is. */
  take(): NamesChange | null {
    const drop = [...this.#open].filter((name) => this.#told.has(name) && !this.#askers.has(name))
    for (const name of drop) this.#told.delete(name)
    const missing = [...this.#open].filter((name) => this.#askers.has(name) && !this.#told.has(name))
    const add = missing.splice(0, this.#most - this.#told.size)
    for (const name of add) this.#told.add(name)
    this.#open.clear()
    for (const name of missing) this.#open.add(name)
    return add.length + drop.length > 0 ? { add, drop } : null
  }
}

const NO_CHANGE: NamesChange = { add: [], drop: [] }

interface WantChange {
  readonly orders: NamesChange | null | undefined
  /** So few that they fit one part. */
  readonly l4: NamesChange | null | undefined
}

/** A change in parts that fit frames, at least one. `isWhole`: nothing else is wanted, as the first part says. */
export function* wantParts({ orders, l4 }: WantChange, isWhole: boolean) {
  const { add, drop } = orders ?? NO_CHANGE
  const coins = l4 ?? NO_CHANGE
  for (let at = 0; at === 0 || at < Math.max(add.length, drop.length); at += WANTED_A_FRAME) {
    const part = (names: readonly string[]) => names.slice(at, at + WANTED_A_FRAME)
    const first = at === 0 && {
      ...(isWhole && { whole: true as const }),
      ...(coins.add.length + coins.drop.length > 0 && { l4: { add: [...coins.add], drop: [...coins.drop] } }),
    }
    yield { ...first, orders: { add: part(add), drop: part(drop) } }
  }
}
