// Sink: one Durable Object per pipeline. It provides delivery.ts with its ports. At the head of the log it waits for a
// call of the pipeline follower, and is not awake. Otherwise an alarm drives it: the alarm re-arms first and catches
// every error. Invariants: an alarm is always set while the pipeline runs; a lost call delays rows at most until that
// alarm; pipelines never wait for each other; calls after deletion have no effect.

import { DurableObject } from 'cloudflare:workers'
import { archiveOf } from '../../archive/archive/archive.store.ts'
import { countStart, reportCounters } from '../../core/counter-reports.client.ts'
import { counters } from '../../core/counters.ts'
import { orFallback, orReject } from '../../core/deadline.ts'
import { logEvent } from '../../core/log.client.ts'
import { gatewayOf, Objects } from '../../core/objects.client.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { after, sleep } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import { visible } from '../../core/visible.ts'
import { batchId } from '../destinations/batch.ts'
import { FOLLOWER_API_VERSION, type PokeRequest, type PokeResponse } from '../follower-api.ts'
import { type Pipeline, REQUESTED_TOPICS } from '../pipeline.ts'
import {
  type CheckRequest,
  SINK_API_VERSION,
  type SinkApi,
  type SinkCheck,
  type SinkStatus,
  type SurveyRequest,
} from '../sink-api.ts'
import { surveyOf } from './backfill-survey.client.ts'
import { BatchSender } from './batch-sender.client.ts'
import { Delivery } from './delivery.ts'
import {
  type Bill,
  billOf,
  type DeliveryPorts,
  errorMessage,
  finalBills,
  INITIAL_BILLING,
  INITIAL_DELIVERY,
  summaryOf,
} from './delivery-state.ts'
import { settle } from './meter-link.client.ts'
import { checkOf, previewOf } from './pipeline-preview.client.ts'
import { EvmReader, INTEREST_MS, LogReader, type PipelineReader } from './pipeline-readers.client.ts'
import { PipelineTester } from './pipeline-tester.client.ts'
import { SinkStore } from './sink.store.ts'
import { changeMessage, changesOf, desiredStateOf, SinkRecord } from './sink-record.client.ts'
import { SinkSettings } from './sink-settings.ts'
import { endOf, startOf } from './source.ts'

/** A turn that was lost, for example because its machine failed, is started again after this time. */
const GUARD_MS = 15_000
/** The same for a turn that the follower has started: the follower repeats a failed call earlier. */
const POKED_GUARD_MS = 60_000
/** Maximum time of consecutive turns. The alarm continues them. */
const TURNS_MS = 10_000
/** Shorter waits are not worth an alarm. */
const MIN_ALARM_MS = 1_000
/** A waiting pipeline looks for itself after this time. The log retains blocks for five minutes. */
const SAFETY_MS = 4 * MINUTE_MS
/** A waiting pipeline reports what it owes after this time. */
const REPORT_MS = MINUTE_MS
/** Delay while the follower does not respond. The pipeline then reads the log itself. */
const UNFOLLOWED_MS = 15_000
const FOLLOWER_TIMEOUT_MS = 5_000
/** The follower calls a limited number of pipelines at a time. A longer delivery ends without it. */
const POKE_WAIT_MS = 2_000
/** Maximum wait of a status request for a pipeline that looks for new blocks. */
const STATUS_WAIT_MS = 2_000
const LOOK_EVERY_MS = 1_000
/** How often nodes are asked for new blocks. */
const MIN_QUIET_MS = 2_000
const MAX_QUIET_MS = MINUTE_MS
const HEAD_TIMEOUT_MS = 2_000
/** How long a deleted pipeline is remembered, because older messages may still arrive. */
const TOMBSTONE_MS = 3_600_000
/** Delay before a failed meter report is repeated. */
const BILL_RETRY_MS = 60_000
const MAX_LOG_LINES = 500
/** A batch that takes longer to read is read again. */
const READ_TIMEOUT_MS = 60_000
/** Longer than the timeout of any destination and of the bucket. */
const SEND_TIMEOUT_MS = 120_000
const REPAIRS_TIMEOUT_MS = 5_000

