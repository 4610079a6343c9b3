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
import { FollowedOrders, type OrdersPosition } from './l4/followed-orders.ts'
import { ORDER_BOOK_VERSION, type OrderBookApi, type OrdersSnapshot } from './l4/order-book-api.ts'
import { LogLink } from './log-link.do.ts'

const ATTACH_MS = 4000
/** The log has lost heights or begun anew, where it stands so far below what a feeder has sent of it. */
const MAX_BEHIND_BLOCKS = 64
/** Whole orders that were asked for and do not come are asked for again: a node writes them in some seconds, and is
 * spared by the feeder, which holds what it was asked once. */
const REQUEST_RETRY = { firstMs: 15_000, capMs: 30_000, jitter: 0.5 }
const RETRY_MS = 2000
/** Nobody asks any more: all is forgotten. */
const IDLE_MS = 5 * 60_000
const PIECE_CHARS = 1024 * 1024
/** A text is held while relays fetch its pieces: so long after each. */
const TEXT_MS = 2_000
/** No further text is made while so much is held: a newer one in place of it would leave everybody with half of one. */
const MAX_TEXT_CHARS = 32 * 1024 * 1024

interface SnapshotText {
  readonly meta: OrdersSnapshot
  readonly pieces: readonly string[]
  cancelExpiry: () => void
}

export class OrderBook extends DurableObject<Cloudflare.Env> implements OrderBookApi {
  readonly #objects: Objects
  readonly #name: string
  readonly #coin: Coin
  readonly #orders = new FollowedOrders()
  readonly #log: LogLink
  /** When relays last asked, and until when what was begun is waited for. */
  #lastUsedMs = Date.now()
  #recoverAtMs = 0
  #requests = 0
  /** Who follows the coin holds what is not so, and the log was not told yet. */
  #hasWrongOrders = false
  /** By height. */
  readonly #snapshots = new Map<number, SnapshotText>()

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    if (!ctx.id.name) throw new Error('an order-level book is addressed by its name, which says its coin')
    this.#name = ctx.id.name
    this.#objects = new Objects(env, readVariables(LiveSettings, env))
    this.#coin = this.#objects.coinOfOrderBook(this.#name)
    this.#log = new LogLink(ctx, {
      attach: () => this.#attach(),
      onFrame: (text) => this.#onFrame(text),
      onSettled: () => this.#recover(),
    })
  }

  /** `GET /link`: the log dials in. Only objects of our own can reach this. */
  override async fetch(request: Request): Promise<Response> {
    if (!request.headers.has(LINK_HEADER)) return new Response('not a link', { status: 404 })
    return this.#log.accept()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#log.onMessage(socket, message)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#log.onClose(socket, code)
  }

  override webSocketError(): void {
    this.#log.reattach()
  }

  override async alarm(): Promise<void> {
    if (Date.now() - this.#lastUsedMs < IDLE_MS) return this.#log.onAlarm()
    this.#orders.discard()
    this.#log.release()
  }

  async #attach(): Promise<void> {
    const { position } = this.#orders
    const cursor = position && { epoch: position.epoch ?? '', height: position.height }
    const reader = { kind: 'l4', coin: this.#coin } as const
    const asked = this.#objects.log().attach({ v: LOG_API_VERSION, name: this.#name, reader, cursor, follows: true })
    const { lost, height, epoch } = await orReject(asked, ATTACH_MS, after)
    // A log that began anew does not know what it was asked for.
    this.#recoverAtMs = 0
    if (!cursor) return
    if (lost || (height ?? -1) < cursor.height - MAX_BEHIND_BLOCKS) return this.#orders.discard()
    this.#orders.follow(epoch)
  }

  #onFrame(text: string): void {
    const { head, rows } = readRows(text)
    const frame = JSON.parse(head) as L4Frame
    if ('type' in frame) return this.#onPart(frame)
    if (frame.t === 'gap') return this.#orders.discard()
    if (frame.t === 'tick') return this.#recover()
    const lost = this.#orders.onBlock(frame, rows.get(this.#coin))
    if (lost) console.warn(`orders of ${this.#coin} are fetched anew: ${lost.why}`)
    this.#hasWrongOrders ||= lost?.isWrong === true
    this.#recover()
  }

  #onPart(frame: Parameters<FollowedOrders['onPart']>[0]): void {
    const came = this.#orders.onPart(frame)
    this.#recoverAtMs = Date.now() + (came === 'more' ? REQUEST_RETRY.firstMs : RETRY_MS)
    // The blocks above are read out of what the log holds.
    if (came === 'whole') this.#log.reattach()
  }

  /** Sees to whole orders, which come by the link, or to a link that leads on from them. To be called often. */
  #recover(): void {
    const now = Date.now()
    if (this.#orders.isReady || now < this.#recoverAtMs) return
    this.#recoverAtMs = now + RETRY_MS
    if (this.#orders.position) return this.#log.reattach()
    this.#recoverAtMs = now + backoffMs(REQUEST_RETRY, this.#requests++, Math.random())
    const asked = this.#objects.log().reseedL4(this.#coin, this.#hasWrongOrders)
    this.#hasWrongOrders = false
    this.ctx.waitUntil(asked.catch(() => undefined))
  }

  async ready(atLeast: number): Promise<{ v: number; ready: boolean }> {
    this.#lastUsedMs = Date.now()
    await this.#log.ensureAttached()
    const { isReady, position } = this.#orders
    if (isReady) this.#requests = 0
    return { v: ORDER_BOOK_VERSION, ready: isReady && position !== null && position.height >= atLeast }
  }

  async snapshot(atLeast: number): Promise<OrdersSnapshot | null> {
    if (!(await this.ready(atLeast)).ready) return null
    const texts = [...this.#snapshots.values()]
    const held = texts.find(({ meta }) => meta.height >= atLeast)
    const { position } = this.#orders
    if (!position || (!held && texts.reduce((sum, { meta }) => sum + meta.chars, 0) >= MAX_TEXT_CHARS)) return null
    return this.#retain(held ?? this.#createText(position)).meta
  }

  #createText(place: OrdersPosition): SnapshotText {
    const pieces = this.#orders.texts(PIECE_CHARS)
    const chars = pieces.reduce((sum, { length }) => sum + length, 0)
    const whole = { v: ORDER_BOOK_VERSION, ...place, pieces: pieces.length, chars, first: pieces[0] ?? '' }
    return { meta: whole, pieces, cancelExpiry: () => undefined }
  }

  #retain(text: SnapshotText): SnapshotText {
    const { height } = text.meta
    text.cancelExpiry()
    text.cancelExpiry = after(TEXT_MS, () => this.#snapshots.delete(height))
    this.#snapshots.set(height, text)
    return text
  }

  async snapshotPiece(height: number, index: number): Promise<string | null> {
    const text = this.#snapshots.get(height)
    return text ? (this.#retain(text).pieces[index] ?? null) : null
  }
}
