// Sink: one per pipeline. It lends delivery.ts what that needs of the world; an alarm is its only engine, which re-arms first
// and catches everything; what it is told comes over RPC. Invariants: nothing of one pipeline waits for another; what is asked
// after the pipeline was deleted comes to nothing.

import { DurableObject } from 'cloudflare:workers'
import { archiveOf } from '../../archive/archive/archive.store.ts'
import { orFallback, orReject } from '../../core/deadline.ts'
import { gatewayOf, meterOf, Objects } from '../../core/objects.client.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { after } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import { visible } from '../../core/visible.ts'
import type { PipelineResponse } from '../../metering/pipeline-report.ts'
import { batchId } from '../destinations/batch.ts'
import type { Pipeline } from '../pipeline.ts'
import { type CheckRequest, SINK_API_VERSION, type SinkApi, type SinkCheck, type SinkStatus } from '../sink-api.ts'
import { TOPIC_COLUMNS } from '../topics/catalogue.ts'
import { Delivery } from './delivery.ts'
import {
  type Bill,
  billOf,
  type DeliveryPorts,
  lastBills,
  NOTHING_DELIVERED,
  NOTHING_OWED,
  wordsOfError,
} from './delivery-state.ts'
import { EvmReading, Reading, type Reads, STAY_MS } from './reading.client.ts'
import { Sending } from './sending.client.ts'
import { SinkStore } from './sink.store.ts'
import { changesOf, orderOf, SinkRecord, wordsOf } from './sink-record.client.ts'
import { SinkSettings } from './sink-settings.ts'
import { endOf, startOf } from './source.ts'
import { Trying } from './trying.client.ts'

/** A turn that ends without a word, such as with its machine, is begun again after this time. */
const GUARD_MS = 15_000
/** Turns are made one after the other within one alarm for so long. */
const ALARM_MS = 10_000
const PATIENCE_MS = 2_000
/** So long a deleted pipeline is remembered: what it was told of before may come late. */
const DROPPED_MS = 3_600_000
/** A meter that did not answer is told again. */
const TELL_AGAIN_MS = 60_000
const LINES_MOST = 500
/** A batch that takes longer to be read is read anew. */
const READ_MS = 60_000
/** More than any destination takes, or the bucket. */
const SEND_MS = 120_000
const METER_MS = 5_000

