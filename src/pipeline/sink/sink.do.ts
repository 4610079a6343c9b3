// Sink: one per pipeline. A thin shell around delivery.ts: an alarm is its only engine, which re-arms first and catches
// everything; what it is told comes over RPC. Law: nothing of one pipeline waits for another.

import { DurableObject } from 'cloudflare:workers'
import { orLate, orReject } from '../../core/deadline.ts'
import { gatewayOf, Objects } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import { visible } from '../../core/visible.ts'
import { archiveOf } from '../../history/archive/archive.store.ts'
import { batchId } from '../batch.ts'
import type { Pipeline } from '../pipeline.ts'
import { SINK_API_VERSION, type SinkApi, type SinkStatus } from '../sink-api.ts'
import { Delivery } from './delivery.ts'
import { type DeliveryPorts, NOTHING_DELIVERED } from './delivery-state.ts'
import { EvmReading } from './evm-reading.client.ts'
import { endOf, startOf } from './position.ts'
import { Reading, type Reads, STAY_MS } from './reading.client.ts'
import { changesOf, orderOf, wordsOf } from './record-changes.ts'
import { Sending } from './sending.client.ts'
import { SinkStore } from './sink.store.ts'
import { SinkRecord } from './sink-record.client.ts'
import { SinkSettings } from './sink-settings.ts'
import { checkTransforms } from './transforms.client.ts'
import { Trying, wordsOfError } from './trying.client.ts'

/** A turn that ends without a word, such as with its machine, is begun again after this time. */
const GUARD_MS = 15_000
/** Turns are made one after the other within one alarm for so long. */
const ALARM_MS = 10_000
const PATIENCE_MS = 2_000
/** A batch that takes longer to be read is read anew. */
const READ_MS = 60_000
/** More than any destination takes, or the bucket. */
const SEND_MS = 120_000
/** So long a deleted pipeline is remembered: what it was told of before may come late. */
const DROPPED_MS = 3_600_000
const LINES_MOST = 500

