// A pipeline tried with one batch of the newest rows that it would send. Invariants: nothing is kept of it but that its rows
// arrived, which are paid for like others as far as they cost more than the test; who cannot pay is sent none; one at a time per
// account, and each ends.

import type { MicroCredits } from '../../core/amount.ts'
import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { TEST_PRICE } from '../../metering/tariff.ts'
import { batchId } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { SinkTest } from '../sink-api.ts'
import type { SqlWait } from '../sql/sql-api.ts'
import type { Assembler, Taken } from './assembling.ts'
import type { Delivery } from './delivery.ts'
import { type Parcel, wordsOfError } from './delivery-state.ts'
import type { Reads } from './reading.client.ts'
import type { Sending } from './sending.client.ts'

/** Longer than nodes, archive and destination are waited for. */
const PATIENCE_MS = 60_000

type Answer = Pick<SinkTest, 'ok' | 'rows' | 'words' | 'waitMs'>

const failed = (words: string): Answer => ({ ok: false, rows: 0, words })
const waits = ({ waitMs, words }: SqlWait): Answer => ({ ...failed(words), waitMs })

interface TryingHost {
  readonly sending: Pick<Sending, 'sent' | 'sql'>
  readonly rowMicro: MicroCredits
  /** Of the pipeline that there is; null: it was deleted, or never told. */
  delivery(): Delivery | null
  /** It has something to tell. */
  wake(): Promise<void>
}

export class Trying {
  readonly #host: TryingHost
  #isUnderWay = false

  constructor(host: TryingHost) {
    this.#host = host
  }

  /** Rows of this pipeline, which may be another one than what runs. Never rejects. */
  async tried(pipeline: Pipeline, reading: Reads): Promise<SinkTest> {
    if (this.#isUnderWay) return { ...failed('another test is under way'), ms: 0, isBusy: true }
    this.#isUnderWay = true
    const begunMs = Date.now()
    const answer = await orReject(this.#inSlot(pipeline, reading, begunMs), PATIENCE_MS, after)
      .catch((error: unknown) => failed(wordsOfError(error)))
      .finally(() => {
        this.#isUnderWay = false
      })
    return { ...answer, ms: Date.now() - begunMs }
  }

  async #inSlot(pipeline: Pipeline, reading: Reads, nowMs: number): Promise<Answer> {
    const { account } = pipeline
    const wait = await this.#host.sending.sql.takeSlot(account)
    if (wait !== null) return waits(wait)
    // A slot that nobody gives back is over by itself.
    return this.#sent(pipeline, reading, nowMs).finally(() =>
      this.#host.sending.sql.freeSlot(account).catch(() => undefined),
    )
  }

  async #sent(pipeline: Pipeline, reading: Reads, nowMs: number): Promise<Answer> {
    const asked = this.#host.delivery()
    if (!asked) return failed('what runs this pipeline was not told of it: send this again')
    const payer = { hash: pipeline.payer, name: pipeline.payer_name }
    const unpaid = await asked.refusal(payer)
    if (unpaid !== null) return failed(unpaid)
    const reader = { ...pipeline, id: `${pipeline.id}:test` }
    const head = await reading.head(reader)
    const open = (height: number) =>
      reading.assembler(reader, { place: { height }, epoch: null, timeMs: 0, fold: null }, ALL_KNOWN)
    const parcel = head && (await newestRows(head.height, open, nowMs))
    if (!parcel) return failed('there are no rows in the newest blocks to test it with')
    const id = `${batchId(pipeline.id, parcel.from, parcel.to)}:test-${nowMs}`
    const beyondPrice = (rows: number) => Math.max(0, rows - Math.floor(TEST_PRICE / this.#host.rowMicro))
    const affords = async (rows: number) =>
      beyondPrice(rows) === 0 || (await asked.refusal(payer, beyondPrice(rows))) === null
    const sent = await this.#host.sending.sent(pipeline, parcel, id, affords, 'test')
    if (!sent.ok && sent.unpaidRows !== undefined) return failed(sent.words)
    if (!sent.ok && sent.isUntried) return waits({ words: sent.words, waitMs: sent.retryAfterMs ?? 0 })
    if (!sent.ok) return failed(sent.words)
    const delivery = this.#host.delivery()
    delivery?.arrived(beyondPrice(sent.countedRows), pipeline.payer)
    // Also where nothing runs, and nobody waits for this any more.
    if (delivery) await this.#host.wake()
    return { ok: true, rows: parcel.rows.length, words: 'confirmed' }
  }
}

/** So many blocks are looked at, and those before them where they have no row: none twice. */
const BLOCKS = [100, 2_000, 20_000] as const
const ROWS = 100
/** Of all that is read. */
const READ_MS = 10_000
const CHARS = 8 * 1024 * 1024
/** It sends what there is of order statuses, and says of nothing that it was not asked for. */
const ALL_KNOWN = { to: Number.POSITIVE_INFINITY, ordersFrom: 0 } as const

/** Null: the newest blocks have none. */
export async function newestRows(
  head: number,
  open: (height: number) => Pick<Assembler, 'take'>,
  nowMs: number,
): Promise<Parcel | null> {
  const most = { rows: Number.POSITIVE_INFINITY, chars: CHARS, blocks: Math.max(...BLOCKS), untilMs: nowMs + READ_MS }
  let to = head
  for (const blocks of BLOCKS) {
    const from = Math.max(0, head - blocks + 1)
    const taken = to < from ? null : await open(from).take({ height: to }, null, most)
    to = from - 1
    const parcel = taken && lastOf(taken)
    if (parcel) return parcel
  }
  return null
}

function lastOf({ from, to, rows, texts }: Taken): Parcel | null {
  const last = rows
    .map((row, at) => ({ row, text: texts[at] ?? '' }))
    .filter(({ row }) => row._kind === 'row')
    .slice(-ROWS)
  if (last.length === 0) return null
  return { from, to, rows: last.map(({ row }) => row), texts: last.map(({ text }) => text) }
}
