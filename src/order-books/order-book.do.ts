// OrderBook: the resting orders of one wanted coin, for relays that need a snapshot. A thin shell around
// l4/followed-orders.ts. Relays get the rows of blocks from the log, not from here, so they do not notice a restart of
// this object. It then requests a snapshot from a feeder and catches up from the log.

import { DurableObject } from 'cloudflare:workers'
import { readRows } from '../block-log/segment.ts'
import { backoffMs } from '../core/backoff.ts'
import type { Coin } from '../core/coin.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { orReject } from '../core/deadline.ts'
import { logEvent } from '../core/log.client.ts'
import { objectName } from '../core/object-name.store.ts'
import { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import { type L4Frame, LINK_HEADER, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import { FollowedOrders, type OrdersPosition } from './l4/followed-orders.ts'
import { ORDER_BOOK_VERSION, type OrderBookApi, type OrdersSnapshot } from './l4/order-book-api.ts'
import { textMemory } from './l4/text-memory.ts'
import { LogLink } from './log-link.do.ts'

const ATTACH_MS = 4000
/** A log that is this far below a feeder's snapshot has lost heights or started over. */
const MAX_BEHIND_BLOCKS = 64
/**
 * Time until a snapshot request is repeated. A node takes seconds to write a snapshot, and the feeder limits how often
 * it requests one.
 */
const REQUEST_RETRY = { firstMs: 15_000, capMs: 30_000, jitter: 0.5 }
const RETRY_MS = 2000
/** Orders are dropped when no relay has asked for this long. */
const IDLE_MS = 5 * 60_000
const PIECE_CHARS = 1024 * 1024
/** How long a book's string is kept after each read of its pieces. */
const TEXT_MS = 2_000
/** A reservation ends later than the string, unless the object was reset. */
const RESERVED_MS = 2 * TEXT_MS

interface SnapshotText {
  readonly meta: OrdersSnapshot
  readonly pieces: readonly string[]
  cancelExpiry: () => void
  release: () => void
}

export class OrderBook extends DurableObject<Cloudflare.Env> implements OrderBookApi {
  readonly #objects: Objects
  readonly #name: string
  readonly #coin: Coin
  readonly #orders = new FollowedOrders()
  readonly #log: LogLink
  /** When a relay last asked, and the earliest time of the next recovery step. */
  #lastUsedMs = Date.now()
  #recoverAtMs = 0
  #requests = 0
  /** True if followers of the coin have wrong orders and the log does not know it yet. */
  #hasWrongOrders = false
  /** The kept strings, by height of the book. */
  readonly #snapshots = new Map<number, SnapshotText>()
  /** Length of the last string. It changes little from one string to the next. */
  #lastChars = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('OrderBook')
    this.#name = objectName(ctx)
    this.#objects = new Objects(env, readVariables(LiveSettings, env))
    this.#coin = this.#objects.coinOfOrderBook(this.#name)
    this.#log = new LogLink(ctx, {
      attach: () => this.#attach(),
      onFrame: (text) => this.#onFrame(text),
      onSettled: () => this.#recover(),
    })
  }

  /** `GET /link`: the log dials in. Only our own objects can reach this. */
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
    if (Date.now() - this.#lastUsedMs < IDLE_MS) await this.#log.onAlarm()
    else {
      this.#orders.discard()
      this.#log.release()
    }
    reportCounters(this.ctx, this.env)
  }

  async #attach(): Promise<void> {
    if (this.#name === '') throw new Error('this order-level book has no name, so its coin is unknown')
    const { position } = this.#orders
    const cursor = position && { epoch: position.epoch ?? '', height: position.height }
    const reader = { kind: 'l4', coin: this.#coin } as const
    const request = this.#objects.log().attach({ v: LOG_API_VERSION, name: this.#name, reader, cursor, follows: true })
    const { lost, height, epoch } = await orReject(request, ATTACH_MS, after)
    // The log may have started over and forgotten the snapshot request, so recover at once.
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
    if (lost) logEvent('order_book_refetched', { coin: this.#coin, why: lost.why })
    this.#hasWrongOrders ||= lost?.isWrong === true
    this.#recover()
  }

  #onPart(frame: Parameters<FollowedOrders['onPart']>[0]): void {
    const result = this.#orders.onPart(frame)
    this.#recoverAtMs = Date.now() + (result === 'more' ? REQUEST_RETRY.firstMs : RETRY_MS)
    // The log still has the blocks above the snapshot.
    if (result === 'complete') this.#log.reattach()
  }

  /** Requests a snapshot, or a link that continues from one. Call often. */
  #recover(): void {
    const now = Date.now()
    if (this.#orders.isReady || now < this.#recoverAtMs) return
    this.#recoverAtMs = now + RETRY_MS
    if (this.#orders.position) return this.#log.reattach()
    this.#recoverAtMs = now + backoffMs(REQUEST_RETRY, this.#requests++, Math.random())
    const request = this.#objects.log().reseedL4(this.#coin, this.#hasWrongOrders)
    this.#hasWrongOrders = false
    this.ctx.waitUntil(request.catch(() => undefined))
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
    const recent = [...this.#snapshots.values()].find(({ meta }) => meta.height >= atLeast)
    const { position } = this.#orders
    const text = recent ?? (position && this.#createText(position))
    return text && this.#retain(text) ? text.meta : null
  }

  /**
   * Null if strings of the isolate's books fill the memory. Removing an old one to make room would leave its readers
   * with half a book.
   */
  #createText(position: OrdersPosition): SnapshotText | null {
    const probe = textMemory.reserve(this.#lastChars, Date.now(), RESERVED_MS)
    if (probe === null) return null
    probe()
    const pieces = this.#orders.texts(PIECE_CHARS)
    const chars = pieces.reduce((sum, { length }) => sum + length, 0)
    this.#lastChars = chars
    const meta = { v: ORDER_BOOK_VERSION, ...position, pieces: pieces.length, chars, first: pieces[0] ?? '' }
    return { meta, pieces, cancelExpiry: () => undefined, release: () => undefined }
  }

  /** False if the memory is full. */
  #retain(text: SnapshotText): boolean {
    const { height, chars } = text.meta
    text.release()
    text.cancelExpiry()
    this.#snapshots.delete(height)
    const release = textMemory.reserve(chars, Date.now(), RESERVED_MS)
    if (release === null) return false
    text.release = release
    text.cancelExpiry = after(TEXT_MS, () => {
      release()
      this.#snapshots.delete(height)
    })
    this.#snapshots.set(height, text)
    return true
  }

  async snapshotPiece(height: number, index: number): Promise<string | null> {
    const text = this.#snapshots.get(height)
    return text && this.#retain(text) ? (text.pieces[index] ?? null) : null
  }
}
