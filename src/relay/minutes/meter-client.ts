// Reports a relay's streams to the meter of one account, one report at a time. Invariants: reports arrive in order;
// entries that may not have arrived are repeated under the same ids while the meter can deduplicate them; all entries
// from one turn or from the time of a report share the next report; no end is dropped for lack of room.
// biome-ignore-all lint/style/noNonNullAssertion: a reply has one entry per charge and per connect, in order

import type { AccountId, KeyHash } from '../../core/ids.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { METER_API_VERSION } from '../../metering/meter-version.ts'
import type { LogBatch } from '../../metering/request-log/log-api.ts'
import type {
  ConnectVerdict,
  MinuteCharge,
  MinuteResult,
  StreamEnd,
  StreamReport,
  StreamResponse,
} from '../../metering/streams/stream-api.ts'
import { END_REPORTS_MS } from '../../metering/streams/stream-ledger.ts'
import type { Clock } from '../sockets/connection.ts'
import { dueCharge, endReport, firstCharge, type Minutes } from './minutes.ts'

/** Maximum number of entries per kind per report. */
const MAX_PER_REPORT = 500
/** With this many unreported ends, nothing new starts, because each start leads to another end that must be kept. */
const MAX_ENDINGS = 10_000

export interface MeterPort {
  /** Name of the relay's object, and its start time. */
  readonly relay: string
  readonly life: number
  readonly clock: Clock
  /** Rejects if the meter is unreachable. */
  exchange(account: AccountId, report: StreamReport): Promise<StreamResponse>
}

/** The account's current status at this relay. */
export type AccountStatus = Pick<StreamReport, 'sockets' | 'keys' | 'limits'> & { readonly running: readonly Minutes[] }

/** Minutes that must be paid now. */
export interface DueMinutes {
  readonly minutes: Minutes
  readonly charge: MinuteCharge
}

export interface MeterClientOwner {
  status(): AccountStatus
  due(): readonly DueMinutes[]
  /** Events that a report takes; null: none. `isStored`: the meter stores the report anyway. */
  log(isStored: boolean): LogBatch | null
  onLogged(batch: LogBatch): void
  /** Handles a reply: `started` have their first minute; `due` are the replies to later minutes. */
  onReply(
    reply: StreamResponse,
    started: readonly Minutes[],
    due: readonly { readonly minutes: Minutes; readonly answer: MinuteResult }[],
  ): void
  onFailure(): void
}

interface PendingRequest<Q, A> {
  readonly request: Q
  readonly resolve: (reply: A) => void
  readonly reject: (error: unknown) => void
}

interface PendingEnd {
  readonly owed: readonly MinuteCharge[]
  readonly end: StreamEnd
  readonly atMs: number
}

/** Contents of one report. */
interface ReportBatch {
  readonly begins: readonly PendingRequest<Minutes, MinuteResult>[]
  readonly connects: readonly PendingRequest<KeyHash, ConnectVerdict>[]
  readonly due: readonly DueMinutes[]
  readonly endings: readonly PendingEnd[]
}

export class MeterClient {
  readonly #account: AccountId
  readonly #port: MeterPort
  readonly #owner: MeterClientOwner
  #begins: PendingRequest<Minutes, MinuteResult>[] = []
  #connects: PendingRequest<KeyHash, ConnectVerdict>[] = []
  #endings: PendingEnd[] = []
  #isFirst = true
  #isDue = false
  #lastSucceeded = true
  #inFlight: Promise<void> | null = null
  /** Time of the last report; -Infinity before the first. */
  sentMs = Number.NEGATIVE_INFINITY
  /** Send time of the last report that succeeded. */
  answeredMs = Number.NEGATIVE_INFINITY

  constructor(account: AccountId, port: MeterPort, owner: MeterClientOwner) {
    this.#account = account
    this.#port = port
    this.#owner = owner
  }

  get isIdle(): boolean {
    return this.#inFlight === null && !this.#hasMore()
  }

  /** True if the ends of some subscriptions have not been reported yet. */
  get hasPendingEnds(): boolean {
    return this.#endings.length > 0
  }

  /** Requests admission of a socket with this key; rejects if the meter is unreachable. */
  connect(keyHash: KeyHash): Promise<ConnectVerdict> {
    return new Promise((resolve, reject) => {
      this.#connects.push({ request: keyHash, resolve, reject })
      this.#send()
    })
  }

