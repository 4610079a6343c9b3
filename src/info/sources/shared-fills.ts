// Fills of a coin that the log holds, for all who ask for them at nearly the same time: candles of any interval and window want
// the same ones, and reading them costs the log a part of what it reads for everyone. What was read is shared, never a reading
// under way, which may end with the request that began it. Law: what is too old to be shared goes with the next question.

import type { FillHistory } from '../../archive/funding-spans.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { History } from '../ports.ts'

/** Beside the second that an answer may be kept. */
const SHARED_MS = 500
/** Some minutes of a busy coin are a megabyte or two. */
const COINS_MOST = 8

interface SharedFills {
  readonly atMs: number
  readonly downTo: number
  readonly held: FillHistory
}

const isShared = (readMs: number, nowMs: number) => nowMs >= readMs && nowMs - readMs < SHARED_MS

/** Others than coins are asked for as before. */
export function sharedFills(history: Pick<History, 'stored'>, now: () => number): Pick<History, 'stored'> {
  const coins = new BoundedMap<string, SharedFills>(COINS_MOST)
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
