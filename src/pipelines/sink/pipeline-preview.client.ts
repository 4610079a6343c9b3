// Shows the newest rows of a pipeline as its filter and transforms leave them. Invariants: nothing is sent or stored; an
// account runs one test or preview at a time; blocks, rows, time and the size of the answer are bounded.

import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { FatalPipelineError, type Pipeline } from '../pipeline.ts'
import { type CheckRequest, SINK_API_VERSION, type SinkCheck, type SinkPreview } from '../sink-api.ts'
import { TOPIC_COLUMNS } from '../topics/catalogue.ts'
import type { BatchSender } from './batch-sender.client.ts'
import { type BatchRows, errorMessage } from './delivery-state.ts'
import type { PipelineReader } from './pipeline-readers.client.ts'
import { lastRows, newestBatches, openAt } from './pipeline-tester.client.ts'

const ROWS = 10
/** Maximum rows that are transformed at once. */
const MAX_ROWS = 5_000
/** Maximum size of the rows in an answer; one row may exceed it. */
const MAX_CHARS = 262_144
/** Longer than the timeouts of nodes, archive and SQL. */
const TIMEOUT_MS = 40_000
const RETRY_MS = 2_000

type Preview = Omit<SinkPreview, 'v'>
const NOTHING: Preview = { texts: [], read: 0, blocks: null, fault: null }
const waiting = (waitMs: number, words: string): Preview => ({ ...NOTHING, wait: { waitMs, words } })

/** Checks transforms without rows. */
export async function checkOf(
  { account, transforms, topic }: CheckRequest,
  sql: Pick<BatchSender['sql'], 'run'>,
): Promise<SinkCheck> {
  const table = { name: topic, columns: TOPIC_COLUMNS.get(topic) ?? [] }
  const caller = { account, pipeline: '', kind: 'check' } as const
  const answer = await sql.run(caller, { transforms, table, defaults: null }, [])
  const fault = answer.kind === 'fault' ? answer : null
  return { v: SINK_API_VERSION, fault, ...(answer.kind === 'wait' && { wait: answer }) }
}

/** Never rejects. */
export async function previewOf(
  pipeline: Pipeline,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'sql' | 'transform'>,
): Promise<SinkPreview> {
  const shown = await orReject(inSlot(pipeline, reading, sender), TIMEOUT_MS, after).catch((error: unknown) => {
    const [, path, message] = (error instanceof FatalPipelineError && /^([\w.]+): (.*)$/s.exec(error.message)) || []
    if (path && message) return { ...NOTHING, fault: { path, message } }
    return waiting(RETRY_MS, `The newest rows could not be read: ${errorMessage(error)}`)
  })
  return { v: SINK_API_VERSION, ...shown }
}

async function inSlot(
  pipeline: Pipeline,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'sql' | 'transform'>,
): Promise<Preview> {
  const { account } = pipeline
  const wait = await sender.sql.acquireSlot(account)
  if (wait !== null) return waiting(wait.waitMs, wait.words)
  // A slot that is never released expires.
  return newest(pipeline, reading, sender).finally(() => sender.sql.releaseSlot(account).catch(() => undefined))
}

async function newest(
  pipeline: Pipeline,
  reading: PipelineReader,
  sender: Pick<BatchSender, 'transform'>,
): Promise<Preview> {
  const head = await reading.head(pipeline)
  let shown = NOTHING
  if (head === null) return shown
  for await (const taken of newestBatches(head.height, openAt(pipeline, reading), Date.now())) {
    const found = lastRows(taken, MAX_ROWS)
    const blocks = { from: taken.from, to: shown.blocks?.to ?? taken.to }
    const hasSql = Object.keys(pipeline.transforms).length > 0
    const made = found && hasSql ? await transformed(pipeline, found, sender) : { texts: found?.texts ?? [] }
    if ('blocks' in made) return made
    const texts = [...made.texts, ...shown.texts].slice(-ROWS)
    shown = { ...shown, texts: bounded(texts), read: shown.read + (found?.rows.length ?? 0), blocks }
    if (shown.texts.length < texts.length || texts.length === ROWS) break
  }
  return shown
}

async function transformed(
  pipeline: Pipeline,
  found: BatchRows,
  sender: Pick<BatchSender, 'transform'>,
): Promise<Preview | Pick<BatchRows, 'rows' | 'texts'>> {
  const made = await sender.transform(pipeline, found, 'preview', 'test')
  if (!('ok' in made)) return made
  if (made.issue) return { ...NOTHING, fault: made.issue }
  return waiting(made.retryAfterMs ?? RETRY_MS, made.message)
}

/** The newest rows that fit; at least one. */
function bounded(texts: readonly string[]): readonly string[] {
  let chars = 0
  const from = texts.findLastIndex(({ length }) => {
    chars += length
    return chars > MAX_CHARS
  })
  return texts.slice(Math.min(from + 1, texts.length - 1))
}
