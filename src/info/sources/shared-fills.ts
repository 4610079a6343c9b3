// Shares the log's fills of a coin between requests at nearly the same time: candles of any interval need the same
// fills, and reading them loads the log. Only finished reads are shared, because an unfinished read may end with its
// request. Invariant: entries that are too old are removed on the next call.

import type { FillHistory } from '../../archive/funding-spans.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { History } from '../ports.ts'

/** How long a read is shared, in addition to the second for which a response may be cached. */
const SHARED_MS = 500
/** Maximum number of coins; a few minutes of a busy coin take 1 to 2 MB. */
const MAX_COINS = 8

interface SharedFills {
  readonly atMs: number
  readonly downTo: number
  readonly held: FillHistory
}

const isShared = (readMs: number, nowMs: number) => nowMs >= readMs && nowMs - readMs < SHARED_MS

/** Scopes other than coins are not shared. */
export function sharedFills(history: Pick<History, 'stored'>, now: () => number): Pick<History, 'stored'> {
  const coins = new BoundedMap<string, SharedFills>(MAX_COINS)
  return {
    async stored(scope, kind, downTo = -1) {
      if (scope.by !== 'coin' || kind === 'ledger') return history.stored(scope, kind, downTo)
      const atMs = now()
      for (const [coin, { atMs: readMs }] of coins.entries()) if (!isShared(readMs, atMs)) coins.delete(coin)
      const known = coins.get(scope.coin)
      if (known !== undefined && known.downTo <= downTo) return { ok: true, value: known.held }
      const read = await history.stored(scope, kind, downTo)
      if (read.ok) coins.set(scope.coin, { atMs, downTo, held: read.value })
      return read
    },
  }
}
