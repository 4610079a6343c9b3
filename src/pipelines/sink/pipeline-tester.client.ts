// Tests a pipeline with one batch of the newest rows. Invariants: a test leaves no trace except its billing: delivered
// rows are billed as far as they cost more than the test; nothing is sent if no credits are left; an account
// runs one test at a time, and every test ends.

import type { MicroCredits } from '../../core/amount.ts'
import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { TEST_PRICE } from '../../metering/tariff.ts'
import { batchId } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkTest } from '../sink-api.ts'
import type { SqlWait } from '../sql/sql-api.ts'
import type { AssembledBatch, Assembler } from './batch-assembler.ts'
import type { BatchSender } from './batch-sender.client.ts'
import type { Delivery } from './delivery.ts'
import { type BatchRows, errorMessage } from './delivery-state.ts'
import type { PipelineReader } from './pipeline-readers.client.ts'

/** Longer than the timeouts of nodes, archive and destination. */
const TEST_TIMEOUT_MS = 60_000

type TestOutcome = Pick<SinkTest, 'ok' | 'rows' | 'words' | 'waitMs'>

const failure = (words: string): TestOutcome => ({ ok: false, rows: 0, words })
const waiting = ({ waitMs, words }: SqlWait): TestOutcome => ({ ...failure(words), waitMs })

interface TesterHost {
  readonly sender: Pick<BatchSender, 'send' | 'sql'>
  readonly rowMicro: MicroCredits
  /** Delivery of the stored pipeline; null if it was deleted or never applied. */
  delivery(): Delivery | null
  /** Asks the Sink to report billing. */
  wake(): Promise<void>
}

export class PipelineTester {
  readonly #host: TesterHost
  #isRunning = false

  constructor(host: TesterHost) {
    this.#host = host
  }

  /** Tests this pipeline, which may differ from the running one. Never rejects. */
  async run(pipeline: Pipeline, reading: PipelineReader): Promise<SinkTest> {
    if (this.#isRunning) return { ...failure('Another test is already running'), ms: 0, isBusy: true }
    this.#isRunning = true
    const begunMs = Date.now()
    const answer = await orReject(this.#inSlot(pipeline, reading, begunMs), TEST_TIMEOUT_MS, after)
      .catch((error: unknown) => failure(errorMessage(error)))
      .finally(() => {
        this.#isRunning = false
      })
    return { ...answer, ms: Date.now() - begunMs }
  }

  async #inSlot(pipeline: Pipeline, reading: PipelineReader, nowMs: number): Promise<TestOutcome> {
    const { account } = pipeline
    const wait = await this.#host.sender.sql.acquireSlot(account)
    if (wait !== null) return waiting(wait)
    // A slot that is never released expires.
    return this.#send(pipeline, reading, nowMs).finally(() =>
      this.#host.sender.sql.releaseSlot(account).catch(() => undefined),
    )
  }

  async #send(pipeline: Pipeline, reading: PipelineReader, nowMs: number): Promise<TestOutcome> {
    const atStart = this.#host.delivery()
    if (!atStart) return failure('The pipeline is not ready yet. Try again')
    const payer = { hash: pipeline.payer, name: pipeline.payer_name }
    const unpaid = await atStart.refusal(payer)
    if (unpaid !== null) return failure(unpaid)
    const reader = { ...pipeline, id: `${pipeline.id}:test` }
    const head = await reading.head(reader)
    const parcel = head && (await newestRows(head.height, openAt(reader, reading), nowMs))
    if (!parcel) return failure('The newest blocks contain no rows to test with')
    const id = `${batchId(pipeline.id, parcel)}:test-${nowMs}`
    const beyondPrice = (rows: number) => Math.max(0, rows - Math.floor(TEST_PRICE / this.#host.rowMicro))
    const affords = async (rows: number) =>
      beyondPrice(rows) === 0 || (await atStart.refusal(payer, beyondPrice(rows))) === null
    const sent = await this.#host.sender.send(pipeline, parcel, id, affords, 'test')
    if (!sent.ok && sent.unpaidRows !== undefined) return failure(sent.message)
    if (!sent.ok && sent.isNotAttempted) return waiting({ words: sent.message, waitMs: sent.retryAfterMs ?? 0 })
    if (!sent.ok) return failure(sent.message)
    const delivery = this.#host.delivery()
    delivery?.chargeRows(beyondPrice(sent.billedRows), pipeline.payer)
    // This also runs if the test has timed out or the pipeline is paused.
    if (delivery) await this.#host.wake()
    return { ok: true, rows: parcel.rows.length, words: 'confirmed' }
  }
}

/** How many of the newest blocks to search. The search widens until a row is found and reads no block twice. */
const BLOCK_WINDOWS = [100, 2_000, 20_000] as const
const MAX_ROWS = 100
/** Limits of the search. */
const MAX_READ_MS = 10_000
const MAX_CHARS = 8 * 1024 * 1024
/** A test sends the order statuses that are available, without gap rows. */
const ALL_ORDERS_KNOWN = { to: Number.POSITIVE_INFINITY, ordersFrom: 0 } as const

/** Opens a reader without a past at any height. */
export const openAt = (pipeline: Pipeline, reading: Pick<PipelineReader, 'assembler'>) => (height: number) =>
  reading.assembler(pipeline, { place: { height }, epoch: null, timeMs: 0, fold: null }, ALL_ORDERS_KNOWN)

/** Null: the newest blocks contain no rows. */
export async function newestRows(
  head: number,
  open: (height: number) => Pick<Assembler, 'take'>,
  nowMs: number,
): Promise<BatchRows | null> {
  for await (const taken of newestBatches(head, open, nowMs)) {
    const parcel = lastRows(taken, MAX_ROWS)
    if (parcel) return parcel
  }
  return null
}

/** The newest blocks, in batches from new to old. */
export async function* newestBatches(
  head: number,
  open: (height: number) => Pick<Assembler, 'take'>,
  nowMs: number,
): AsyncGenerator<AssembledBatch> {
  const most = {
    rows: Number.POSITIVE_INFINITY,
    chars: MAX_CHARS,
    blocks: Math.max(...BLOCK_WINDOWS),
    untilMs: nowMs + MAX_READ_MS,
  }
  let to = head
  for (const blocks of BLOCK_WINDOWS) {
    const from = Math.max(0, head - blocks + 1)
    const taken = to < from ? null : await open(from).take({ height: to }, null, most)
    to = from - 1
    if (taken) yield taken
  }
}

/** The last rows of a batch, without gaps and resets; null: it has none. */
export function lastRows({ from, to, rows, texts }: AssembledBatch, most: number): BatchRows | null {
  const last = rows
    .map((row, at) => ({ row, text: texts[at] ?? '' }))
    .filter(({ row }) => row._kind === 'row')
    .slice(-most)
  if (last.length === 0) return null
  return { from, to, rows: last.map(({ row }) => row), texts: last.map(({ text }) => text) }
}
