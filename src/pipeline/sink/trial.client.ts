// One batch to a destination that is to be tried. Laws: nothing is kept of it but that its rows arrived, which are paid for like
// others; who cannot pay is sent none.

import { batchId } from '../batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkTest } from '../sink-api.ts'
import type { Delivery } from './delivery.ts'
import { wordsOfError } from './error-words.ts'
import type { Reads } from './reading.client.ts'
import type { Sending } from './sending.client.ts'
import { ALL_KNOWN, newestRows } from './trial.ts'

interface TrialWays {
  readonly reading: Reads
  readonly sending: Sending
  /** Of the pipeline that there is; null: it was deleted, or never told. */
  readonly delivery: () => Delivery | null
}

type Answer = Pick<SinkTest, 'ok' | 'rows' | 'words'>

const failed = (words: string): Answer => ({ ok: false, rows: 0, words })

/** Rows of this pipeline, which may be another one than what runs. Never rejects. */
export async function tried(pipeline: Pipeline, ways: TrialWays): Promise<Omit<SinkTest, 'v'>> {
  const begunMs = Date.now()
  const answer = await trial(pipeline, ways, begunMs).catch((error: unknown) => failed(wordsOfError(error)))
  return { ...answer, ms: Date.now() - begunMs }
}

async function trial(pipeline: Pipeline, { reading, sending, delivery }: TrialWays, begunMs: number): Promise<Answer> {
  const paying = delivery()?.paying
  if (!paying) return failed('what runs this pipeline was not told of it: send this again')
  const unpaid = await paying.refusal()
  if (unpaid !== null) return failed(unpaid)
  const reader = { ...pipeline, id: `${pipeline.id}:test` }
  const head = await reading.head(reader)
  const open = (height: number) =>
    reading.assembler(reader, { place: { height }, epoch: null, timeMs: 0, fold: null }, ALL_KNOWN)
  const parcel = head && (await newestRows(head.height, open, begunMs))
  if (!parcel) return failed('there are no rows in the newest blocks to test it with')
  const id = `${batchId(pipeline.id, parcel.from, parcel.to)}:test-${begunMs}`
  const sent = await sending.sent(pipeline, parcel, id)
  if (!sent.ok) return failed(sent.words)
  delivery()?.arrived(sent.countedRows)
  return { ok: true, rows: parcel.rows.length, words: 'confirmed' }
}
