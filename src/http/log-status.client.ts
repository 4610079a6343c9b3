// Reads the log's status: from the data center's cache, or else from the object that asks the log.

import type { AnswerStore } from '../info/answer/answer-tiers.ts'
import type { DatedLogStatus, StatusCacheApi } from '../protocol/feed/log-api.ts'

/** The shortest time that the Cache API supports. */
const MAX_AGE_S = 1

export function logStatusReader(
  cache: AnswerStore,
  object: () => Pick<StatusCacheApi, 'status'>,
): () => Promise<DatedLogStatus> {
  return async () => {
    const cached = await cache.get('/status').catch(() => null)
    if (cached !== null) return JSON.parse(cached) as DatedLogStatus
    const status = await object().status()
    await cache.put('/status', JSON.stringify(status), MAX_AGE_S).catch(() => undefined)
    return status
  }
}
