// Stores undeliverable batches in the operator's bucket until they are sent again. Invariant: a dead letter contains
// the rows as they were before transforms, so that corrected transforms apply to it.

import { padded } from '../../archive/archive/archive-keys.ts'
import { pack, unpack } from '../../archive/archive/gzip-lines.client.ts'
import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { BatchRange } from '../destinations/batch.ts'
import type { Row } from '../topics/topic.ts'
import type { BatchRows } from './delivery-state.ts'

const TIMEOUT_MS = 30_000
const PAGE = 1_000
const MAX_COUNTED = 10_000

export class DeadLetters {
  readonly #bucket: R2Bucket
  readonly #prefix: string

  constructor(bucket: R2Bucket, pipeline: string) {
    this.#bucket = bucket
    this.#prefix = `pipelines/dead/${pipeline}/`
  }

  async put({ texts, rows: _, ...range }: BatchRows): Promise<void> {
    const { from, to, repair } = range
    const { body } = await pack([JSON.stringify({ v: 1, ...range }), ...texts])
    const kind = repair === undefined ? '' : `-repair-${repair}`
    const key = `${this.#prefix}${padded(from)}-${padded(to)}${kind}.ndjson.gz`
    await orReject(this.#bucket.put(key, body), TIMEOUT_MS, after)
  }

  /** Key of the oldest dead letter, or of the first after `after`; null if there is none. */
  async next(after: string | null): Promise<string | null> {
    const startAfter = after ?? this.#prefix
    const { objects } = await this.#bucket.list({ prefix: this.#prefix, limit: 1, startAfter })
    return objects[0]?.key ?? null
  }

  async read(key: string): Promise<BatchRows> {
    const object = await this.#bucket.get(key)
    if (!object) throw new Error('The dead letter no longer exists')
    const [head = '', ...texts] = await Array.fromAsync(unpack(new Uint8Array(await object.arrayBuffer())))
    const { v: _, ...range } = JSON.parse(head) as BatchRange & { v: number }
    return { ...range, texts, rows: texts.map((text) => JSON.parse(text) as Row) }
  }

  async remove(key: string): Promise<void> {
    await this.#bucket.delete(key)
  }

  async count(): Promise<number> {
    let count = 0
    for (let cursor: string | undefined, isMore = true; isMore && count < MAX_COUNTED; ) {
      const page = await this.#bucket.list({
        prefix: this.#prefix,
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      })
      count += page.objects.length
      isMore = page.truncated
      cursor = page.truncated ? page.cursor : undefined
    }
    return count
  }

  async clear(): Promise<void> {
    for (;;) {
      const { objects, truncated } = await this.#bucket.list({ prefix: this.#prefix, limit: PAGE })
      if (objects.length > 0) await this.#bucket.delete(objects.map(({ key }) => key))
      if (!truncated) return
    }
  }
}
