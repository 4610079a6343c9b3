// The names of all coins, for refusals of one that does not exist. Laws: however many requests ask, the names are
// read once in ten seconds, a refusal waits for them no longer than a second, and few refusals a second are compared
// with them: that takes milliseconds, refused requests are free, and others share the object.

import { type Coin, dexOf } from './coin.ts'
import { type After, orFallback } from './deadline.ts'
import { nearestCoin } from './nearest.ts'
import { SingleFlight } from './single-flight.ts'
import { fullBucket, oneSecondBurst, takeTokens } from './token-bucket.ts'

const CACHE_MS = 10_000
const WAIT_MS = 1_000
const COMPARISONS = oneSecondBurst(20)

export interface CoinNamesDeps {
  /** As many names as can be had now. */
  readonly read: () => Promise<readonly string[]>
  readonly nowMs: () => number
  readonly after: After
}

export class CoinNames {
  readonly #deps: CoinNamesDeps
  readonly #fetch = new SingleFlight<readonly string[]>(WAIT_MS)
  #names: readonly string[] = []
  #fetchedMs = Number.NEGATIVE_INFINITY
  #comparisons = fullBucket(COMPARISONS, 0)

  constructor(deps: CoinNamesDeps) {
    this.#deps = deps
  }

  /** True where the coin was there when the names were read; one that is not may be new. */
  async has(coin: Coin): Promise<boolean> {
    return (await this.#currentNames()).includes(coin)
  }

  /** The DEXes of all coins, `''` being the main one; none where nobody can say. */
  async dexes(): Promise<readonly string[]> {
    return [...new Set((await this.#currentNames()).map(dexOf))]
  }

  /** The coin that was probably meant; undefined where none is near, or it exists, or nobody can say now. */
  async nearest(coin: Coin): Promise<string | undefined> {
    const { bucket, taken } = takeTokens(this.#comparisons, COMPARISONS, 1, this.#deps.nowMs())
    this.#comparisons = bucket
    if (taken === 0) return undefined
    const names = await this.#currentNames()
    return names.includes(coin) ? undefined : nearestCoin(coin, names)
  }

  #currentNames(): Promise<readonly string[]> | readonly string[] {
    const { read, nowMs, after } = this.#deps
    const now = nowMs()
    let flight = this.#fetch.current(now)
    if (flight === null && now - this.#fetchedMs < CACHE_MS) return this.#names
    if (flight === null) {
      this.#fetchedMs = now
      flight = this.#fetch.start(async () => {
        // Names that cannot be read now may be older: coins hardly ever go.
        this.#names = await read().catch(() => this.#names)
        return this.#names
      }, now)
    }
    return orFallback(flight, WAIT_MS, this.#names, after)
  }
}
