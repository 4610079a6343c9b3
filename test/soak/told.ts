// What one client got on its channels: rows of events without a break, and the last state of everything else.
// Invariant: no height and no time goes back while a socket lives.

import type { Json, SubscriptionBody } from '../../src/client/subscription.ts'
import { channelOf } from '../../src/relay/channels/catalogue.ts'
import { OrderBookReplica } from '../kit/order-book-replica.ts'
import { rowsOfFrame, type Segment, shownTo } from './rows.ts'

/** Of wallets that nobody wanted before, order statuses are complete so long after the acknowledgement (WS-121) … */
const ORDERS_MS = 3_000
/**
 * … as long as no block is older when it is here. Relay and log tell of wants after 250 ms each, and a feeder looks within
 * a second what it is to read: that leaves so much for the way up, which takes what blocks take down. Where they come
 * later, or none does, a link on the way is down or behind, and a feeder makes blocks without having heard.
 */
const AGE_MS = ORDERS_MS - 1_500
const NEVER = Number.POSITIVE_INFINITY

interface Frame {
  readonly channel: string
  readonly block_height?: number | undefined
  readonly data?: unknown
}

interface Stamped {
  readonly coin?: string
  readonly time?: number
  readonly t?: number
}

export class Told {
  readonly body: SubscriptionBody
  /** Null where its rows are not looked at. */
  readonly #segments: { sureMs: number; ids: number[]; isOpen: boolean }[] | null
  /** By coin, of a body of one coin or none under `''`: the last one of this socket. */
  readonly #last = new Map<string, Json>()
  /** By opening time, those that began on a socket that saw an earlier one: they are exact (WS-134). */
  readonly #candles = new Map<number, Json>()
  #firstCandle = Number.POSITIVE_INFINITY
  readonly #orders = new OrderBookReplica()
  readonly #newest = new Map<string, number>()
  /** Since when a want of order statuses has been on its way, undisturbed. */
  #askedMs = 0
  /** What went back, or does not fit, in words. */
  readonly back: string[] = []

  constructor(body: SubscriptionBody) {
    this.body = body
    this.#segments = shownTo(body) === null ? null : []
  }

  /** Acknowledged; our library's bodies may go on where they were. */
  live(nowMs: number): void {
    if (this.#segments?.at(-1)?.isOpen) return
    this.#askedMs = nowMs
    this.#segments?.push({ sureMs: this.#isOfOrders ? NEVER : nowMs, ids: [], isOpen: true })
  }

  /** To be called twice a second; `ageMs`: of the newest block that anybody has. */
  look(ageMs: number, nowMs: number): void {
    const segment = this.#segments?.at(-1)
    if (!segment?.isOpen || segment.sureMs !== NEVER) return
    if (ageMs > AGE_MS) this.#askedMs = nowMs
    else if (nowMs - this.#askedMs >= ORDERS_MS) segment.sureMs = nowMs
  }

  lost(): void {
    const segment = this.#segments?.at(-1)
    if (segment) segment.isOpen = false
    this.#last.clear()
    this.#orders.lost()
    // Only the candles before it were shown to their end.
    this.#candles.delete(this.#newest.get('candle') ?? 0)
    this.#newest.clear()
    this.#firstCandle = Number.POSITIVE_INFINITY
  }

  take(frame: Frame): void {
    // Payments are asked for when their block has come, and told when they are known.
    const isLate = frame.channel === 'user' && 'funding' in (frame.data as object)
    if (frame.block_height !== undefined && !isLate) this.#forward('height', frame.block_height)
    if (this.body.type === 'l4Book') this.#say(this.#orders.take(frame.data as object))
    else if (channelOf(this.body.type)?.source === 'events' && this.body.type !== 'candle') this.#rows(frame)
    else this.#state((frame.data ?? null) as Json & Stamped)
  }

  /** So far, of which something is sure; what is in it changes no more. */
  segments(): readonly Segment[] {
    const sure = this.#segments?.filter(({ sureMs }) => sureMs !== NEVER)
    return (sure ?? []).map((segment) => ({ ...segment, ids: [...segment.ids] }))
  }

  last(): Readonly<Record<string, Json>> {
    return Object.fromEntries(this.#last)
  }

  candles(): readonly Json[] {
    return [...this.#candles.values()]
  }

  get #isOfOrders(): boolean {
    return this.body.type === 'orderUpdates'
  }

  #rows(frame: Frame): void {
    const segment = this.#segments?.at(-1)
    if (!segment) return
    for (const { id, timeMs } of rowsOfFrame(this.body, frame)) {
      this.#forward('time', timeMs)
      if (!this.#isOfOrders || timeMs >= segment.sureMs) segment.ids.push(id)
    }
  }

  #state(data: Json & Stamped): void {
    const { coin = '', time, t } = data
    if (time !== undefined) this.#forward(`time of ${coin}`, time)
    this.#last.set(coin, data)
    if (t === undefined) return
    this.#forward('candle', t)
    this.#firstCandle = Math.min(this.#firstCandle, t)
    if (t > this.#firstCandle) this.#candles.set(t, data)
  }

  #forward(what: string, value: number): void {
    const before = this.#newest.get(what) ?? value
    if (value < before) this.#say(`${what}: ${before}, then ${value}`)
    this.#newest.set(what, value)
  }

  #say(wrong: string | null): void {
    if (wrong !== null && this.back.length < 3) this.back.push(`${this.body.type}: ${wrong}`)
  }
}
