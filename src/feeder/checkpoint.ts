// The content of a checkpoint: order books coin by coin, each copied after a different block, because copying all at
// once would delay the blocks. It is written in lines, because a single string cannot be that long. The heights are
// also positions in the node's files, because every line there has its height.
//
//   {"v":2,"chain":"…","height":9,"time":"…"}       head: the block after which the first coin was copied
//   coin TAB known TAB height TAB side oid px sz …   one line per coin, or several in a row
//   end TAB coins TAB orders TAB height TAB time     the block after which the last coin was copied; a file without this
//                                                    line is incomplete
// A coin without a line had no book at the head's height. Invariant: the diffs after a coin's height, applied to its
// book, give the book at any later height.

import * as z from 'zod'
import { CoinName, Height } from '../protocol/feed/block.ts'
import type { CoinOrders, SavedOrder } from './coin-orders.ts'
import type { BlockPosition } from './order-book-projector.ts'
import type { OrderCopy } from './order-books.ts'
import { OrderBooks } from './order-books.ts'
import { isDecimal } from './raw-diff.ts'

const VERSION = 2
const Head = z.strictObject({ v: z.literal(VERSION), chain: z.string(), height: Height, time: z.string() })
/** Orders per line. Copying them takes a few milliseconds. */
const LINE_ORDERS = 2_000

/**
 * The coin being copied or written. `head`: start of its first line; null until the copy is complete. `at`: index of
 * the first order not yet written.
 */
interface CurrentCoin {
  readonly copy: OrderCopy
  readonly head: string | null
  readonly at: number
}

/** Creates a checkpoint in steps, between which blocks continue. */
export class CheckpointPass {
  readonly head: string
  readonly #books: OrderBooks
  readonly #lineOrders: number
  /** Coins still to copy, in order. */
  readonly #coins: string[]
  #current: CurrentCoin | null = null
  readonly #finished: CoinOrders[] = []
  #orders = 0
  #lastPosition: BlockPosition

  constructor(chain: string, position: BlockPosition, books: OrderBooks, lineOrders: number = LINE_ORDERS) {
    this.head = JSON.stringify({ v: VERSION, chain, height: position.height, time: position.time } satisfies z.infer<
      typeof Head
    >)
    this.#books = books
    this.#lineOrders = lineOrders
    this.#coins = books.coins()
    this.#lastPosition = position
  }

  /** True if this is a checkpoint of these books, and no copied book has been replaced since. */
  isOf(books: OrderBooks | null): boolean {
    return books === this.#books && this.#finished.every((book) => books.isCurrent(book))
  }

  /** Height of the coin that was copied last. The checkpoint becomes usable once this block is durable. */
  get height(): number {
    return this.#lastPosition.height
  }

  /**
   * Copies a few thousand orders and returns the next lines. Returns null after the last line, and an empty list within
   * a long coin or while only suspect coins are left.
   */
  step(position: BlockPosition): string[] | null {
    const lines: string[] = []
    for (let room = this.#lineOrders; room > 0; ) {
      this.#current ??= this.#next()
      const taking = this.#current
      if (!taking) break
      room = taking.head === null ? this.#copyMore(taking.copy, room, position) : this.#write(taking, room, lines)
    }
    return lines.length === 0 && !this.#current && this.#coins.length === 0 ? null : lines
  }

  /** Cancels the pass. */
  cancel(): void {
    this.#current?.copy.stop()
    this.#current = null
  }

  /** The closing line. */
  get end(): string {
    return `end\t${this.#finished.length}\t${this.#orders}\t${this.#lastPosition.height}\t${this.#lastPosition.time}`
  }

  /** The next coin that is not suspect; null if there is none. */
  #next(): CurrentCoin | null {
    const index = this.#coins.findIndex((coin) => !this.#books.suspects.has(coin))
    const [coin] = index < 0 ? [] : this.#coins.splice(index, 1)
    const copy = coin === undefined ? null : this.#books.copy(coin)
    return copy && { copy, at: 0, head: null }
  }

  /** Copies up to `room` orders. Returns the remaining room. */
  #copyMore(copy: OrderCopy, room: number, position: BlockPosition): number {
    const { coin } = copy.book
    if (this.#books.suspects.has(coin) || !this.#books.isCurrent(copy.book)) {
      this.#coins.push(coin)
      this.cancel()
      return room - 1
    }
    const left = copy.step(room)
    if (left === 0) return 0
    // The copy is complete, so the coin counts as copied after this block.
    this.#lastPosition = position
    this.#finished.push(copy.book)
    this.#orders += copy.texts.length
    this.#current = { copy, at: 0, head: `${coin}\t${copy.book.known ? 1 : 0}\t${position.height}` }
    return left
  }

  #write({ copy, at, head }: CurrentCoin, room: number, lines: string[]): number {
    const texts = copy.texts.slice(at, at + room)
    lines.push([head, ...texts].join('\t'))
    const end = at + texts.length
    this.#current = end < copy.texts.length ? { copy, at: end, head } : null
    return room - texts.length - 1
  }
}

/** Reads the head line. Throws on any other line. */
export function decodeCheckpointHead(line: string): z.infer<typeof Head> {
  const value = JSON.parse(line) as { v?: unknown } | null
  if (value?.v !== VERSION) throw new Error(`it has version ${String(value?.v).slice(0, 20)}, not ${VERSION}`)
  return Head.parse(value)
}

/** Reads the closing line, which names the block after which the last coin was copied. Throws on any other line. */
export function decodeCheckpointEnd(line: string): BlockPosition & { readonly coins: number; readonly orders: number } {
  const [name, coins, orders, height, time, ...rest] = line.split('\t')
  if (name !== 'end' || !time || rest.length > 0) throw new Error('the file is incomplete')
  return { coins: Number(coins), orders: Number(orders), height: Height.parse(Number(height)), time }
}

/** Accepts the lines after the head. Throws on an unreadable line. The books are complete once `isDone` is true. */
export class CheckpointReader {
  readonly books = new OrderBooks()
  /** Height of each coin. */
  readonly heights = new Map<string, number>()
  /** True once the closing line has been read and its counts match. */
  isDone = false
  #orders = 0

  push(line: string): void {
    if (this.isDone) throw new Error('a line follows the closing line')
    const [name, known, height, ...orders] = line.split('\t')
    if (name === 'end' && orders[0]?.includes(' ') === false) {
      const end = decodeCheckpointEnd(line)
      if (end.coins !== this.heights.size || end.orders !== this.#orders) throw new Error('the counts do not match')
      this.isDone = true
      return
    }
    const coin = CoinName.parse(name)
    const isMore = this.heights.has(coin)
    this.books.load({ coin, known: known === '1', orders: orders.map(readOrder), isMore })
    this.heights.set(coin, Height.parse(Number(height)))
    this.#orders += orders.length
  }
}

/** Reads an order as `side oid px sz`. Throws on any other string. */
export function readOrder(text: string): SavedOrder {
  const [side, oid, px, sz] = text.split(' ')
  const number = Number(oid)
  if ((side !== 'B' && side !== 'A') || !Number.isSafeInteger(number) || !isDecimal(px) || !isDecimal(sz))
    throw new Error(`not an order: ${text.slice(0, 80)}`)
  return { oid: number, side, px, sz }
}
