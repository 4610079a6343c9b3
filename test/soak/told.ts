// What one client was told on its channels: rows of events without a break, and the last state of everything else.
// Law: no height and no time goes back while a socket lives.

import type { Json, SubscriptionBody } from '../../src/client/subscription.ts'
import { channelOf } from '../../src/stream/catalogue.ts'
import { OrdersTold } from './orders-told.ts'
import { rowsOfFrame, type Segment, shownTo } from './rows.ts'

/** Of wallets that nobody wanted before, order statuses are complete so long after the acknowledgement (WS-121). */
const ORDERS_MS = 3_000

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
  readonly #orders = new OrdersTold()
  readonly #newest = new Map<string, number>()
  /** What went back, or does not fit, in words. */
  readonly back: string[] = []

  constructor(body: SubscriptionBody) {
    this.body = body
    this.#segments = shownTo(body) === null ? null : []
  }

  /** Acknowledged; our library's bodies may go on where they were. */
  live(nowMs: number): void {
    if (this.#segments?.at(-1)?.isOpen) return
    const sureMs = nowMs + (this.body.type === 'orderUpdates' ? ORDERS_MS : 0)
    this.#segments?.push({ sureMs, ids: [], isOpen: true })
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

  /** So far; what is in it changes no more. */
  segments(): readonly Segment[] {
    return (this.#segments ?? []).map((segment) => ({ ...segment, ids: [...segment.ids] }))
  }

  last(): Readonly<Record<string, Json>> {
    return Object.fromEntries(this.#last)
  }

  candles(): readonly Json[] {
    return [...this.#candles.values()]
  }

  #rows(frame: Frame): void {
    const segment = this.#segments?.at(-1)
    if (!segment) return
    const isOfOrders = this.body.type === 'orderUpdates'
    for (const { id, timeMs } of rowsOfFrame(this.body, frame)) {
      this.#forward('time', timeMs)
      if (!isOfOrders || timeMs >= segment.sureMs) segment.ids.push(id)
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
