// An invented archive: blocks of two coins with known books, and the objects that the archive would have of them.

import { gzipSync } from 'node:zlib'
import { LevelBook } from '../../../src/order-books/level-book.ts'
import type { Level, Levels } from '../../../src/protocol/feed/block.ts'
import { seededRandom } from '../../kit/random.ts'

export const COINS = ['BTC', 'xyz:GOLD'] as const
const USERS = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
const MINUTE_MS = 60_000

export interface RecordedTrade {
  readonly side: 'B' | 'A'
  readonly px: string
  readonly sz: string
}

interface RecordedBlock {
  readonly height: number
  readonly time: number
  readonly epoch: string
  /** Each coin's whole book after the block. */
  readonly books: ReadonlyMap<string, Levels>
  readonly trades: readonly RecordedTrade[]
  readonly booksLine: string
  readonly eventsLine: string
}

export interface RecordedObject {
  readonly key: string
  readonly product: 'books' | 'events' | 'checkpoints'
  readonly from_height: number
  readonly to_height: number
  readonly from_ms: number
  readonly bytes: Buffer
}

export interface RecordingPlan {
  readonly startMs: number
  readonly blocks: number
  readonly stepMs: number
  readonly seed: number
  /** Heights that the archive never got. */
  readonly missing?: (height: number) => boolean
  /** Heights of which the changes are unknown. */
  readonly unknown?: (height: number) => boolean
  /** Heights before which the book of BTC was repaired. */
  readonly repaired?: (height: number) => boolean
  /** Heights from which a new epoch counts. */
  readonly epochs?: readonly number[]
  /** A checkpoint is written after these heights. */
  readonly checkpoints: (height: number) => boolean
}

const digits = (value: number, places: number) => String(Number(value.toFixed(places)))

export function record({ startMs, blocks, stepMs, seed, epochs = [], ...plan }: RecordingPlan) {
  const random = seededRandom(seed)
  const whole = (limit: number) => Math.floor(random() * limit)
  const books = new Map(COINS.map((coin) => [coin as string, new LevelBook()]))
  const mids = new Map<string, number>(COINS.map((coin, at) => [coin, 1_000 + 500 * at]))
  const recorded: RecordedBlock[] = []
  const checkpoints: RecordedObject[] = []
  for (let height = 100; height < 100 + blocks; height++) {
    const time = startMs + (height - 100) * stepMs
    const epoch = `e${epochs.filter((from) => from <= height).length}`
    const changes = COINS.flatMap((coin) => {
      if (height > 100 && whole(3) === 0) return []
      const mid = mids.get(coin)! + whole(3) - 1
      mids.set(coin, mid)
      const book = books.get(coin)!
      const crossing = (side: 0 | 1) =>
        book.levels()[side].filter(({ px }) => (side === 0 ? Number(px) >= mid : Number(px) <= mid))
      const removed = (side: 0 | 1) => crossing(side).map(({ px }): Level => ({ px, sz: '0', n: 0 }))
      const set = (side: 0 | 1): Level[] =>
        Array.from({ length: 1 + whole(3) }, () => {
          const px = digits(mid + (side === 0 ? -1 : 1) * (0.5 + whole(20) / 2), 1)
          return whole(4) === 0
            ? { px, sz: '0', n: 0 }
            : { px, sz: digits(0.001 + whole(5_000) / 1_000, 3), n: 1 + whole(4) }
        })
      const levels: Levels = [
        [...removed(0), ...set(0)],
        [...removed(1), ...set(1)],
      ]
      book.apply(levels)
      return [{ coin, levels, ...(height === 100 && { new: true }) }]
    })
    const trades: RecordedTrade[] = Array.from({ length: whole(3) }, () => ({
      side: whole(2) === 0 ? 'B' : 'A',
      px: `${mids.get('BTC')}.5`,
      sz: digits(0.001 + whole(100) / 1_000, 3),
    }))
    const repairs = plan.repaired?.(height) && { repaired: ['BTC'] }
    const isUnknown = plan.unknown?.(height) === true
    recorded.push({
      height,
      time,
      epoch,
      books: new Map([...books].map(([coin, book]) => [coin, book.levels()])),
      trades,
      booksLine: JSON.stringify({
        v: 1,
        t: 'block',
        epoch,
        height,
        time,
        px: {},
        ...repairs,
        books: isUnknown ? null : changes,
      }),
      eventsLine: JSON.stringify({
        epoch,
        v: 1,
        t: 'events',
        height,
        time,
        fills: fillsOf(trades, height, time),
        ledger: [],
      }),
    })
    if (plan.checkpoints(height)) checkpoints.push(checkpointOf(recorded.at(-1)!))
  }
  const kept = recorded.filter(({ height }) => plan.missing?.(height) !== true)
  return { blocks: recorded, objects: [...segmentsOf(kept), ...checkpoints] }
}

function fillsOf(trades: readonly RecordedTrade[], height: number, time: number) {
  return trades.flatMap(({ side, px, sz }, at) => {
    const fill = { coin: 'BTC', px, sz, time, hash: '0x0', tid: 10 * height + at + 1, startPosition: '0', dir: '' }
    return (['B', 'A'] as const).map((own, who) => [USERS[who], { ...fill, side: own, crossed: own === side }])
  })
}

function checkpointOf({ height, time, epoch, books }: RecordedBlock): RecordedObject {
  const lines = [...books].map(([coin, levels]) => JSON.stringify({ coin, height, seq: height, levels }))
  const head = { epoch, height, time, coins: lines.length, members: [...books.keys()].map((coin) => [coin, 1]) }
  // A member per line, as the archive has them.
  const bytes = Buffer.concat([JSON.stringify(head), ...lines].map((line) => gzipSync(`${line}\n`)))
  const product = 'checkpoints'
  return {
    key: `archive/c/checkpoints/${height}.gz`,
    product,
    from_height: height,
    to_height: height,
    from_ms: time,
    bytes,
  }
}

/** A segment ends with its minute, its epoch, or before a missing height. */
function segmentsOf(blocks: readonly RecordedBlock[]): RecordedObject[] {
  const parts: RecordedBlock[][] = []
  for (const block of blocks) {
    const last = parts.at(-1)?.at(-1)
    const isNext =
      last &&
      last.height + 1 === block.height &&
      last.epoch === block.epoch &&
      Math.floor(last.time / MINUTE_MS) === Math.floor(block.time / MINUTE_MS)
    if (isNext) parts.at(-1)!.push(block)
    else parts.push([block])
  }
  return (['books', 'events'] as const).flatMap((product) =>
    parts.map((part) => {
      const first = part[0]!
      const last = part.at(-1)!
      const key = `archive/c/day/${first.height}-${last.height}.${product}.gz`
      const text = part.map(({ booksLine, eventsLine }) => `${product === 'books' ? booksLine : eventsLine}\n`).join('')
      return {
        key,
        product,
        from_height: first.height,
        to_height: last.height,
        from_ms: first.time,
        bytes: gzipSync(text),
      }
    }),
  )
}