export class Sink extends DurableObject<Cloudflare.Env> implements Omit<SinkApi, 'test'> {
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
    const { ARCHIVE: bucket }: Partial<Cloudflare.Env> = env
    this.#sending = new Sending(this.#settings, bucket)
    this.#trying = new Trying(this.#sending)
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
    const state = this.#store.state ?? NOTHING_DELIVERED
    this.#delivery = new Delivery(this.#ports(), state, orderOf(pipeline))
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
    const changes = before ? changesOf(before, kept) : []
    for (const change of changes.length > 0 ? changes : (['none'] as const)) delivery.ordered(orderOf(pipeline), change)
    this.#store.log(Date.now(), 'info', wordsOf(pipeline, changes), null)
    await this.#wake()
    return this.status()
  }

  async status(): Promise<SinkStatus> {
    const head = this.#pipeline && (await this.#headOf(this.#pipeline))
    const { confirmed, flight, ...sums } = this.#delivery?.state ?? NOTHING_DELIVERED
    const isBehind = head !== null && confirmed !== null && head.height >= confirmed.height
    const lagMs = isBehind ? Math.max(0, head.time - confirmed.time) : null
    const { rows, bytes, batches, deadLetters, lastError } = sums
    return {
      v: SINK_API_VERSION,
      phase: this.#delivery?.phase(lagMs) ?? 'idle',
      height: confirmed?.height ?? null,
      timeMs: confirmed?.time ?? null,
      lagBlocks: isBehind ? head.height - confirmed.height : null,
      ...{ lagMs, rows, bytes, batches, deadLetters, lastError },
      attempts: flight?.attempts ?? 0,
      nextTryMs: flight && flight.attempts > 0 ? flight.nextTryMs : null,
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

  /** `test` of SinkApi, which is a name that the platform keeps for itself. */
  async trial({ pipeline }: Parameters<SinkApi['test']>[0]): ReturnType<SinkApi['test']> {
    return this.#trying.tried(pipeline, this.#readingOf(pipeline))
  }

  /** What is wrong with transforms; null: nothing. The gateway has no SQL engine. */
  async check({ transforms, topic }: { v: number } & Pick<Pipeline, 'transforms' | 'topic'>) {
    const checked = await checkTransforms(transforms, topic)
    return { v: SINK_API_VERSION, fault: checked.ok ? null : checked.error }
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
    this.#delivery = null
    this.#record.kept = null
    this.#poke()
    await storage.deleteAll()
    this.#store = new SinkStore(storage)
    this.#store.dropped = pipeline
    await storage.setAlarm(Date.now() + DROPPED_MS)
    await this.#sending.letters(pipeline)?.clear()
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
    const { dropped } = this.#store
    if (dropped !== null) return this.#forget(dropped)
    const begunMs = Date.now()
    await this.ctx.storage.setAlarm(begunMs + GUARD_MS)
    const leave = this.#reading.stay(() => this.#pipeline)
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

  async #turns(begunMs: number): Promise<void> {
    for (;;) {
      const poked = new Promise<'poked'>((go) => {
        this.#poke = () => go('poked')
      })
      const waitMs = this.#delivery === null ? null : await this.#delivery.turn()
      if (this.#store.dropped !== null) return
      const isLate = Date.now() + (waitMs ?? 0) - begunMs > ALARM_MS
      if (waitMs !== null && isLate) return this.ctx.storage.setAlarm(Date.now() + Math.min(waitMs, STAY_MS))
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

  #ports(): DeliveryPorts {
    // What is asked after the pipeline was deleted comes to nothing.
    const pipeline = () => {
      if (!this.#pipeline) throw new Error('the pipeline is deleted')
      return this.#pipeline
    }
    const isThere = () => this.#pipeline !== null
    return {
      nowMs: Date.now,
      random: Math.random,
      begin: async () => {
        const place = startOf(pipeline().execution_start_from)
        const begins = place === 'now' ? await this.#readingOf(pipeline()).newest(pipeline()) : place
        return begins && { place: begins, epoch: null, timeMs: 0, fold: null }
      },
      end: async () => {
        const end = endOf(pipeline())
        if (end !== 'now') return end
        const head = await this.#readingOf(pipeline()).head(pipeline())
        return head ? { height: head.height } : 'undecided'
      },
      assembler: (at, flight) => {
        const own = this.#readingOf(pipeline()).assembler(pipeline(), at, flight)
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
      ready: async () => void (await this.#record.opened()),
      send: async (parcel) => {
        try {
          const opened = await this.#record.opened()
          // Its range must outlive whatever happens from here on.
          await this.ctx.storage.sync()
          const sent = this.#sending.sent(opened, parcel, batchId(opened.id, parcel.from, parcel.to))
          return await orReject(sent, SEND_MS, after)
        } catch (error) {
          return { ok: false, words: wordsOfError(error) }
        }
      },
      bury: async (parcel) => {
        const letters = this.#sending.letters(pipeline().id)
        if (!letters) throw new Error('there is no bucket for dead letters here: the operator has set up no archive')
        await letters.put(parcel)
      },
      unbury: async (behind) => orReject(this.#sending.unburied(await this.#record.opened(), behind), SEND_MS, after),
      save: (state) => {
        if (isThere()) this.#store.state = state
      },
      log: (level, words, batch) => {
        if (!isThere()) return
        const id = batch && batchId(pipeline().id, batch.from, batch.to)
        this.#store.log(Date.now(), level, visible(words), id)
      },
      count: (what) => {
        if (isThere()) this.#store.count(Date.now(), what, this.#lagMs())
      },
    }
  }

  #lagMs(): number | null {
    const confirmed = this.#delivery?.state.confirmed
    const head = this.#pipeline && this.#readingOf(this.#pipeline).knownHead
    return head && confirmed ? Math.max(0, head.time - confirmed.time) : null
  }
}
