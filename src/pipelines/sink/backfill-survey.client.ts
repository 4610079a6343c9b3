// Finds the heights of a backfill, and estimates its rows from samples. Invariants: nothing is sent or stored; an account
// runs one survey, test or preview at a time; blocks, bytes and time are bounded.

import { orReject } from '../../core/deadline.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { after } from '../../core/timers.client.ts'
import { estimateRows, type HeightRange, planBackfill, samplesOf } from '../backfill.ts'
import { FatalPipelineError, type Pipeline } from '../pipeline.ts'
import { SINK_API_VERSION, type SinkSurvey, type SurveyRequest } from '../sink-api.ts'
import type { Assembler } from './batch-assembler.ts'
import type { BatchSender } from './batch-sender.client.ts'
import { billedRowCount, errorMessage } from './delivery-state.ts'
import type { PipelineReader } from './pipeline-readers.client.ts'
import { lastRows, openAt } from './pipeline-tester.client.ts'
import { desiredStateOf } from './sink-record.client.ts'
import { endOf, type StartPosition, startOf } from './source.ts'

const TIMEOUT_MS = 40_000
/** Limits of the samples together. */
const MAX_READ_MS = 10_000
const MAX_CHARS = 4 * 1024 * 1024
/** Rows of a sample that are transformed. */
const MAX_ROWS = 20_000
const RETRY_MS = 2_000
/** Expected time to send a batch. */
const BATCH_MS = 500
/** Maximum blocks of a batch. */
const BATCH_BLOCKS = 20_000

type Survey = Omit<SinkSurvey, 'v'>
const NOTHING: Survey = { range: null, estimate: null, fault: null }
const faultAt = (path: string, message: string): Survey => ({ ...NOTHING, fault: { path, message } })
const waiting = (waitMs: number, words: string): Survey => ({ ...NOTHING, wait: { waitMs, words } })

/** Never rejects. */
export async function surveyOf(
  request: SurveyRequest,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'sql' | 'transform'>,
): Promise<SinkSurvey> {
  const survey = await orReject(inSlot(request, reading, sender), TIMEOUT_MS, after).catch((error: unknown) => {
    const [, path, message] = (error instanceof FatalPipelineError && /^([\w.]+): (.*)$/s.exec(error.message)) || []
    if (path && message) return faultAt(path, message)
    return waiting(RETRY_MS, `The blocks could not be read: ${errorMessage(error)}`)
  })
  return { v: SINK_API_VERSION, ...survey }
}

async function inSlot(
  request: SurveyRequest,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'sql' | 'transform'>,
): Promise<Survey> {
  const { account } = request.pipeline
  const wait = await sender.sql.acquireSlot(account)
  if (wait !== null) return waiting(wait.waitMs, wait.words)
  // A slot that is never released expires.
  return survey(request, reading, sender).finally(() => sender.sql.releaseSlot(account).catch(() => undefined))
}

async function survey(
  { pipeline, from, to, delivered, isAgain, isSampled }: SurveyRequest,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'transform'>,
): Promise<Survey> {
  const head = await reading.head(pipeline)
  if (head === null) return waiting(RETRY_MS, 'The log has no blocks yet')
  const start = await firstHeightOf(pipeline, reading, startOf(from === '' ? 'earliest' : from))
  if (start === null) return faultAt('from', `is after the newest block, ${head.height}`)
  const end = await lastHeightOf(pipeline, reading, to)
  const requested = { from: start, to: Math.min(head.height, end ?? head.height) }
  const plan = planBackfill(requested, delivered, isAgain)
  if (!plan.ok) return faultAt('from', plan.error)
  const range = plan.value
  if (!isSampled) return { ...NOTHING, range }
  const estimate = await sampled(pipeline, range, reading, sender)
  return estimate.ok ? { ...NOTHING, range, estimate: estimate.value } : estimate.error
}

/** Of a time, the first block at or after it. Null: there is none yet. */
async function firstHeightOf(
  pipeline: Pipeline,
  reading: PipelineReader,
  place: StartPosition | 'now',
): Promise<number | null> {
  if (place === 'now') return null
  if ('height' in place) return place.height
  const taken = await openAtPlace(pipeline, reading, place).take(null, null, limitsOf(1, Date.now() + MAX_READ_MS))
  return taken?.from ?? null
}

/** Of a time, the last block at or before it, which precedes the first one after it. Null: the newest block. */
async function lastHeightOf(pipeline: Pipeline, reading: PipelineReader, to: string): Promise<number | null> {
  const end = endOf({ execution_mode: 'bounded', execution_stop_from: to })
  if (end === 'now' || end === null) return null
  if ('height' in end) return end.height
  const next = await firstHeightOf(pipeline, reading, { timeMs: end.timeMs + 1 })
  return next === null ? null : next - 1
}

function openAtPlace(pipeline: Pipeline, reading: PipelineReader, place: StartPosition): Assembler {
  return reading.assembler(pipeline, { place, epoch: null, timeMs: 0, fold: null }, null)
}

const limitsOf = (blocks: number, untilMs: number) => ({
  rows: Number.POSITIVE_INFINITY,
  chars: MAX_CHARS,
  blocks,
  untilMs,
})

async function sampled(
  pipeline: Pipeline,
  range: HeightRange,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'transform'>,
): Promise<Result<NonNullable<Survey['estimate']>, Survey>> {
  const begunMs = Date.now()
  const open = openAt(pipeline, reading)
  const samples: { blocks: number; rows: number }[] = []
  for (const { from, to } of samplesOf(range)) {
    const untilMs = begunMs + MAX_READ_MS
    if (samples.length > 0 && Date.now() >= untilMs) break
    const taken = await open(from).take({ height: to }, null, limitsOf(to - from + 1, untilMs))
    if (taken === null || taken.to < from) continue
    const found = lastRows(taken, MAX_ROWS)
    const isTransformed = found !== null && Object.keys(pipeline.transforms).length > 0
    const made = isTransformed ? await sender.transform(pipeline, found, 'estimate', 'test') : found
    if (made && 'ok' in made)
      return err(
        made.issue
          ? faultAt(made.issue.path, made.issue.message)
          : waiting(made.retryAfterMs ?? RETRY_MS, made.message),
      )
    samples.push({ blocks: taken.to - from + 1, rows: made === null ? 0 : billedRowCount(made.texts) })
  }
  const blocks = range.to - range.from + 1
  const rows = estimateRows(samples, blocks)
  if (rows === null) return err(waiting(RETRY_MS, 'The blocks of the range could not be read in time'))
  const read = samples.reduce((sum, sample) => sum + sample.blocks, 0)
  const readMs = ((Date.now() - begunMs) * blocks) / read
  const batches = Math.ceil(Math.max(1, rows.rows / desiredStateOf(pipeline).maxRows, blocks / BATCH_BLOCKS))
  return ok({ ...rows, ms: Math.round(readMs + batches * BATCH_MS) })
}
