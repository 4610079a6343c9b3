// Reads order books from the hubs: a coin from its shard, best prices from all shards. Invariant: a hub that is
// unreachable, slow or not seeded yields `unavailable`, never an empty result.

import { shardOf } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { type BookHubApi, HUB_API_VERSION } from '../../protocol/hub/hub-api.ts'
import type { Books } from '../ports.ts'
import { askObject } from './object-call.client.ts'

export interface HubBooksDeps {
  readonly shards: number
  /** A new stub of a shard's hub, because a failed stub stays broken. */
  readonly hub: (index: number) => Pick<BookHubApi, 'snapshot' | 'tops'>
}

const RETRY_AFTER_MS = 1_000

/** Order books of one chain. */
export function hubBooks({ shards, hub }: HubBooksDeps): Books {
  return {
    async snapshot(coin, depth) {
      const answer = await askObject(() => hub(shardOf(coin, shards)).snapshot(coin, depth), HUB_API_VERSION)
      if (answer === undefined) return unavailable('The order books are')
      if (answer.ok) return ok(answer.snapshot)
      return answer.reason === 'unknown_coin' ? ok(null) : unavailable('The order book of this coin is')
    },
    async tops() {
      const all = await Promise.all(
        Array.from({ length: shards }, (_, index) => askObject(() => hub(index).tops(), HUB_API_VERSION)),
      )
      const known = all.filter((answer) => answer !== undefined && answer !== null)
      if (known.length < shards) return unavailable('The order books are')
      return ok({ height: Math.min(...known.map(({ height }) => height)), tops: known.flatMap(({ tops }) => tops) })
    },
  }
}

function unavailable(what: string): Result<never, Failure> {
  return err({ kind: 'unavailable', what: `${what} temporarily unavailable`, retryAfterMs: RETRY_AFTER_MS })
}
