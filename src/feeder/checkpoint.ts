// The text of a checkpoint: order books, coin by coin, each as it stood after a block of its own, because all of them
// at once would hold up the blocks. Line by line, because all of them are longer than a string may be. The heights are
// also the place in the node's files: every line of theirs carries its height, and is found again by a search.
//
//   {"v":2,"chain":"…","height":9,"time":"…"}       head: the block after which the first coin was taken
//   coin TAB known TAB height TAB side oid px sz …   one line per coin, or several: they follow each other
//   end TAB coins TAB orders TAB height TAB time     the block after which the last coin was taken; a file without this
//                                                    line was cut off
// A coin that is in no line had no book at the head's height. Law: the diffs after a coin's height, applied to its
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
/** Orders of a line: a few milliseconds of work. */
const LINE_ORDERS = 2_000

/** The coin that is being taken. `head`: of its lines, null while it is copied; from `at` on it is not yet in a line. */
interface CurrentCoin {
  readonly copy: OrderCopy
  readonly head: string | null
  readonly at: number
}

/** Takes a checkpoint of books while blocks go on between its steps. */
export class CheckpointPass {
  readonly head: string
  readonly #books: OrderBooks
  readonly #lineOrders: number
  /** Coins to be taken, the next one first. */
  readonly #coins: string[]
  #current: CurrentCoin | null = null
  readonly #finished: CoinOrders[] = []
  #orders = 0
  #lastPosition: BlockPosition

  constructor(chain: string, place: BlockPosition, books: OrderBooks, lineOrders: number = LINE_ORDERS) {
    this.head = JSON.stringify({ v: VERSION, chain, height: place.height, time: place.time } satisfies z.infer<
      typeof Head
    >)
    this.#books = books
    this.#lineOrders = lineOrders
    this.#coins = books.coins()
    this.#lastPosition = place
  }

  /** Whether it is a checkpoint of these books, none of which was replaced since it was taken. */
  isOf(books: OrderBooks | null): boolean {
    return books === this.#books && this.#finished.every((book) => books.isCurrent(book))
  }

  /** Height of the coin that was taken last: the checkpoint is of use once a reader has this block. */
  get height(): number {
    return this.#lastPosition.height
  }

  /**
   * The next lines, a few thousand orders having been copied, the books standing after `place`: null behind the last
   * ones, none amid a long coin and while the coins that are left are suspect.
   */
  step(place: BlockPosition): string[] | null {
    const lines: string[] = []
    for (let room = this.#lineOrders; room > 0; ) {
      this.#current ??= this.#next()
      const taking = this.#current
      if (!taking) break
      room = taking.head === null ? this.#copyMore(taking.copy, room, place) : this.#write(taking, room, lines)
    }
    return lines.length === 0 && !this.#current && this.#coins.length === 0 ? null : lines
  }

  /** Ends a pass that is of no use any more. */
  cancel(): void {
    this.#current?.copy.stop()
    this.#current = null
  }

  /** The closing line. */
  get end(): string {
    return `end\t${this.#finished.length}\t${this.#orders}\t${this.#lastPosition.height}\t${this.#lastPosition.time}`
  }

  /** The next coin that is not suspect; null where there is none. */
  #next(): CurrentCoin | null {
    const index = this.#coins.findIndex((coin) => !this.#books.suspects.has(coin))
    const [coin] = index < 0 ? [] : this.#coins.splice(index, 1)
    const copy = coin === undefined ? null : this.#books.copy(coin)
    return copy && { copy, at: 0, head: null }
  }

  /** Copies orders on; answers how much room is left for others. */
  #copyMore(copy: OrderCopy, room: number, place: BlockPosition): number {
    const { coin } = copy.book
    if (this.#books.suspects.has(coin) || !this.#books.isCurrent(copy.book)) {
      this.#coins.push(coin)
      this.cancel()
      return room - 1
    }
    const left = copy.step(room)
    if (left === 0) return 0
    // Complete: the coin is taken now, as it stands after this block.
    this.#lastPosition = place
    this.#finished.push(copy.book)
    this.#orders += copy.texts.length
    this.#current = { copy, at: 0, head: `${coin}\t${copy.book.known ? 1 : 0}\t${place.height}` }
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

/** Where a checkpoint begins. Throws with a sentence on any other head line. */
export function decodeCheckpointHead(line: string): z.infer<typeof Head> {
  const value = JSON.parse(line) as { v?: unknown } | null
  if (value?.v !== VERSION) throw new Error(`it is of version ${String(value?.v).slice(0, 20)}, not ${VERSION}`)
  return Head.parse(value)
}

/** The block after which the last coin was taken, by the closing line. Throws where it is none. */
export function decodeCheckpointEnd(line: string): BlockPosition & { readonly coins: number; readonly orders: number } {
  const [name, coins, orders, height, time, ...rest] = line.split('\t')
  if (name !== 'end' || !time || rest.length > 0) throw new Error('it is cut off')
  return { coins: Number(coins), orders: Number(orders), height: Height.parse(Number(height)), time }
}

/** Takes the lines after the head one by one. Throws on a line that cannot be read; all is whole after `done`. */
export class CheckpointReader {
  readonly books = new OrderBooks()
  /** Height of each coin. */
  readonly heights = new Map<string, number>()
  /** True once the closing line was read and agreed. */
  isDone = false
  #orders = 0

  push(line: string): void {
    if (this.isDone) throw new Error('something follows the end')
    const [name, known, height, ...orders] = line.split('\t')
    if (name === 'end' && orders[0]?.includes(' ') === false) {
      const end = decodeCheckpointEnd(line)
      if (end.coins !== this.heights.size || end.orders !== this.#orders) throw new Error('counts do not agree')
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

/** An order as `side oid px sz`. Throws where it is none. */
export function readOrder(text: string): SavedOrder {
  const [side, oid, px, sz] = text.split(' ')
  const number = Number(oid)
  if ((side !== 'B' && side !== 'A') || !Number.isSafeInteger(number) || !isDecimal(px) || !isDecimal(sz))
    throw new Error(`no order: ${text.slice(0, 80)}`)
  return { oid: number, side, px, sz }
}
