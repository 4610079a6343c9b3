// What a delivery needs of the world, as its Sink has it. Law: what is asked after the pipeline was deleted comes to nothing.

import type { MicroCredits } from '../../core/amount.ts'
import { orReject } from '../../core/deadline.ts'
import { meterOf } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import { visible } from '../../core/visible.ts'
import type { PipelineAnswer } from '../../metering/pipeline-report.ts'
import { batchId } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import type { DeliveryPorts } from './delivery-state.ts'
import { wordsOfError } from './delivery-state.ts'
import { type Bill, billOf } from './owed.ts'
import type { Reads } from './reading.client.ts'
import type { Sending } from './sending.client.ts'
import type { SinkStore } from './sink.store.ts'
import type { SinkRecord } from './sink-record.client.ts'
import { endOf, startOf } from './source.ts'

/** A batch that takes longer to be read is read anew. */
const READ_MS = 60_000
/** More than any destination takes, or the bucket. */
const SEND_MS = 120_000
const METER_MS = 5_000

interface SinkWays {
  readonly storage: Pick<DurableObjectStorage, 'sync'>
  readonly env: Cloudflare.Env
  /** The price of a row; 0: it is free. */
  readonly rowMicro: MicroCredits
  readonly record: SinkRecord
  readonly sending: Sending
  readonly store: SinkStore
  readonly readingOf: (pipeline: Pipeline) => Reads
  readonly lagMs: () => number | null
}

export function portsOf({ storage, env, rowMicro, record, sending, store, readingOf, lagMs }: SinkWays): DeliveryPorts {
  const isThere = () => record.kept !== null
  const pipeline = (): Pipeline => {
    if (record.kept === null) throw new Error('the pipeline is deleted')
    return record.kept
  }
  const reading = () => readingOf(pipeline())
  return {
    nowMs: Date.now,
    random: Math.random,
    rowMicro,
    // Neither a meter nor a bucket knows what might be forgotten here.
    payer: () => ({ hash: pipeline().payer, name: pipeline().payer_name }),
    settle: (sums, by, hold) => storage.sync().then(() => settle(env, billOf(pipeline(), sums, by, hold))),
    removeLetter: (key) => storage.sync().then(() => sending.letters(pipeline().id)?.remove(key)),
    begin: async () => {
      const place = startOf(pipeline().execution_start_from)
      const begins = place === 'now' ? await reading().newest(pipeline()) : place
      return begins && { place: begins, epoch: null, timeMs: 0, fold: null }
    },
    end: async () => {
      const end = endOf(pipeline())
      if (end !== 'now') return end
      const head = await reading().head(pipeline())
      return head ? { height: head.height } : 'undecided'
    },
    assembler: (at, flight) => {
      const own = reading().assembler(pipeline(), at, flight)
      return {
        take: (...asked) => orReject(own.take(...asked), READ_MS, after),
        get retryMs() {
          return own.retryMs
        },
        get ordersFrom() {
          return own.ordersFrom
        },
      }
    },
    ready: async () => {
      const { transforms } = await record.opened()
      if (Object.keys(transforms).length > 0) await sending.sql.ready()
    },
    send: async (parcel, affords) => {
      try {
        const opened = await record.opened()
        // Its range must outlive whatever happens from here on.
        await storage.sync()
        const sent = sending.sent(opened, parcel, batchId(opened.id, parcel.from, parcel.to), affords)
        return await orReject(sent, SEND_MS, after)
      } catch (error) {
        return { ok: false, words: wordsOfError(error) }
      }
    },
    bury: async (parcel) => {
      const letters = sending.letters(pipeline().id)
      if (!letters) throw new Error('there is no bucket for dead letters here: the operator has set up no archive')
      await storage.sync()
      await letters.put(parcel)
    },
    unbury: async (behind, affords) =>
      orReject(sending.unburied(await record.opened(), behind, affords), SEND_MS, after),
    save: (state) => {
      if (isThere()) store.state = state
    },
    log: (level, words, batch) => {
      if (isThere()) store.log(Date.now(), level, visible(words), batch && batchId(pipeline().id, batch.from, batch.to))
    },
    count: (what) => {
      if (isThere()) store.count(Date.now(), what, lagMs())
    },
  }
}

/** Rejects where no answer comes, whether or not the bill arrived: it may be sent again. */
export function settle(env: Cloudflare.Env, { account, report }: Bill): Promise<PipelineAnswer> {
  // An object that was restarted refuses the first call only.
  const send = () => meterOf(env, account).settlePipeline(report)
  return orReject(send().catch(send), METER_MS, after)
}
