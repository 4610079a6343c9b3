// Encoded frames that are not yet durable at the gateway, in sending order. Invariant: an item leaves only when it is
// acknowledged. A block is acknowledged by its height. Snapshots get no acknowledgement of their own, but frames are
// accepted in order, so a snapshot is acknowledged by any later height.

import type { Block } from '../protocol/feed/block.ts'
import { encodeFrame, JOINED_MAX_UNITS, PartJoiner } from '../protocol/feed/parts.ts'
import { BlockFrame, type Verified } from '../protocol/feed/protocol.ts'
import { EXTRA_STREAMS } from './streams.ts'

/**
 * While more characters than this are unsent, new blocks omit the rows of coins and signed actions, which are the bulk,
 * because all clients wait for blocks.
 */
const MAX_UNSENT_ROW_UNITS = 8 * 1024 * 1024

/**
 * Maximum length of a block with payments. Such a block has about 80,000 wallets, and creating its file takes 100 MB of
 * memory.
 */
const PAYMENTS_MAX_UNITS = 12 * 1024 * 1024

/** Parts of a block that a gateway names in `want`. */
export const EXTRA_PARTS = [...EXTRA_STREAMS, 'replica'] as const
/** Parts of a block that a gateway may not support or not want. */
export const OPTIONAL_PARTS = ['payments', ...EXTRA_PARTS] as const
export type OptionalPart = (typeof OPTIONAL_PARTS)[number]

interface OutboxItem {
  readonly kind: 'block' | 'snapshot' | 'gone' | 'verified'
  /** The last height of a `gone`. */
  readonly height: number
  /** The first height of a `gone`; otherwise the height. */
  readonly from: number
  readonly scope: 'all' | 'coins' | null
  readonly coins: readonly string[]
  readonly texts: readonly string[]
  readonly payments?: 'known' | 'unknown'
  readonly parts?: readonly OptionalPart[]
  /**
   * Characters that count towards the limit on production. 0 for a snapshot, whose size must not stop the next block.
   */
  readonly units: number
}

/** A snapshot whose parts are still being created. */
interface OpenSnapshot extends OutboxItem {
  readonly texts: string[]
  isOpen: boolean
}

export class Outbox {
  #items: OutboxItem[] = []
  /** Number of items sent in full. */
  #sent = 0
  /** Number of frames sent of the next item. */
  #sentTexts = 0
  #units = 0
  #currentSnapshot: OpenSnapshot | null = null

  /** Characters in the outbox. Nearly all are ASCII, so this is about the number of bytes. */
  get units(): number {
    return this.#units
  }

  get length(): number {
    return this.#items.length
  }

  /** Items that were sent, at least in part, and not acknowledged. */
  get inFlight(): readonly OutboxItem[] {
    return this.#items.slice(0, this.#sentTexts > 0 ? this.#sent + 1 : this.#sent)
  }

  /** True when an acknowledgement is due soon if the gateway is healthy. */
  get awaitsAck(): boolean {
    return this.#sent > 0 && this.#items.slice(0, this.#sent).some((item) => item.kind === 'block')
  }

  /**
   * Adds a block and returns it as it will be sent. A block that is too long for the gateway loses its rows of coins and
   * its signed actions, then its payments. Rows and actions are also left out while too much is unsent.
   */
  pushBlock(block: Block): Block {
    const { l4, replica, ...bare } = block
    const hasBulk = l4 !== undefined || replica !== undefined
    // The hourly payments are just as large, but they are sent at once, so they do not count.
    const unsent = this.#items.slice(this.#sent).filter(({ payments }) => payments !== 'known')
    if (hasBulk && unitsOf(unsent) > MAX_UNSENT_ROW_UNITS) return this.pushBlock(bare)
    const item = itemOf('block', block.height, block.height, encodeFrame({ type: 'block', ...block }))
    if (hasBulk && item.units > JOINED_MAX_UNITS) return this.pushBlock(bare)
    if (block.payments && item.units > PAYMENTS_MAX_UNITS) return this.pushBlock({ ...block, payments: null })
    this.#push(withParts(item, block))
    return block
  }

  /** Adds digests of the books after the last block. */
  pushVerified(frame: Verified): void {
    this.#push(itemOf('verified', frame.height, frame.height, [JSON.stringify(frame)]))
  }

  /** Adds a snapshot whose parts follow. Nothing else may be added before its last part. */
  openSnapshot(scope: 'all' | 'coins', height: number, coins: readonly string[]): void {
    this.#currentSnapshot = { kind: 'snapshot', height, from: height, scope, coins, texts: [], units: 0, isOpen: true }
    this.#push(this.#currentSnapshot)
  }

