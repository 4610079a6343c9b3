// The names of all coins, for rejecting unknown names with a suggestion. Invariants: names are fetched at most once
// per ten seconds; a rejection waits at most a second for the names; the number of comparisons per second is limited,
// because a comparison takes milliseconds and rejected requests are free.

import { type Coin, dexOf } from './coin.ts'
import { type After, orFallback } from './deadline.ts'
import { nearestCoin } from './nearest.ts'
import { SingleFlight } from './single-flight.ts'
import { fullBucket, oneSecondBurst, takeTokens } from './token-bucket.ts'

const CACHE_MS = 10_000
const WAIT_MS = 1_000
const COMPARISONS = oneSecondBurst(20)

export interface CoinNamesDeps {
  /** Reads all names that are available now. */
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

  /** Whether the coin existed when the names were fetched. A coin that is not in the list may be new. */
  async has(coin: Coin): Promise<boolean> {
    return (await this.#currentNames()).includes(coin)
  }

  /** The DEXes of all coins. `''` is the main DEX. Empty if the names are unavailable. */
  async dexes(): Promise<readonly string[]> {
    return [...new Set((await this.#currentNames()).map(dexOf))]
  }

  /**
   * The closest coin name. Undefined if the coin exists, if no name is close, if the names are unavailable, or if too
   * many names were compared within this second.
   */
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
        // After a failure, keep the previous names, because coins are rarely removed.
        this.#names = await read().catch(() => this.#names)
        return this.#names
      }, now)
    }
    return orFallback(flight, WAIT_MS, this.#names, after)
  }
}