  /** Requests a first minute; rejects if the meter is unreachable. */
  requestMinute(minutes: Minutes): Promise<MinuteResult> {
    if (this.#endings.length >= MAX_ENDINGS) return Promise.reject(new Error('too many unreported ends'))
    return new Promise((resolve, reject) => {
      this.#begins.push({ request: minutes, resolve, reject })
      this.#send()
    })
  }

  /**
   * Reports an end: due minutes are paid, and the rest of the last one can be resumed. Unserved minutes are refunded.
   */
  end(minutes: Minutes, isUnserved = false): void {
    const { relay, clock } = this.#port
    const owed = isUnserved ? null : dueCharge(relay, minutes, clock.nowMs)
    this.#queueEnd(owed === null ? [] : [owed], endReport(relay, minutes, clock.nowMs, isUnserved))
    this.#send()
  }

  /** Reports the status with the due minutes. */
  report(): void {
    this.#isDue = true
    this.#send()
  }

  /** Resolves when everything was reported or failed. */
  async settled(): Promise<void> {
    await this.#inFlight
  }

  #queueEnd(owed: readonly MinuteCharge[], end: StreamEnd): void {
    this.#endings.push({ owed, end, atMs: this.#port.clock.nowMs })
  }

  #hasMore(): boolean {
    return this.#isDue || this.#begins.length + this.#connects.length + this.#endings.length > 0
  }

  #send(): void {
    this.#inFlight ??= this.#flush().finally(() => {
      this.#inFlight = null
      // Something may have arrived since the last check. After a failure only requests are urgent.
      const isUrgent = this.#lastSucceeded ? this.#hasMore() : this.#begins.length + this.#connects.length > 0
      if (isUrgent) this.#send()
    })
  }

  /** After a failure the next request or tick retries. Never rejects. */
  async #flush(): Promise<void> {
    await Promise.resolve()
    do this.#lastSucceeded = !this.#hasMore() || (await this.#exchange())
    while (this.#lastSucceeded && this.#hasMore())
  }

  async #exchange(): Promise<boolean> {
    const batch = this.#takeBatch()
    this.sentMs = this.#port.clock.nowMs
    const sentMs = this.sentMs
    try {
      const report = this.#reportOf(batch)
      const send = () => this.#port.exchange(this.#account, report)
      // Repeating is harmless, and a restarted object rejects only the first call.
      const reply = await send().catch(send)
      if (report.log) this.#owner.onLogged(report.log)
      this.#isFirst = false
      this.answeredMs = sentMs
      this.#endings = this.#endings.slice(batch.endings.length)
      this.#resolve(batch, reply)
      return true
    } catch (error) {
      this.#reject(batch, error)
      return false
    }
  }

  #takeBatch(): ReportBatch {
    const { clock } = this.#port
    // The meter can no longer deduplicate ends that are older than this.
    this.#endings = this.#endings.filter(({ atMs }) => clock.nowMs - atMs < END_REPORTS_MS)
    const due = this.#owner.due()
    this.#isDue = due.length > MAX_PER_REPORT
    return {
      begins: this.#begins.splice(0, MAX_PER_REPORT),
      connects: this.#connects.splice(0, MAX_PER_REPORT),
      due: due.slice(0, MAX_PER_REPORT),
      endings: this.#endings.slice(0, MAX_PER_REPORT),
    }
  }

  #reportOf({ begins, connects, due, endings }: ReportBatch): StreamReport {
    const { relay, life } = this.#port
    const { sockets, keys, limits, running } = this.#owner.status()
    const first = begins.map(({ request }) => firstCharge(relay, request))
    const liveIds = [...running.map(({ id }) => `${relay}/${id}`), ...first.map(({ subscription }) => subscription)]
    const charges = [...first, ...due.map(({ charge }) => charge), ...endings.flatMap(({ owed }) => owed)]
    const log = this.#owner.log(charges.length > 0 || sockets === 0)
    return {
      v: METER_API_VERSION,
      relay,
      life,
      alive: this.#isFirst ? liveIds : null,
      sockets,
      subscriptions: running.length,
      perMinute: running.reduce((sum, { price }) => sum + price, 0),
      keys,
      limits,
      connects: connects.map(({ request }) => request),
      charges,
      ends: endings.map(({ end }) => end),
      ...(log === null ? {} : { log }),
    }
  }

  #resolve({ begins, connects, due }: ReportBatch, reply: StreamResponse): void {
    const started: Minutes[] = []
    begins.forEach(({ request, resolve }, index) => {
      const minute = reply.minutes[index]!
      if (minute.ok) {
        request.paid = 1
        request.sinceMs = this.#port.clock.nowMs + minute.leftMs - MINUTE_MS
        started.push(request)
      }
      resolve(minute)
    })
    for (const [index, { resolve }] of connects.entries()) resolve(reply.connects[index]!)
    const answers = due.map((one, index) => ({ ...one, answer: reply.minutes[begins.length + index]! }))
    for (const { minutes, charge, answer } of answers) if (answer.ok) minutes.paid = charge.ordinal + 1
    this.#owner.onReply(reply, started, answers)
  }

  /** The meter may have charged a first minute anyway. That minute ends unused, so a resubscribe can resume it. */
  #reject({ begins, connects }: ReportBatch, error: unknown): void {
    const { relay } = this.#port
    for (const { request, reject } of begins) {
      this.#queueEnd([], { subscription: `${relay}/${request.id}`, body: request.body, leftMs: MINUTE_MS })
      reject(error)
    }
    for (const { reject } of connects) reject(error)
    this.#owner.onFailure()
  }
}
