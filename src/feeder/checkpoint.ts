// The text of a checkpoint: order books as they stood after one block. Line by line, because all books of the real
// exchange are longer than a string may be. The height is also the place in the node's files: every line of theirs
// carries its height, so that the place is found again by a search, in whatever files it stands by then.
//
//   {"v":1,"chain":"…","height":9,"time":"…"}       head
//   coin TAB known TAB side oid px sz TAB …          one line per coin
//   end TAB count of coins TAB count of orders       a file without this line was cut off

import * as z from 'zod'
import { CoinName, Height } from '../feed/block.ts'
import type { Place } from './book-keeper.ts'
import type { SavedOrder } from './coin-orders.ts'
import { OrderBooks } from './order-books.ts'
import { isDecimal } from './raw-diff.ts'

const VERSION = 1
const Head = z.strictObject({ v: z.literal(VERSION), chain: z.string(), height: Height, time: z.string() })
type CheckpointHead = z.infer<typeof Head>

/** Lines of a checkpoint, without line feeds, to be written in this order. */
export function* encodeCheckpoint(chain: string, place: Place, books: OrderBooks): Generator<string> {
  yield JSON.stringify({ v: VERSION, chain, height: place.height, time: place.time } satisfies CheckpointHead)
  let coins = 0
  let orders = 0
  for (const { coin, known, orders: resting } of books.saved()) {
    let line = `${coin}\t${known ? 1 : 0}`
    for (const { oid, side, px, sz } of resting) {
      line += `\t${side} ${oid} ${px} ${sz}`
      orders++
    }
    coins++
    yield line
  }
  yield `end\t${coins}\t${orders}`
}

/** Reads the head line. Throws on anything else. */
export function decodeCheckpointHead(line: string): CheckpointHead {
  return Head.parse(JSON.parse(line))
}

/** Takes the lines after the head one by one. Throws on a line that cannot be read; `books` is whole after `done`. */
export class CheckpointReader {
  readonly books = new OrderBooks()
  /** True once the closing line was read and agreed. */
  done = false
  #coins = 0
  #orders = 0

  push(line: string): void {
    if (this.done) throw new Error('something follows the end')
    const [name, second, ...rest] = line.split('\t')
    if (name === 'end' && rest.length === 1 && !rest[0]!.includes(' ')) {
      if (Number(second) !== this.#coins || Number(rest[0]) !== this.#orders) throw new Error('counts do not agree')
      this.done = true
      return
    }
    const coin = CoinName.parse(name)
    this.books.load({ coin, known: second === '1', orders: rest.map(readOrder) })
    this.#coins++
    this.#orders += rest.length
  }
}

function readOrder(text: string): SavedOrder {
  const [side, oid, px, sz] = text.split(' ')
  const number = Number(oid)
  if ((side !== 'B' && side !== 'A') || !Number.isSafeInteger(number) || !isDecimal(px) || !isDecimal(sz))
    throw new Error(`no order: ${text.slice(0, 80)}`)
  return { oid: number, side, px, sz }
}