export class Sink extends DurableObject<Cloudflare.Env> implements SinkApi {
  readonly #settings: SinkSettings
  readonly #objects: Objects
  readonly #logReader: LogReader
  readonly #evmReader: EvmReader
  readonly #sender: BatchSender
  readonly #tester: PipelineTester
  #store: SinkStore
  readonly #record: SinkRecord
  #delivery: Delivery | null = null
  /** The turns in progress. */
  #working: Promise<void> | null = null
  /** When the last turns ended. */
  #workedMs = 0
  /** Something has changed since the current turn began. */
  #isInterrupted = false
  /** An object that was not in memory had no rows for a while. */
  #quietMs = MAX_QUIET_MS
  /** The follower watches the pipeline, because it waits for the response to its call. */
  #isPoked = false

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('Sink')
    this.#settings = readVariables(SinkSettings, env)
    this.#objects = new Objects(env, this.#settings)
    this.#logReader = new LogReader(this.#objects, archiveOf(env, this.#settings.CHAIN))
    this.#evmReader = new EvmReader(this.#settings.RPC_CHAINS, env, (work) => ctx.waitUntil(work))
    this.#sender = new BatchSender(this.#settings, env)
    this.#tester = new PipelineTester({
      sender: this.#sender,
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      delivery: () => this.#delivery,
      wake: () => this.#wake(),
    })
    this.#store = new SinkStore(ctx.storage)
    this.#record = new SinkRecord(this.#store.pipeline, async (...args) => gatewayOf(env).openSecret(...args))
    if (!this.#pipeline) return
    this.#open(this.#pipeline)
    if (this.#pipeline.status === 'running') this.ctx.waitUntil(this.#wakeBy(Date.now() + SAFETY_MS))
  }

  get #pipeline(): Pipeline | null {
    return this.#record.stored
  }

  #readerOf({ topic }: Pipeline): PipelineReader {
    return topic === 'evm_logs' ? this.#evmReader : this.#logReader
  }

  #open(pipeline: Pipeline): Delivery {
    this.#delivery = new Delivery(
      this.#ports(),
      { ...INITIAL_DELIVERY, ...this.#store.state },
      desiredStateOf(pipeline),
    )
    return this.#delivery
  }

  get #existing(): Pipeline {
    if (this.#record.stored === null) throw new Error('the pipeline is deleted')
    return this.#record.stored
  }

  #ports(): DeliveryPorts {
    const { storage } = this.ctx
    const reading = () => this.#readerOf(this.#existing)
    const isThere = () => this.#record.stored !== null
    return {
      nowMs: Date.now,
      random: Math.random,
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      minuteMicro: this.#settings.PIPELINE_MINUTE_CREDITS,
      payer: () => ({ hash: this.#existing.payer, name: this.#existing.payer_name }),
      // Wait for storage: after a crash, the meter and the bucket must not know more than this object does.
      settle: (sums, by, hold) =>
        storage.sync().then(() => settle(this.env, this.#settings.FEED_REGION, billOf(this.#existing, sums, by, hold))),
      removeDeadLetter: (key) => storage.sync().then(() => this.#sender.deadLetters(this.#existing.id)?.remove(key)),
      begin: async () => {
        const start = startOf(this.#existing.execution_start_from)
        const begins = start === 'now' ? await reading().newest(this.#existing) : start
        return begins && { place: begins, epoch: null, timeMs: 0, fold: null }
      },
      end: async () => {
        const end = endOf(this.#existing)
        if (end !== 'now') return end
        const head = await reading().head(this.#existing)
        return head ? { height: head.height } : 'undecided'
      },
      repairAfter: (id) => orReject(reading().repairAfter(this.#existing, id), REPAIRS_TIMEOUT_MS, after),
      assembler: (at, flight, repairs) => {
        const own = reading().assembler(this.#existing, at, flight, repairs)
        return {
          take: (...args) => orReject(own.take(...args), READ_TIMEOUT_MS, after),
          get retryMs() {
            return own.retryMs
          },
          get ordersFrom() {
            return own.ordersFrom
          },
        }
      },
      ready: async () => {
        const { transforms } = await this.#record.open()
        if (Object.keys(transforms).length > 0) await this.#sender.sql.ready()
      },
      send: async (parcel, affords) => {
        try {
          const opened = await this.#record.open()
          // The range must be stored before the batch is sent.
          await storage.sync()
          const sent = this.#sender.send(opened, parcel, batchId(opened.id, parcel), affords)
          return await orReject(sent, SEND_TIMEOUT_MS, after)
        } catch (error) {
          return { ok: false, message: errorMessage(error) }
        }
      },
      putDeadLetter: async (parcel) => {
        const letters = this.#sender.deadLetters(this.#existing.id)
        if (!letters) throw new Error('Dead letters cannot be stored: the operator has not set up an archive')
        await storage.sync()
        await letters.put(parcel)
      },
      sendDeadLetter: async (behind, affords) =>
        orReject(this.#sender.sendOldestDeadLetter(await this.#record.open(), behind, affords), SEND_TIMEOUT_MS, after),
      save: (state) => {
        if (isThere()) this.#store.state = state
      },
      log: (level, message, batch) => {
        if (!isThere()) return
        this.#store.log(Date.now(), level, visible(message), batch && batchId(this.#existing.id, batch))
      },
      count: (what) => {
        if (isThere()) this.#store.count(Date.now(), what, this.#lagMs())
      },
    }
  }

  async apply({ pipeline, sealed }: Parameters<SinkApi['apply']>[0]): Promise<SinkStatus> {
    const before = this.#record.stored
    // Ignore revisions that are already known, and deleted pipelines.
    const isKnown = before !== null && pipeline.revision <= before.revision
    if (isKnown || this.#store.dropped !== null) return this.status()
    const kept = this.#record.store(pipeline, sealed)
    this.#store.pipeline = kept
    const delivery = this.#delivery ?? this.#open(pipeline)
    this.#quietMs = MIN_QUIET_MS
    if (before && before.payer !== kept.payer) delivery.changePayer(before.payer)
    const changes = before ? changesOf(before, kept) : []
    for (const change of changes.length > 0 ? changes : (['none'] as const))
      delivery.applyDesired(desiredStateOf(pipeline), change)
    this.#store.log(Date.now(), 'info', changeMessage(pipeline, changes), null)
    await this.#wake()
    return this.status()
  }

  async status(): Promise<SinkStatus> {
    await this.#look()
    const head = this.#pipeline && (await this.#headOf(this.#pipeline))
    const state = this.#delivery?.state ?? INITIAL_DELIVERY
    const { confirmed, flight, owed } = state
    const isBehind = head !== null && confirmed !== null && head.height >= confirmed.height
    const lagMs = isBehind ? Math.max(0, head.time - confirmed.time) : null
    return {
      v: SINK_API_VERSION,
      phase: this.#delivery?.phase(lagMs) ?? 'idle',
      height: confirmed?.height ?? null,
      timeMs: confirmed?.time ?? null,
      lagBlocks: isBehind ? head.height - confirmed.height : null,
      lagMs,
      ...summaryOf(state),
      rowMicro: this.#settings.PIPELINE_ROW_CREDITS,
      minuteMicro: this.#settings.PIPELINE_MINUTE_CREDITS,
      attempts: flight?.attempts ?? 0,
      nextTryMs: flight?.nextTryMs || null,
      pauseReason: this.#pipeline?.status === 'running' ? (owed.ended?.words ?? null) : null,
    }
  }

  /** Brings the cursor of a waiting pipeline up to date, and checks its key. */
  async #look(): Promise<void> {
    if (this.#pipeline?.status !== 'running' || Math.abs(Date.now() - this.#workedMs) < LOOK_EVERY_MS) return
    await this.#wakeBy(Date.now() + POKED_GUARD_MS)
    await orFallback(this.#work(), STATUS_WAIT_MS, undefined, after)
  }

  async #headOf(pipeline: Pipeline) {
    const reading = this.#readerOf(pipeline)
    return orFallback(reading.head(pipeline), HEAD_TIMEOUT_MS, reading.knownHead, after).catch(() => null)
  }

  async logs({ before, limit }: Parameters<SinkApi['logs']>[0]): ReturnType<SinkApi['logs']> {
    return { v: SINK_API_VERSION, lines: this.#store.lines(before, Math.min(limit, MAX_LOG_LINES)) }
  }

  async metrics({ minutes }: Parameters<SinkApi['metrics']>[0]): ReturnType<SinkApi['metrics']> {
    return { v: SINK_API_VERSION, minutes: this.#store.minutes(Date.now() - minutes * MINUTE_MS) }
  }

  async trial({ pipeline }: Parameters<SinkApi['trial']>[0]): ReturnType<SinkApi['trial']> {
    return this.#tester.run(pipeline, this.#readerOf(pipeline))
  }

  async preview({ pipeline }: Parameters<SinkApi['preview']>[0]): ReturnType<SinkApi['preview']> {
    return previewOf(pipeline, this.#readerOf(pipeline), this.#sender)
  }

  async survey(request: SurveyRequest): ReturnType<SinkApi['survey']> {
    return surveyOf(request, this.#readerOf(request.pipeline), this.#sender)
  }

  async check(request: CheckRequest): Promise<SinkCheck> {
    return checkOf(request, this.#sender.sql)
  }

  async redeliver(): ReturnType<SinkApi['redeliver']> {
    const batches = (await this.#sender.deadLetters(this.#pipeline?.id ?? '')?.count()) ?? 0
    if (batches > 0) {
      this.#delivery?.redeliver()
      await this.#wake()
    }
    return { v: SINK_API_VERSION, batches }
  }

  async drop(): Promise<void> {
    const { storage, id } = this.ctx
    // A deleted pipeline has no record, and an object that is addressed by id has no name.
    const pipeline = this.#pipeline?.id ?? id.name?.split('/').at(-1)
    if (pipeline === undefined) return
    this.#delivery?.chargeMinutes()
    const owed = this.#delivery?.state.owed ?? INITIAL_BILLING
    const bills = this.#pipeline ? finalBills(this.#pipeline, owed) : this.#store.bills
    this.#delivery = null
    this.#record.stored = null
    this.#isInterrupted = true
    this.#store.drop(pipeline, bills)
    this.#noteLag(null, false)
    await storage.setAlarm(Date.now() + (bills.length > 0 ? 0 : TOMBSTONE_MS))
    await this.#sender.deadLetters(pipeline)?.clear()
  }

  /** Reports the last bills of a deleted pipeline. */
  async #settleFinalBill(bill: Bill, rest: readonly Bill[]): Promise<void> {
    const answer = await settle(this.env, this.#settings.FEED_REGION, bill).catch(() => null)
    if (answer) this.#store.bills = rest
    const waitMs = answer === null ? BILL_RETRY_MS : rest.length > 0 ? 0 : TOMBSTONE_MS
    await this.ctx.storage.setAlarm(Date.now() + waitMs)
  }

  /** Includes data that arrived during the deletion. */
  async #purge(pipeline: string): Promise<void> {
    await this.#sender.deadLetters(pipeline)?.clear()
    await this.ctx.storage.deleteAll()
  }

  async #wake(): Promise<void> {
    this.#isInterrupted = true
    await this.ctx.storage.setAlarm(Date.now())
  }

  /** Makes sure that an alarm fires at this time or earlier. */
  async #wakeBy(atMs: number): Promise<void> {
    const alarmMs = await this.ctx.storage.getAlarm()
    if (alarmMs === null || alarmMs > atMs) await this.ctx.storage.setAlarm(atMs)
  }

  async poke({ revision, empty }: PokeRequest): Promise<PokeResponse> {
    const nothing = { v: FOLLOWER_API_VERSION, next: null }
    const delivery = this.#delivery
    if (!delivery || this.#pipeline?.revision !== revision) return nothing
    this.#isInterrupted = true
    this.#isPoked = true
    if (empty && this.#working === null) delivery.skip(empty)
    await this.#wakeBy(Date.now() + POKED_GUARD_MS)
    const done = this.#work().then(() => true)
    const isDone = await orFallback(done, POKE_WAIT_MS, false, after)
    const isSame = this.#pipeline?.revision === revision && this.#isPoked
    this.#isPoked = false
    return isDone && isSame && delivery.isAtHead ? { ...nothing, next: delivery.waitsFrom } : nothing
  }

  override async alarm(): Promise<void> {
    const { dropped, bills } = this.#store
    const [bill, ...rest] = bills
    if (bill !== undefined) return this.#settleFinalBill(bill, rest)
    if (dropped !== null) return this.#purge(dropped)
    await this.ctx.storage.setAlarm(Date.now() + GUARD_MS)
    // The platform retries a failed alarm only six times; the alarm set above stays.
    await this.#work()
  }

  /** Runs turns until the pipeline has to wait. Callers share the turns in progress. Never rejects. */
  #work(): Promise<void> {
    this.#working ??= this.#workOnce().finally(() => {
      this.#working = null
      this.#workedMs = Date.now()
      reportCounters(this.ctx, this.env)
    })
    return this.#working
  }

  async #workOnce(): Promise<void> {
    // Do not request rows from feeders while no credits or key can pay for them.
    const leave = this.#logReader.keepInterest(() => (this.#isUnpaid ? null : this.#pipeline))
    try {
      await this.#turns(Date.now())
    } catch (error) {
      logEvent('pipeline_turn_failed', { error: errorMessage(error) })
    } finally {
      leave()
    }
  }

  get #isUnpaid(): boolean {
    const waitsFor = this.#delivery?.waitsFor
    return waitsFor === 'credits' || waitsFor === 'key'
  }

  async #turns(begunMs: number): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      this.#isInterrupted = false
      const delivery = this.#delivery
      const waitMs = delivery === null ? null : await this.#turn(delivery, isFirst)
      this.#noteLag(delivery, waitMs === 'rows')
      if (this.#store.dropped !== null) return
      const isLate = Date.now() - begunMs > TURNS_MS
      if (this.#isInterrupted || waitMs === 0) {
        if (isLate) return this.ctx.storage.setAlarm(Date.now())
      } else if (waitMs === 'rows') return this.#wait(delivery)
      else if (waitMs === null) return this.ctx.storage.deleteAlarm()
      else if (waitMs >= MIN_ALARM_MS || isLate) return this.ctx.storage.setAlarm(Date.now() + this.#alarmMs(waitMs))
      else await sleep(waitMs)
    }
  }

  /** Runs a turn. `rows`: the pipeline waits for rows. */
  async #turn(delivery: Delivery, isFirst: boolean): Promise<number | null | 'rows'> {
    // An object that was not in memory may have waited.
    if (isFirst && !this.#isPoked && (await this.#isWaiting(delivery))) return 'rows'
    const { batches } = delivery.state
    const waitMs = await delivery.turn()
    if (delivery.state.batches > batches) this.#quietMs = MIN_QUIET_MS
    if (!delivery.isAtHead || this.#isInterrupted) return waitMs
    if (!this.#isFollowable) return this.#nextQuietMs()
    await delivery.rest()
    if (!delivery.isAtHead || this.#isPoked) return delivery.isAtHead ? 'rows' : 0
    const answer = await this.#watch(delivery)
    return answer === null ? UNFOLLOWED_MS : answer ? 'rows' : 0
  }

  /** Delay before a node is asked for new blocks. It grows while there are no rows. */
  #nextQuietMs(): number {
    const quietMs = this.#quietMs
    this.#quietMs = Math.min(2 * quietMs, MAX_QUIET_MS)
    return quietMs
  }

  get #isFollowable(): boolean {
    return this.#pipeline !== null && this.#pipeline.topic !== 'evm_logs'
  }

  /** Whether the follower has found nothing for a pipeline that may have waited. */
  async #isWaiting(delivery: Delivery): Promise<boolean> {
    if (!this.#isFollowable || delivery.waitsFrom === null) return false
    if ((await this.#watch(delivery)) !== true) return false
    await delivery.rest()
    return delivery.waitsFrom !== null
  }

  /** Asks the follower to watch the pipeline. False: there are blocks to read first. Null: it does not respond. */
  async #watch(delivery: Delivery): Promise<boolean | null> {
    const from = delivery.waitsFrom
    if (this.#pipeline === null || from === null) return false
    const { id, account, revision, topic, filter } = this.#pipeline
    const { gatherMs } = desiredStateOf(this.#pipeline)
    const { end } = delivery.state
    const request = { v: FOLLOWER_API_VERSION, id, account, revision, topic, filter, from, gatherMs }
    const call = async () => this.#objects.follower().watch({ ...request, end: end === 'undecided' ? null : end })
    const answer = await orReject(call(), FOLLOWER_TIMEOUT_MS, after).catch(() => null)
    if (answer === null || this.#delivery !== delivery || this.#pipeline.revision !== revision) return answer && false
    if (answer.empty) delivery.skip(answer.empty)
    return (delivery.waitsFrom ?? -1) >= answer.from
  }

  /** Sets the alarm of a pipeline that waits for rows. */
  async #wait(delivery: Delivery | null): Promise<void> {
    const waitMs = delivery?.isOwing ? REPORT_MS : SAFETY_MS
    // The alarm that guards a turn is due too early. Setting it is billed as a row, so a busy pipeline keeps it.
    if (this.#isPoked) await this.#wakeBy(Date.now() + waitMs)
    else await this.ctx.storage.setAlarm(Date.now() + waitMs)
  }

  /** Order statuses and signed actions have to be requested again while the pipeline cannot deliver. */
  #alarmMs(waitMs: number): number {
    const isRequested = this.#pipeline && REQUESTED_TOPICS.includes(this.#pipeline.topic)
    return isRequested && !this.#isUnpaid ? Math.min(waitMs, INTEREST_MS) : waitMs
  }

  /** Invariant: a pipeline that has delivered everything, or is deleted, has no lag. */
  #noteLag(delivery: Delivery | null, isWaiting: boolean): void {
    const isLate = !isWaiting && delivery?.isAtHead === false && this.#store.dropped === null
    const { confirmed, lastError } = delivery?.state ?? INITIAL_DELIVERY
    const sinceMs = isLate ? (confirmed?.time ?? lastError?.sinceMs ?? null) : null
    const phase = delivery?.phase(this.#lagMs())
    counters.setLate('pipeline_lag_seconds', this.ctx.id.toString(), sinceMs, Date.now(), phase)
  }

  #lagMs(): number | null {
    const confirmed = this.#delivery?.state.confirmed
    const head = this.#pipeline && this.#readerOf(this.#pipeline).knownHead
    return head && confirmed ? Math.max(0, head.time - confirmed.time) : null
  }
}
