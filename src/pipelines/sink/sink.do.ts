// Sink: one per pipeline. A thin shell around delivery.ts: an alarm is its only engine, which re-arms first and catches
// everything; what it is told comes over RPC. Law: nothing of one pipeline waits for another.

import { DurableObject } from 'cloudflare:workers'
import { archiveOf } from '../../archive/archive/archive.store.ts'
import { orLate } from '../../core/deadline.ts'
import { gatewayOf, Objects } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import type { Pipeline } from '../pipeline.ts'
import { type CheckRequest, SINK_API_VERSION, type SinkApi, type SinkCheck, type SinkStatus } from '../sink-api.ts'
import { TOPIC_COLUMNS } from '../topics/catalogue.ts'
import { Delivery } from './delivery.ts'
import { NOTHING_DELIVERED, wordsOfError } from './delivery-state.ts'
import { EvmReading } from './evm-reading.client.ts'
import { type Bill, lastBills, NOTHING_OWED } from './owed.ts'
import { Reading, type Reads, STAY_MS } from './reading.client.ts'
import { Sending } from './sending.client.ts'
import { SinkStore } from './sink.store.ts'
import { portsOf, settle } from './sink-ports.client.ts'
import { changesOf, orderOf, SinkRecord, wordsOf } from './sink-record.client.ts'
import { SinkSettings } from './sink-settings.ts'
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
    this.#trying = new Trying(
      this.#sending,
      () => this.#delivery,
      () => this.#wake(),
      this.#settings.PIPELINE_ROW_CREDITS,
    )
    this.#store = new SinkStore(ctx.storage)
    this.#record = new SinkRecord(this.#store.pipeline, () => gatewayOf(env))
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
    const ports = portsOf({
      storage: this.ctx.storage,
      env: this.env,
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      record: this.#record,
      sending: this.#sending,
      store: this.#store,
      readingOf: (of) => this.#readingOf(of),
      lagMs: () => this.#lagMs(),
    })
    const state = { ...NOTHING_DELIVERED, ...this.#store.state }
    this.#delivery = new Delivery(ports, state, orderOf(pipeline))
    return this.#delivery
  }

  async apply({ pipeline, sealed }: Parameters<SinkApi['apply']>[0]): Promise<SinkStatus> {
    const before = this.#record.kept
    // Of one that is deleted nothing is new.
    const isKnown = before !== null && pipeline.revision <= before.revision
    if (isKnown || this.#store.dropped !== null) return this.status()
    const kept = this.#record.take(pipeline, sealed)
    this.#store.pipeline = kept
    const delivery = this.#delivery ?? this.#open(pipeline)
    if (before && before.payer !== kept.payer) delivery.paying.handOver(before.payer)
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
    return orLate(reading.head(pipeline), PATIENCE_MS, reading.knownHead, after).catch(() => null)
  }

  async logs({ before, limit }: Parameters<SinkApi['logs']>[0]): ReturnType<SinkApi['logs']> {
    return { v: SINK_API_VERSION, lines: this.#store.lines(before, Math.min(limit, LINES_MOST)) }
  }

  async metrics({ minutes }: Parameters<SinkApi['metrics']>[0]): ReturnType<SinkApi['metrics']> {
    return { v: SINK_API_VERSION, minutes: this.#store.minutes(Date.now() - minutes * 60_000) }
  }

  async trial({ pipeline }: Parameters<SinkApi['trial']>[0]): ReturnType<SinkApi['trial']> {
    return this.#trying.tried(pipeline, this.#readingOf(pipeline))
  }

  /** Checks transforms for the gateway, which cannot reach the Worker that runs SQL. */
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
    const pipeline = (id.name ?? '').split('/').at(-1)!
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
      const resealed = await this.#record.resealed()
      if (resealed) this.#store.pipeline = resealed
      await this.#turns(begunMs)
    } catch (error) {
      // An alarm that fails is tried six times and then no more; that which is set stays.
      console.error('a turn of a pipeline failed', wordsOfError(error))
    } finally {
      leave()
    }
  }

  get #isUnpaid(): boolean {
    const waitsFor = this.#delivery?.paying.waitsFor
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
