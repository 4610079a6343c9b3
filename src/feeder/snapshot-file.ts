// Splits the order-level snapshot that a node writes (fileSnapshot, compute-l4-snapshots) into one string per coin,
// because the real exchange's file is too long for a single string. The caller parses only the coins that it needs. Two
// shapes are accepted: `[[coin,[bids,asks]]…]` and `[height,[[coin,[bids,asks]]…]]`.

import * as z from 'zod'
import { CoinName } from '../protocol/feed/block.ts'
import type { L4Book } from '../protocol/feed/protocol.ts'
import type { SavedOrder } from './coin-orders.ts'
import { isDecimal } from './raw-diff.ts'

/** One coin of a snapshot, without untriggered trigger orders, which do not rest. */
export interface SnapshotCoin {
  readonly coin: string
  readonly orders: SavedOrder[]
}

const QUOTE = 34
const COMMA = 44
const OPEN = 91
const BACKSLASH = 92
const CLOSE = 93
/** Maximum length of one coin's string, in UTF-16 units. Ten times the length of the largest book today. */
const COIN_MAX_UNITS = 256 * 1024 * 1024

const NAME = /^\[\s*("(?:[^"\\]|\\.)*")/

/** The shape around the orders. The orders themselves are checked by hand, because there are hundreds of thousands. */
const Coin = z.tuple([CoinName, z.tuple([z.array(z.unknown()), z.array(z.unknown())])])

export class SnapshotScanner {
  /** Height in the file; null until it has been read, or if the file has no height. */
  height: number | null = null
  #depth = 0
  /** Depth at which a coin's string begins: 2 if the file has no height, 3 if it has one. */
  #coinDepth = 0
  #inString = false
  #escaped = false
  #head = ''
  #coinText: string[] | null = null
  #coinUnits = 0

  /** True once the outermost array has been closed. If it is false at the end, the file is incomplete. */
  get isComplete(): boolean {
    return this.#coinDepth > 0 && this.#depth === 0
  }

  /**
   * Accepts the next chunk. Returns the strings of the coins that it completes. Throws if the file has a different
   * shape.
   */
  push(text: string): string[] {
    const coins: string[] = []
    let begin = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (unit === BACKSLASH) this.#escaped = true
        else if (unit === QUOTE) this.#inString = false
      } else if (unit === QUOTE) this.#inString = true
      else if (unit === OPEN) {
        if (this.#onOpenBracket()) begin = i
      } else if (unit === CLOSE) {
        if (this.#depth === this.#coinDepth && this.#coinText) coins.push(this.#finish(text.slice(begin, i + 1)))
        this.#depth--
      } else if (this.#coinDepth === 0) this.#readHead(unit)
    }
    if (this.#coinText) this.#append(text.slice(begin))
    return coins
  }

  /** Counts an opening bracket. Returns true if a coin begins with it. */
  #onOpenBracket(): boolean {
    this.#depth++
    if (this.#depth === 2 && this.#coinDepth === 0) this.#coinDepth = 2
    if (this.#depth !== this.#coinDepth || this.#coinText) return false
    this.#coinText = []
    this.#coinUnits = 0
    return true
  }

  /** Digits before the first inner bracket are the height; the coins are then one level deeper. */
  #readHead(unit: number): void {
    if (unit === COMMA) {
      this.height = z.coerce.number().pipe(z.int().min(0)).parse(this.#head.trim())
      this.#coinDepth = 3
    } else this.#head += String.fromCharCode(unit)
    if (this.#head.length > 64)
      throw new Error('not an order-level snapshot: it starts with neither a height nor a list')
  }

  #append(text: string): void {
    this.#coinUnits += text.length
    if (this.#coinUnits > COIN_MAX_UNITS) throw new Error('one coin of the snapshot is longer than 256 MiB')
    this.#coinText?.push(text)
  }

  #finish(last: string): string {
    const text = (this.#coinText?.join('') ?? '') + last
    this.#coinText = null
    return text
  }
}

/** The coin that a string names. Throws if the string has no coin name. */
export function coinNameOf(text: string): string {
  return CoinName.parse(JSON.parse(NAME.exec(text)?.[1] ?? 'null'))
}

/** Parses a coin's string. Throws if it has a different shape. */
export function readCoin(text: string): SnapshotCoin {
  const { coin, sides } = readSides(text)
  const orders = sides.flatMap((side) => side.map(({ order }) => order))
  return { coin, orders }
}

/** Parses a coin's string, and keeps the node's own JSON of each order. */
function readSides(text: string) {
  const [coin, sides] = Coin.parse(JSON.parse(text))
  const entry = (value: unknown) => {
    const [user, whole] = Array.isArray(value) ? value : [null, value]
    const order = readOrder(whole, coin)
    return order ? [{ user, whole, order }] : []
  }
  return { coin, sides: sides.map((side) => side.flatMap(entry)) }
}

/** A resting order; null for an untriggered trigger order. */
function readOrder(value: unknown, coin: string): SavedOrder | null {
  const { oid, side, limitPx, sz, isTrigger } = (value ?? {}) as Record<string, unknown>
  if (isTrigger === true) return null
  if (!Number.isSafeInteger(oid) || (side !== 'B' && side !== 'A') || !isDecimal(limitPx) || !isDecimal(sz))
    throw new Error(`the snapshot has an unreadable order of ${coin}: ${JSON.stringify(value)?.slice(0, 200)}`)
  return { oid: oid as number, side, px: limitPx, sz }
}

/** Size of a part. A block waits for at most one part, and a frame has room for twice this size. */
const PART_UNITS = 256 * 1024

/** Fields of an order other than its user. */
const FIELDS = [
  'coin',
  'side',
  'limitPx',
  'sz',
  'oid',
  'timestamp',
  'triggerCondition',
  'isTrigger',
  'triggerPx',
  'isPositionTpsl',
  'reduceOnly',
  'orderType',
  'tif',
  'cloid',
] as const

/** Encodes a coin's string as frames. `height`: the snapshot's. Throws on an unreadable order. */
export function l4Frames(
  text: string,
  { height, time }: Pick<L4Book, 'height' | 'time'>,
  partUnits: number = PART_UNITS,
): string[] {
  const { coin, sides } = readSides(text)
  let run: [string[], string[]] = [[], []]
  const runs = [run]
  let used = 0
  for (const [side, orders] of sides.entries())
    for (const { user, whole } of orders) {
      const order = whole as Record<string, unknown>
      const row = JSON.stringify({ user, ...Object.fromEntries(FIELDS.map((name) => [name, order[name]])) })
      if (used > 0 && used + row.length > partUnits) {
        run = [[], []]
        runs.push(run)
        used = 0
      }
      run[side as 0 | 1].push(row)
      used += row.length + 1
    }
  const head = `{"type":"l4","coin":${JSON.stringify(coin)},"height":${height},"time":${time}`
  return runs.map(
    ([bids, asks], part) => `${head},"bids":[${bids}],"asks":[${asks}],"part":${part},"parts":${runs.length}}`,
  )
}