  /** Adds a part to the current snapshot and returns the snapshot; null if the snapshot was dropped. */
  pushPart(text: string, isLast: boolean): OutboxItem | null {
    const open = this.#currentSnapshot
    if (!open || this.#items.at(-1) !== open) return null
    open.texts.push(text)
    if (isLast) {
      open.isOpen = false
      this.#currentSnapshot = null
    }
    return open
  }

  /** Drops the current snapshot, because its remaining parts will not arrive. */
  dropOpenSnapshot(): void {
    this.dropSnapshots((item) => item === this.#currentSnapshot)
    this.#currentSnapshot = null
  }

  /** Adds a notice that heights `from` to `to` will never arrive. */
  pushGone(from: number, to: number): void {
    this.#push(goneItem(from, to))
  }

  /** Drops the items that are durable once `height` is durable. */
  ack(height: number): void {
    let done = 0
    for (const item of this.#items) {
      if (item.kind === 'snapshot' ? item.height >= height : item.height > height) break
      done++
      this.#units -= item.units
    }
    this.#items.splice(0, done)
    if (this.#sent < done) this.#sentTexts = 0
    this.#sent = Math.max(0, this.#sent - done)
  }

  /** True if the items include `height` and every later height. */
  covers(height: number): boolean {
    const first = this.#items.find((item) => item.kind !== 'snapshot')
    const last = this.#items.findLast((item) => item.kind !== 'snapshot')
    return first !== undefined && last !== undefined && first.from <= height && last.height >= height
  }

  /** Sends again, starting with the item of `height`. */
  rewind(height: number): void {
    const index = this.#items.findIndex((item) => item.height >= height)
    this.#sent = index < 0 ? this.#items.length : index
    this.#sentTexts = 0
  }

  /** True when everything has been sent, including all parts of a snapshot. */
  get isAllSent(): boolean {
    return this.#sent === this.#items.length
  }

  /** The next frame to send; null when everything is sent. */
  next(): string | null {
    const item = this.#items[this.#sent]
    const text = item?.texts[this.#sentTexts]
    if (!item || text === undefined) return null
    this.#sentTexts++
    if (this.#sentTexts === item.texts.length && !isOpen(item)) {
      this.#sent++
      this.#sentTexts = 0
    }
    return text
  }

  /** Drops the snapshots that `drop` selects. */
  dropSnapshots(drop: (item: OutboxItem) => boolean): void {
    this.#drop((item) => item.kind === 'snapshot' && drop(item))
  }

  #drop(drop: (item: OutboxItem) => boolean): void {
    const sent = this.#items.slice(0, this.#sent)
    const current = this.#items[this.#sent]
    const keep = (item: OutboxItem) => !drop(item)
    this.#items = this.#items.filter(keep)
    this.#sent = sent.filter(keep).length
    if (current && !keep(current)) this.#sentTexts = 0
    this.#units = unitsOf(this.#items)
  }

  /** True if a snapshot of all books is in the outbox. */
  get hasSeed(): boolean {
    return this.#items.some((item) => item.scope === 'all')
  }

  /**
   * Marks the book changes in blocks before the first snapshot of all books as unknown, because the gateway has no
   * books to apply them to.
   */
  clearBooks(): void {
    const seed = this.#items.findIndex((item) => item.scope === 'all')
    this.#items = this.#items.map((item, index) => (seed >= 0 && index > seed ? item : reencode(item, { books: null })))
    this.#units = unitsOf(this.#items)
  }

  /** Removes parts from the blocks, because the gateway does not support them. */
  dropParts(dropped: readonly OptionalPart[]): void {
    const without = Object.fromEntries(dropped.map((name) => [name, undefined]))
    const isAffected = ({ parts = [] }: OutboxItem) => parts.some((name) => dropped.includes(name))
    this.#items = this.#items.map((item) => (isAffected(item) ? reencode(item, without) : item))
    this.#units = unitsOf(this.#items)
  }

  /** Declares the block of `height` a gap, after which the books are unknown. */
  giveUp(height: number): void {
    const index = this.#items.findIndex((item) => item.kind === 'block' && item.height === height)
    if (index < 0) return
    this.#items[index] = goneItem(height, height)
    this.clearBooks()
    this.rewind(height)
  }

  clear(): void {
    this.#items = []
    this.#sent = 0
    this.#sentTexts = 0
    this.#units = 0
  }

  #push(item: OutboxItem): void {
    this.#items.push(item)
    this.#units += item.units
  }
}

const unitsOf = (items: readonly OutboxItem[]) => items.reduce((sum, { units }) => sum + units, 0)
const isOpen = (item: OutboxItem): boolean => (item as Partial<OpenSnapshot>).isOpen === true

function itemOf(kind: OutboxItem['kind'], from: number, height: number, texts: readonly string[]): OutboxItem {
  const units = texts.reduce((sum, text) => sum + text.length, 0)
  return { kind, height, from, scope: null, coins: [], texts, units }
}

function goneItem(from: number, to: number): OutboxItem {
  return itemOf('gone', from, to, [JSON.stringify({ type: 'gone', first: to + 1 })])
}

function withParts(item: OutboxItem, block: Pick<Block, OptionalPart>): OutboxItem {
  const parts = OPTIONAL_PARTS.filter((name) => block[name] !== undefined)
  const payments = parts.includes('payments') && ({ payments: block.payments ? 'known' : 'unknown' } as const)
  return { ...item, parts, ...payments }
}

/** Returns a block with some fields changed. Other items are returned unchanged. */
function reencode(item: OutboxItem, change: Partial<BlockFrame>): OutboxItem {
  if (item.kind !== 'block') return item
  const joiner = new PartJoiner()
  let whole: BlockFrame | null = null
  for (const text of item.texts) {
    const joined = joiner.push(BlockFrame.parse(JSON.parse(text)))
    if (joined && !('refused' in joined)) whole = joined
  }
  if (!whole) throw new Error('an outbox item holds parts of different frames')
  const frame = { ...whole, ...change }
  return withParts(itemOf('block', item.from, item.height, encodeFrame(frame)), frame)
}
