// OrderBook: the orders of one coin that is wanted, for relays that need them whole. A thin shell around
// l4/followed-orders.ts. Rows of blocks reach relays by the log and not from here, so that nobody notices where this object
// begins anew: it asks a feeder for whole orders, and reads on from there out of what the log holds.

import { DurableObject } from 'cloudflare:workers'
import { readRows } from '../block-log/segment.ts'
import { backoffMs } from '../core/backoff.ts'
import type { Coin } from '../core/coin.ts'
import { orReject } from '../core/deadline.ts'
import { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import { type L4Frame, LINK_HEADER, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import { FollowedOrders, type OrdersPlace } from './l4/followed-orders.ts'
import { ORDER_BOOK_VERSION, type OrderBookApi, type WholeOrders } from './l4/order-book-api.ts'
import { LogLink } from './log-link.do.ts'

const ATTACH_MS = 4000
/** The log has lost heights or begun anew, where it stands so far below what a feeder has sent of it. */
const BEHIND_MOST = 64
/** Whole orders that were asked for and do not come are asked for again: a node writes them in some seconds, and is
 * spared by the feeder, which holds what it was asked once. */
const ASK_AGAIN = { firstMs: 15_000, capMs: 30_000, jitter: 0.5 }
const RETRY_MS = 2000
/** Nobody asks any more: all is forgotten. */
const FORGET_MS = 5 * 60_000
const PIECE_CHARS = 1024 * 1024
/** A text is held while relays fetch its pieces: so long after each. */
const TEXT_MS = 2_000
/** No further text is made while so much is held: a newer one in place of it would leave everybody with half of one. */
const TEXTS_CHARS = 32 * 1024 * 1024

interface Text {
  readonly whole: WholeOrders
  readonly pieces: readonly string[]
  drop: () => void
}

export class OrderBook extends DurableObject<Cloudflare.Env> implements OrderBookApi {
  readonly #objects: Objects
  readonly #name: string
  readonly #coin: Coin
  readonly #orders = new FollowedOrders()
  readonly #log: LogLink
  /** When relays last asked, and until when what was begun is waited for. */
  #wantedMs = Date.now()
  #mendMs = 0
  #asked = 0
  /** Who follows the coin holds what is not so, and the log was not told yet. */
  #isWrong = false
  /** By height. */
  readonly #texts = new Map<number, Text>()

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    if (!ctx.id.name) throw new Error('an order-level book is addressed by its name, which says its coin')
    this.#name = ctx.id.name
    this.#objects = new Objects(env, readVariables(LiveSettings, env))
    this.#coin = this.#objects.coinOfOrders(this.#name)
    this.#log = new LogLink(ctx, {
      attach: () => this.#attach(),
      take: (text) => this.#take(text),
      settled: () => this.#mend(),
    })
  }

  /** `GET /link`: the log dials in. Only objects of our own can reach this. */
  override async fetch(request: Request): Promise<Response> {
    if (!request.headers.has(LINK_HEADER)) return new Response('not a link', { status: 404 })
    return this.#log.accept()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#log.message(socket, message)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#log.closed(socket, code)
  }

  override webSocketError(): void {
    this.#log.broken()
  }

  override async alarm(): Promise<void> {
    if (Date.now() - this.#wantedMs < FORGET_MS) return this.#log.alarm()
    this.#orders.lose()
    this.#log.release()
  }

  async #attach(): Promise<void> {
    const { place } = this.#orders
    const cursor = place && { epoch: place.epoch ?? '', height: place.height }
    const reader = { kind: 'l4', coin: this.#coin } as const
    const asked = this.#objects.log().attach({ v: LOG_API_VERSION, name: this.#name, reader, cursor, follows: true })
    const { lost, height, epoch } = await orReject(asked, ATTACH_MS, after)
    // A log that began anew does not know what it was asked for.
    this.#mendMs = 0
    if (!cursor) return
    if (lost || (height ?? -1) < cursor.height - BEHIND_MOST) return this.#orders.lose()
    this.#orders.follow(epoch)
  }

  #take(text: string): void {
    const { head, rows } = readRows(text)
    const frame = JSON.parse(head) as L4Frame
    if ('type' in frame) return this.#part(frame)
    if (frame.t === 'gap') return this.#orders.lose()
    if (frame.t === 'tick') return this.#mend()
    const lost = this.#orders.block(frame, rows.get(this.#coin))
    if (lost) console.warn(`orders of ${this.#coin} are fetched anew: ${lost.why}`)
    this.#isWrong ||= lost?.isWrong === true
    this.#mend()
  }

  #part(frame: Parameters<FollowedOrders['part']>[0]): void {
    const came = this.#orders.part(frame)
    this.#mendMs = Date.now() + (came === 'more' ? ASK_AGAIN.firstMs : RETRY_MS)
    // The blocks above are read out of what the log holds.
    if (came === 'whole') this.#log.broken()
  }

  /** Sees to whole orders, which come by the link, or to a link that leads on from them. To be called often. */
  #mend(): void {
    const now = Date.now()
    if (this.#orders.isReady || now < this.#mendMs) return
    this.#mendMs = now + RETRY_MS
    if (this.#orders.place) return this.#log.broken()
    this.#mendMs = now + backoffMs(ASK_AGAIN, this.#asked++, Math.random())
    const asked = this.#objects.log().reseedL4(this.#coin, this.#isWrong)
    this.#isWrong = false
    this.ctx.waitUntil(asked.catch(() => undefined))
  }

  async ready(atLeast: number): Promise<{ v: number; ready: boolean }> {
    this.#wantedMs = Date.now()
    await this.#log.attached()
    const { isReady, place } = this.#orders
    if (isReady) this.#asked = 0
    return { v: ORDER_BOOK_VERSION, ready: isReady && place !== null && place.height >= atLeast }
  }

  async whole(atLeast: number): Promise<WholeOrders | null> {
    if (!(await this.ready(atLeast)).ready) return null
    const texts = [...this.#texts.values()]
    const held = texts.find(({ whole }) => whole.height >= atLeast)
    const { place } = this.#orders
    if (!place || (!held && texts.reduce((sum, { whole }) => sum + whole.chars, 0) >= TEXTS_CHARS)) return null
    return this.#hold(held ?? this.#textNow(place)).whole
  }

  #textNow(place: OrdersPlace): Text {
    const pieces = this.#orders.texts(PIECE_CHARS)
    const chars = pieces.reduce((sum, { length }) => sum + length, 0)
    const whole = { v: ORDER_BOOK_VERSION, ...place, pieces: pieces.length, chars, first: pieces[0] ?? '' }
    return { whole, pieces, drop: () => undefined }
  }

  #hold(text: Text): Text {
    const { height } = text.whole
    text.drop()
    text.drop = after(TEXT_MS, () => this.#texts.delete(height))
    this.#texts.set(height, text)
    return text
  }

  async piece(height: number, index: number): Promise<string | null> {
    const text = this.#texts.get(height)
    return text ? (this.#hold(text).pieces[index] ?? null) : null
  }
}
