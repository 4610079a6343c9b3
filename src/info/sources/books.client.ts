// Books over the hubs that keep them: a coin is asked of its shard, the tops of all shards together.
// Law: a hub that is away, slow or not seeded is `unavailable`, never an empty answer.

import { shardOf } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { type BookHubApi, HUB_API_VERSION } from '../../protocol/hub/hub-api.ts'
import type { Books } from '../ports.ts'
import { askObject } from './object-call.client.ts'

export interface HubBooksDeps {
  readonly shards: number
  /** A fresh stub of the hub of a shard: one that failed stays broken. */
  readonly hub: (index: number) => Pick<BookHubApi, 'snapshot' | 'tops'>
}

const RETRY_AFTER_MS = 1_000

/** Books of the hubs of one chain. */
export function hubBooks({ shards, hub }: HubBooksDeps): Books {
  return {
    async snapshot(coin, depth) {
      const answer = await askObject(() => hub(shardOf(coin, shards)).snapshot(coin, depth), HUB_API_VERSION)
      if (answer === undefined) return unavailable('The order books')
      if (answer.ok) return ok(answer.snapshot)
      return answer.reason === 'unknown_coin' ? ok(null) : unavailable('The book of this coin')
    },
    async tops() {
      const all = await Promise.all(
        Array.from({ length: shards }, (_, index) => askObject(() => hub(index).tops(), HUB_API_VERSION)),
      )
      const known = all.filter((answer) => answer !== undefined && answer !== null)
      if (known.length < shards) return unavailable('The order books')
      return ok({ height: Math.min(...known.map(({ height }) => height)), tops: known.flatMap(({ tops }) => tops) })
    },
  }
}

function unavailable(what: string): Result<never, Failure> {
  return err({ kind: 'unavailable', what: `${what} cannot be had at the moment`, retryAfterMs: RETRY_AFTER_MS })
}