export class Sink extends DurableObject<Cloudflare.Env> implements SinkApi {
  readonly #settings: SinkSettings
  readonly #reading: Reading
  readonly #evm: EvmReading
  readonly #sending: Sending
  readonly #trying: Trying
  #store: SinkStore
  readonly #record: SinkRecord
  #delivery: Delivery | null = null
  /** Ends a wait between two turns. */
  #poke: () => void = () => undefined

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#settings = readVariables(SinkSettings, env)
    this.#reading = new Reading(new Objects(env, this.#settings), archiveOf(env, this.#settings.CHAIN))
    this.#evm = new EvmReading(this.#settings.RPC_CHAINS, (work) => ctx.waitUntil(work))
    this.#sending = new Sending(this.#settings, env)
    this.#trying = new Trying({
      sending: this.#sending,
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      delivery: () => this.#delivery,
      wake: () => this.#wake(),
    })
    this.#store = new SinkStore(ctx.storage)
    this.#record = new SinkRecord(this.#store.pipeline, async (...asked) => gatewayOf(env).openSecret(...asked))
    if (!this.#pipeline) return
    this.#open(this.#pipeline)
    // Whoever looks at one that ended amid its work wakes it.
    this.ctx.waitUntil(this.ctx.storage.setAlarm(Date.now()))
  }

  get #pipeline(): Pipeline | null {
    return this.#record.kept
  }

  #readingOf({ topic }: Pipeline): Reads {
    return topic === 'evm_logs' ? this.#evm : this.#reading
  }

  #open(pipeline: Pipeline): Delivery {
    this.#delivery = new Delivery(this.#ports(), this.#store.state ?? NOTHING_DELIVERED, orderOf(pipeline))
    return this.#delivery
  }

  get #kept(): Pipeline {
    if (this.#record.kept === null) throw new Error('the pipeline is deleted')
    return this.#record.kept
  }

  #ports(): DeliveryPorts {
    const { storage } = this.ctx
    const reading = () => this.#readingOf(this.#kept)
    const isThere = () => this.#record.kept !== null
    return {
      nowMs: Date.now,
      random: Math.random,
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      payer: () => ({ hash: this.#kept.payer, name: this.#kept.payer_name }),
      // Neither a meter nor a bucket knows what might be forgotten here.
      settle: (sums, by, hold) => storage.sync().then(() => settle(this.env, billOf(this.#kept, sums, by, hold))),
      removeLetter: (key) => storage.sync().then(() => this.#sending.letters(this.#kept.id)?.remove(key)),
      begin: async () => {
        const place = startOf(this.#kept.execution_start_from)
        const begins = place === 'now' ? await reading().newest(this.#kept) : place
        return begins && { place: begins, epoch: null, timeMs: 0, fold: null }
      },
      end: async () => {
        const end = endOf(this.#kept)
        if (end !== 'now') return end
        const head = await reading().head(this.#kept)
        return head ? { height: head.height } : 'undecided'
      },
      assembler: (at, flight) => {
        const own = reading().assembler(this.#kept, at, flight)
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
        const { transforms } = await this.#record.opened()
        if (Object.keys(transforms).length > 0) await this.#sending.sql.ready()
      },
      send: async (parcel, affords) => {
        try {
          const opened = await this.#record.opened()
          // Its range must outlive whatever happens from here on.
          await storage.sync()
          const sent = this.#sending.sent(opened, parcel, batchId(opened.id, parcel.from, parcel.to), affords)
          return await orReject(sent, SEND_MS, after)
        } catch (error) {
          return { ok: false, words: wordsOfError(error) }
        }
      },
      bury: async (parcel) => {
        const letters = this.#sending.letters(this.#kept.id)
        if (!letters) throw new Error('there is no bucket for dead letters here: the operator has set up no archive')
        await storage.sync()
        await letters.put(parcel)
      },
      unbury: async (behind, affords) =>
        orReject(this.#sending.unburied(await this.#record.opened(), behind, affords), SEND_MS, after),
      save: (state) => {
        if (isThere()) this.#store.state = state
      },
      log: (level, words, batch) => {
        if (!isThere()) return
        this.#store.log(Date.now(), level, visible(words), batch && batchId(this.#kept.id, batch.from, batch.to))
      },
      count: (what) => {
        if (isThere()) this.#store.count(Date.now(), what, this.#lagMs())
      },
    }
  }

  async apply({ pipeline, sealed }: Parameters<SinkApi['apply']>[0]): Promise<SinkStatus> {
    const before = this.#record.kept
    // Of one that is deleted nothing is new.
    const isKnown = before !== null && pipeline.revision <= before.revision
    if (isKnown || this.#store.dropped !== null) return this.status()
    const kept = this.#record.take(pipeline, sealed)
    this.#store.pipeline = kept
    const delivery = this.#delivery ?? this.#open(pipeline)
    if (before && before.payer !== kept.payer) delivery.handOver(before.payer)
    const changes = before ? changesOf(before, kept) : []
    for (const change of changes.length > 0 ? changes : (['none'] as const)) delivery.ordered(orderOf(pipeline), change)
    this.#store.log(Date.now(), 'info', wordsOf(pipeline, changes), null)
    await this.#wake()
    return this.status()
  }

  async status(): Promise<SinkStatus> {
    const head = this.#pipeline && (await this.#headOf(this.#pipeline))
    const { confirmed, flight, owed, ...sums } = this.#delivery?.state ?? NOTHING_DELIVERED
    const isBehind = head !== null && confirmed !== null && head.height >= confirmed.height
    const lagMs = isBehind ? Math.max(0, head.time - confirmed.time) : null
    const { rows, bytes, batches, deadLetters, lastError, lastIncident } = sums
    return {
      v: SINK_API_VERSION,
      phase: this.#delivery?.phase(lagMs) ?? 'idle',
      height: confirmed?.height ?? null,
      timeMs: confirmed?.time ?? null,
      lagBlocks: isBehind ? head.height - confirmed.height : null,
      lagMs,
      rows,
      bytes,
      batches,
      deadLetters,
      lastError,
      lastIncident,
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      attempts: flight?.attempts ?? 0,
      nextTryMs: flight?.nextTryMs || null,
      pauseReason: this.#pipeline?.status === 'running' ? (owed.ended?.words ?? null) : null,
    }
  }

  async #headOf(pipeline: Pipeline) {
    const reading = this.#readingOf(pipeline)
    return orFallback(reading.head(pipeline), PATIENCE_MS, reading.knownHead, after).catch(() => null)
  }

  async logs({ before, limit }: Parameters<SinkApi['logs']>[0]): ReturnType<SinkApi['logs']> {
    return { v: SINK_API_VERSION, lines: this.#store.lines(before, Math.min(limit, LINES_MOST)) }
  }

  async metrics({ minutes }: Parameters<SinkApi['metrics']>[0]): ReturnType<SinkApi['metrics']> {
    return { v: SINK_API_VERSION, minutes: this.#store.minutes(Date.now() - minutes * MINUTE_MS) }
  }

  async trial({ pipeline }: Parameters<SinkApi['trial']>[0]): ReturnType<SinkApi['trial']> {
    return this.#trying.tried(pipeline, this.#readingOf(pipeline))
  }

  async check({ account, transforms, topic }: CheckRequest): Promise<SinkCheck> {
    const table = { name: topic, columns: TOPIC_COLUMNS.get(topic) ?? [] }
    const caller = { account, pipeline: '', kind: 'check' } as const
    const answer = await this.#sending.sql.run(caller, { transforms, table, defaults: null }, [])
    const fault = answer.kind === 'fault' ? answer : null
    return { v: SINK_API_VERSION, fault, ...(answer.kind === 'wait' && { wait: answer }) }
  }

  async redeliver(): ReturnType<SinkApi['redeliver']> {
    const batches = (await this.#sending.letters(this.#pipeline?.id ?? '')?.count()) ?? 0
    if (batches > 0) {
      this.#delivery?.redeliver()
      await this.#wake()
    }
    return { v: SINK_API_VERSION, batches }
  }

  async drop(): Promise<void> {
    const { storage, id } = this.ctx
    const pipeline = (id.name ?? '').split('/').at(-1) ?? ''
    const owed = this.#delivery?.state.owed ?? NOTHING_OWED
    const bills = this.#pipeline ? lastBills(this.#pipeline, owed) : this.#store.bills
    this.#delivery = null
    this.#record.kept = null
    this.#poke()
    this.#store.drop(pipeline, bills)
    await storage.setAlarm(Date.now() + (bills.length > 0 ? 0 : DROPPED_MS))
    await this.#sending.letters(pipeline)?.clear()
  }

  /** A deleted one owes what had arrived. */
  async #settleLast(bill: Bill, rest: readonly Bill[]): Promise<void> {
    const answer = await settle(this.env, bill).catch(() => null)
    if (answer) this.#store.bills = rest
    const waitMs = answer === null ? TELL_AGAIN_MS : rest.length > 0 ? 0 : DROPPED_MS
    await this.ctx.storage.setAlarm(Date.now() + waitMs)
  }

  /** Also what came while it was deleted. */
  async #forget(pipeline: string): Promise<void> {
    await this.#sending.letters(pipeline)?.clear()
    await this.ctx.storage.deleteAll()
  }

  async #wake(): Promise<void> {
    this.#poke()
    await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    const { dropped, bills } = this.#store
    const [bill, ...rest] = bills
    if (bill !== undefined) return this.#settleLast(bill, rest)
    if (dropped !== null) return this.#forget(dropped)
    const begunMs = Date.now()
    await this.ctx.storage.setAlarm(begunMs + GUARD_MS)
    // No order statuses are asked for where no credits or no key are there to pay for them.
    const leave = this.#reading.stay(() => (this.#isUnpaid ? null : this.#pipeline))
    try {
      await this.#turns(begunMs)
    } catch (error) {
      // An alarm that fails is tried six times and then no more; that which is set stays.
      console.error('a turn of a pipeline failed', wordsOfError(error))
    } finally {
      leave()
    }
  }

  get #isUnpaid(): boolean {
    const waitsFor = this.#delivery?.waitsFor
    return waitsFor === 'credits' || waitsFor === 'key'
  }

  async #turns(begunMs: number): Promise<void> {
    for (;;) {
      const poked = new Promise<'poked'>((go) => {
        this.#poke = () => go('poked')
      })
      const waitMs = this.#delivery === null ? null : await this.#delivery.turn()
      if (this.#store.dropped !== null) return
      const isLate = Date.now() + (waitMs ?? 0) - begunMs > ALARM_MS
      const restMs = this.#isUnpaid ? waitMs : waitMs && Math.min(waitMs, STAY_MS)
      if (restMs !== null && isLate) return this.ctx.storage.setAlarm(Date.now() + restMs)
      if (waitMs === 0) continue
      // Whoever pokes has set an alarm of its own.
      if (waitMs === null) {
        const isPoked = (await Promise.race([poked, Promise.resolve('still')])) === 'poked'
        return isPoked ? this.ctx.storage.setAlarm(Date.now()) : this.ctx.storage.deleteAlarm()
      }
      let cancel: () => void = () => undefined
      const slept = new Promise<void>((go) => {
        cancel = after(waitMs, go)
      })
      await Promise.race([slept, poked])
      cancel()
    }
  }

  #lagMs(): number | null {
    const confirmed = this.#delivery?.state.confirmed
    const head = this.#pipeline && this.#readingOf(this.#pipeline).knownHead
    return head && confirmed ? Math.max(0, head.time - confirmed.time) : null
  }
}

/** Rejects where no answer comes, whether or not the bill arrived: it may be sent again. */
function settle(env: Cloudflare.Env, { account, report }: Bill): Promise<PipelineResponse> {
  // An object that was restarted refuses the first call only.
  const send = () => meterOf(env, account).settlePipeline(report)
  return orReject(send().catch(send), METER_MS, after)
}
