// A pipeline tried with one batch of the newest rows, of which nothing is kept. Law: one at a time, and each ends.

import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { visible } from '../../core/visible.ts'
import { batchId, type Outcome } from '../batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkTest } from '../sink-api.ts'
import type { Reads } from './reading.client.ts'
import type { Sending } from './sending.client.ts'
import { ALL_KNOWN, newestRows } from './trial.ts'

/** Longer than nodes, archive and destination are waited for. */
const PATIENCE_MS = 60_000
const WORDS_MOST = 300

export class Trying {
  readonly #sending: Pick<Sending, 'sent'>
  #isUnderWay = false

  constructor(sending: Pick<Sending, 'sent'>) {
    this.#sending = sending
  }

  async tried(pipeline: Pipeline, reading: Reads): Promise<SinkTest> {
    if (this.#isUnderWay) return { ok: false, rows: 0, ms: 0, words: 'another test is under way', isBusy: true }
    this.#isUnderWay = true
    const begunMs = Date.now()
    const failed = (error: unknown) => ({ ok: false, words: wordsOfError(error), rows: 0 }) as const
    const { rows, ...outcome } = await orReject(this.#sent(pipeline, reading, begunMs), PATIENCE_MS, after)
      .catch(failed)
      .finally(() => {
        this.#isUnderWay = false
      })
    const words = outcome.ok ? `${rows} rows arrived` : outcome.words
    return { ok: outcome.ok, rows, ms: Date.now() - begunMs, words }
  }

  async #sent(pipeline: Pipeline, reading: Reads, nowMs: number): Promise<Outcome & { readonly rows: number }> {
    const reader = { ...pipeline, id: `${pipeline.id}:test` }
    const head = await reading.head(reader)
    const open = (height: number) =>
      reading.assembler(reader, { place: { height }, epoch: null, timeMs: 0, fold: null }, ALL_KNOWN)
    const parcel = head && (await newestRows(head.height, open, nowMs))
    if (!parcel) return { ok: false, words: 'there are no rows in the newest blocks to test it with', rows: 0 }
    const id = `${batchId(pipeline.id, parcel.from, parcel.to)}:test-${nowMs}`
    return { ...(await this.#sending.sent(pipeline, parcel, id)), rows: parcel.rows.length }
  }
}

export function wordsOfError(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error)).slice(0, WORDS_MOST)
}
