// USDC traded: per wallet for ever, and per wallet and day of the last two weeks.

interface DayVolume {
  /** As a taker and as a maker. */
  cross: bigint
  add: bigint
}

const DAYS = 15

/** `YYYY-MM-DD` in UTC. */
function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

class Days {
  readonly #days = new Map<string, DayVolume>()

  add(day: string, ntl: bigint, crossed: boolean): void {
    const volume = this.#days.get(day) ?? { cross: 0n, add: 0n }
    if (crossed) volume.cross += ntl
    else volume.add += ntl
    this.#days.set(day, volume)
    if (this.#days.size > DAYS) this.#days.delete(this.#days.keys().next().value!)
  }

  of(day: string): DayVolume {
    return this.#days.get(day) ?? { cross: 0n, add: 0n }
  }

  names(): string[] {
    return [...this.#days.keys()]
  }
}

export class Volumes {
  readonly #all = new Days()
  readonly #users = new Map<string, { days: Days; total: bigint }>()
  #day = ''
  #dayEndMs = 0

  /** One side of a trade; times never fall. */
  fill(user: string, timeMs: number, ntl: bigint, crossed: boolean): void {
    if (timeMs >= this.#dayEndMs) {
      this.#day = dayOf(timeMs)
      this.#dayEndMs = Date.parse(this.#day) + 86_400_000
    }
    const mine = this.#users.get(user) ?? { days: new Days(), total: 0n }
    mine.total += ntl
    mine.days.add(this.#day, ntl, crossed)
    this.#users.set(user, mine)
    this.#all.add(this.#day, ntl, crossed)
  }

  total(user: string): bigint {
    return this.#users.get(user)?.total ?? 0n
  }

  /** Newest day first; `exchange` counts every trade once. */
  days(user: string): { readonly date: string; readonly user: DayVolume; readonly exchange: bigint }[] {
    const mine = this.#users.get(user)?.days ?? new Days()
    return this.#all
      .names()
      .toReversed()
      .map((date) => ({ date, user: mine.of(date), exchange: this.#all.of(date).cross }))
  }
}
