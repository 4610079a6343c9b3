// A receiver of batches that is slow, and loses answers: what it was told, once by its key.

import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../../kit/http-server.ts'
import type { Found } from './destinations.ts'

interface Hook {
  readonly url: string
  /** The next so many requests fail. */
  fail(count: number): void
  /** Rows of a pipeline, in the order in which they first came. */
  rows(pipeline: string): Found[]
  /** Batches, those that came again, and answers that were lost. */
  counts(): Record<string, number>
  close(): void
}

/** So long an answer takes at most: kills strike between what it has taken and what is known of it. */
const SLOW_MS = 400

interface Sent {
  readonly id: string
  readonly pipeline: string
  readonly rows: readonly Found[]
}

/** Takes everything; every tenth answer is lost, after it has taken the batch. */
export async function startWebhook(draw: () => number): Promise<Hook> {
  const rows = new Map<string, Map<string, Found>>()
  const ids = new Set<string>()
  let failing = 0
  let repeats = 0
  let lost = 0
  const server = await startServer(async (request, response) => {
    const body = await text(request).catch(() => null)
    // Killed as it sent.
    if (body === null) return
    if (failing > 0 && failing--) return response.writeHead(503, { 'retry-after': '0' }).end()
    const batch = JSON.parse(body) as Sent
    if (ids.has(batch.id)) repeats++
    ids.add(batch.id)
    const known = rows.get(batch.pipeline) ?? new Map<string, Found>()
    rows.set(batch.pipeline, known)
    for (const row of batch.rows) if (!known.has(row._key)) known.set(row._key, row)
    await sleep(draw() * SLOW_MS)
    if (draw() < 0.1) {
      lost++
      return request.socket.destroy()
    }
    response.end('ok')
  })
  return {
    url: `${server.url}/`,
    fail: (count) => {
      failing = count
    },
    rows: (pipeline) => [...(rows.get(pipeline)?.values() ?? [])],
    counts: () => ({ batches: ids.size, repeats, lost }),
    close: server.close,
  }
}
