// Which books of one connection go on by themselves. Frames do not say which body they are of: a Snapshot may be another's,
// whose changes do not all come to this one. Law: as many Snapshots of a coin as bodies wait for means one for each.

/** Books of one body. */
export interface Seeding {
  covers(coin: string): boolean
}

export class Seedings {
  static readonly #all = new WeakMap<object, Seedings>()
  /** Those that are live, each with the coins of which its own Snapshot came. */
  readonly #seeded = new Map<Seeding, Set<string>>()
  /** Of coins for which several wait, how many Snapshots came. */
  readonly #came = new Map<string, number>()
  #last: object | null = null

  static of(connection: object): Seedings {
    const known = Seedings.#all.get(connection) ?? new Seedings()
    Seedings.#all.set(connection, known)
    return known
  }

  began(one: Seeding): void {
    this.#seeded.set(one, new Set())
  }

  /** What came may have been for this one. */
  ended(one: Seeding): void {
    const seeded = this.#seeded.get(one)
    this.#seeded.delete(one)
    for (const [coin, came] of this.#came) {
      if (!seeded || seeded.has(coin) || !one.covers(coin)) continue
      if (came > 1) this.#came.set(coin, came - 1)
      else this.#came.delete(coin)
    }
  }

  /** A Snapshot came, which each of those who hear it tells. */
  came(coin: string, snapshot: object): void {
    if (snapshot === this.#last) return
    this.#last = snapshot
    const waiting = [...this.#seeded].filter(([one, seeded]) => !seeded.has(coin) && one.covers(coin))
    const came = (this.#came.get(coin) ?? 0) + 1
    if (came < waiting.length) {
      this.#came.set(coin, came)
      return
    }
    this.#came.delete(coin)
    for (const [, seeded] of waiting) seeded.add(coin)
  }

  /** Its own Snapshot came, or a change that can be no other's. */
  isOwn(one: Seeding, coin: string, isChange: boolean): boolean {
    const seeded = this.#seeded.get(one)
    if (!isChange || !seeded || seeded.has(coin)) return seeded?.has(coin) ?? false
    for (const other of this.#seeded.keys()) if (other !== one && other.covers(coin)) return false
    seeded.add(coin)
    return true
  }
}
