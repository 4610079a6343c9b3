// What a relay has to say to the meter of one account, said one report at a time. Laws: what is said later arrives
// later; what may not have arrived is said again under the same names, for as long as the meter would know it again; what
// happens in one turn or while a report is under way goes into one report; no end is dropped for want of room.
// biome-ignore-all lint/style/noNonNullAssertion: an answer has one minute for each charge and one verdict for each connect, in their order.

import type { AccountId, KeyHash } from '../../core/ids.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { METER_API_VERSION } from '../../metering/meter-version.ts'
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
import { dueCharges, endReport, firstCharge, type Minutes } from './minutes.ts'

/** Of each kind in one report. */
const MAX_PER_REPORT = 500
/** While so many ends wait for the meter nothing is begun: each would leave another, which would have to be kept. */
const MAX_ENDINGS = 10_000

export interface MeterPort {
  /** Name of the relay's object, and when it began. */
  readonly relay: string
  readonly life: number
  readonly clock: Clock
  /** Rejects where the meter cannot be asked. */
  exchange(account: AccountId, report: StreamReport): Promise<StreamResponse>
}

/** What the account has here at the moment. */
export type AccountStatus = Pick<StreamReport, 'sockets' | 'keys' | 'limits'> & { readonly running: readonly Minutes[] }

export interface MeterClientOwner {
  status(): AccountStatus
  /** An answer came: `begun` have their first minute; `due` are the answers to minutes that had started. */
  onReply(
    answer: StreamResponse,
    begun: readonly Minutes[],
    due: readonly { readonly minutes: Minutes; readonly answer: MinuteResult }[],
  ): void
  onFailure(): void
}

interface PendingRequest<Q, A> {
  readonly request: Q
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

interface PendingEnd {
  readonly owed: readonly MinuteCharge[]
  readonly end: StreamEnd
  readonly atMs: number
}

/** What one report carries. */
interface ReportBatch {
  readonly begins: readonly PendingRequest<Minutes, MinuteResult>[]
  readonly connects: readonly PendingRequest<KeyHash, ConnectVerdict>[]
  readonly due: readonly { readonly minutes: Minutes; readonly charge: MinuteCharge }[]
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
  /** When the last report was sent; before the first one: never. */
  sentMs = Number.NEGATIVE_INFINITY
  /** When the last report that was answered was sent. */
  answeredMs = Number.NEGATIVE_INFINITY

  constructor(account: AccountId, port: MeterPort, owner: MeterClientOwner) {
    this.#account = account
    this.#port = port
    this.#owner = owner
  }

  get isIdle(): boolean {
    return this.#inFlight === null && !this.#hasMore()
  }

  /** An end was not told yet. */
  get hasPendingEnds(): boolean {
    return this.#endings.length > 0
  }

  /** Asks to let in a socket with this key; rejects where the meter is away. */
  connect(keyHash: KeyHash): Promise<ConnectVerdict> {
    return new Promise((resolve, reject) => {
      this.#connects.push({ request: keyHash, resolve, reject })
      this.#send()
    })
  }

  /** Asks for a first minute; rejects where the meter is away. */
  requestMinute(minutes: Minutes): Promise<MinuteResult> {
    if (this.#endings.length >= MAX_ENDINGS) return Promise.reject(new Error('too many ends wait for the meter'))
    return new Promise((resolve, reject) => {
      this.#begins.push({ request: minutes, resolve, reject })
      this.#send()
    })
  }

  /** Tells of an end: what is owed is paid, what is left is kept; of one that was not served all is given back. */
  end(minutes: Minutes, isUnserved = false): void {
    const { relay, clock } = this.#port
    const owed = isUnserved ? [] : dueCharges(relay, minutes, clock.nowMs)
    this.#queueEnd(owed, endReport(relay, minutes, clock.nowMs, isUnserved))
    this.#send()
  }

  /** Says how things stand, with the minutes that are due. */
  report(): void {
    this.#isDue = true
    this.#send()
  }

  /** Resolves when all that was to say was said, or could not be. */
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
      // Something may have come in between the last look and here; after a failure nothing but requests is in a hurry.
      const isUrgent = this.#lastSucceeded ? this.#hasMore() : this.#begins.length + this.#connects.length > 0
      if (isUrgent) this.#send()
    })
  }

  /** After a failure the next request or look at the clock begins again. Never rejects. */
  async #flush(): Promise<void> {
    await Promise.resolve()
    do this.#lastSucceeded = !this.#hasMore() || (await this.#exchange())
    while (this.#lastSucceeded && this.#hasMore())
  }

  async #exchange(): Promise<boolean> {
    const load = this.#takeBatch()
    this.sentMs = this.#port.clock.nowMs
    const sentMs = this.sentMs
    try {
      const report = this.#reportOf(load)
      const send = () => this.#port.exchange(this.#account, report)
      // Repeating is harmless, and an object that was restarted refuses the first call only.
      const answer = await send().catch(send)
      this.#isFirst = false
      this.answeredMs = sentMs
      this.#endings = this.#endings.slice(load.endings.length)
      this.#resolve(load, answer)
      return true
    } catch (error) {
      this.#reject(load, error)
      return false
    }
  }

  #takeBatch(): ReportBatch {
    const { relay, clock } = this.#port
    // Older ones the meter could no longer tell from new ones.
    this.#endings = this.#endings.filter(({ atMs }) => clock.nowMs - atMs < END_REPORTS_MS)
    const due = this.#owner
      .status()
      .running.flatMap((minutes) => dueCharges(relay, minutes, clock.nowMs).map((charge) => ({ minutes, charge })))
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
    const alive = [...running.map(({ id }) => `${relay}/${id}`), ...first.map(({ subscription }) => subscription)]
    return {
      v: METER_API_VERSION,
      relay,
      life,
      alive: this.#isFirst ? alive : null,
      sockets,
      subscriptions: running.length,
      perMinute: running.reduce((sum, { price }) => sum + price, 0),
      keys,
      limits,
      connects: connects.map(({ request }) => request),
      charges: [...first, ...due.map(({ charge }) => charge), ...endings.flatMap(({ owed }) => owed)],
      ends: endings.map(({ end }) => end),
    }
  }

  #resolve({ begins, connects, due }: ReportBatch, answer: StreamResponse): void {
    const begun: Minutes[] = []
    begins.forEach(({ request, resolve }, index) => {
      const minute = answer.minutes[index]!
      if (minute.ok) {
        request.paid = 1
        request.sinceMs = this.#port.clock.nowMs + minute.leftMs - MINUTE_MS
        begun.push(request)
      }
      resolve(minute)
    })
    for (const [index, { resolve }] of connects.entries()) resolve(answer.connects[index]!)
    const answers = due.map(({ minutes }, index) => ({ minutes, answer: answer.minutes[begins.length + index]! }))
    for (const { minutes, answer: minute } of answers) if (minute.ok) minutes.paid++
    this.#owner.onReply(answer, begun, answers)
  }

  /** A first minute that may have been charged all the same ends unused: a resubscribe gets it. */
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
