// Books as `OrderBookDelta` in a Parquet catalog of NautilusTrader 1.x with 128-bit values, the default on Linux and macOS.
// Invariants: prices and sizes are exact; each block ends with F_LAST; a snapshot and a gap start with CLEAR.

import { join } from 'node:path'
import type { Coin } from '../../core/coin.ts'
import { SCALE_DECIMALS, toScaled, trimDecimal } from '../../core/decimal.ts'
import type { Level } from '../../protocol/feed/block.ts'
import { SourceError } from '../backfill/read-blocks.ts'
import type { BookFile, CoinDay } from './book-file.ts'
import type { TapeEvent } from './book-tape.ts'
import { type ParquetColumn, ParquetStream } from './parquet-stream.node.ts'

const BYTE = { type: 'INT32', converted_type: 'UINT_8', repetition_type: 'REQUIRED' } as const
const UNSIGNED = { type: 'INT64', converted_type: 'UINT_64', repetition_type: 'REQUIRED' } as const
const RAW_BYTES = 16
const RAW = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: RAW_BYTES, repetition_type: 'REQUIRED' } as const

const COLUMNS: readonly ParquetColumn[] = [
  { name: 'action', ...BYTE },
  { name: 'side', ...BYTE },
  { name: 'price', ...RAW },
  { name: 'size', ...RAW },
  { name: 'order_id', ...UNSIGNED },
  { name: 'flags', ...BYTE },
  { name: 'sequence', ...UNSIGNED },
  { name: 'ts_event', ...UNSIGNED },
  { name: 'ts_init', ...UNSIGNED },
]

const ACTION = { add: 1, update: 2, delete: 3, clear: 4 } as const
const SIDE = { none: 0, buy: 1, sell: 2 } as const
const F_LAST = 128
const F_SNAPSHOT = 32
/** Decimals of a raw value. */
const RAW_DECIMALS = 16
const TOO_FINE = 10n ** BigInt(SCALE_DECIMALS - RAW_DECIMALS)
const NS_PER_MS = 1_000_000n

interface Row {
  readonly action: number
  readonly side: number
  readonly level: Pick<Level, 'px' | 'sz'>
}
const CLEAR: Row = { action: ACTION.clear, side: SIDE.none, level: { px: '0', sz: '0' } }

export function nautilusFile(folder: string, { coin, day }: CoinDay): BookFile {
  const instrument = instrumentOf(coin)
  const directory = join(folder, 'data', 'order_book_deltas', instrument.replaceAll('/', ''))
  const stream = new ParquetStream(join(directory, `${day}.part`), COLUMNS)
  const file = new DeltaRows(stream)
  return {
    add: (event) => file.add(event),
    finish: async () => {
      const path = join(directory, `${file.name}.parquet`)
      stream.finish(path, { instrument_id: instrument, ...file.precisions })
      return { path, rows: stream.rows }
    },
    discard: () => stream.discard(),
  }
}

/** The ids that the adapter for Hyperliquid gives to perps. Spot pairs and outcomes keep the name of the exchange. */
function instrumentOf(coin: Coin): string {
  return /^[@#+]|\//.test(coin) ? `${coin}.HYPERLIQUID` : `${coin}-USD-PERP.HYPERLIQUID`
}

class DeltaRows {
  readonly #stream: ParquetStream
  #price = 0
  #size = 0
  #firstMs: number | null = null
  #lastMs = 0

  constructor(stream: ParquetStream) {
    this.#stream = stream
  }

  /** The times of the first and last row, as the catalog names files. */
  get name(): string {
    return `${nameOf(this.#firstMs ?? 0)}_${nameOf(this.#lastMs)}`
  }

  get precisions() {
    return { price_precision: String(this.#price), size_precision: String(this.#size) }
  }

  add(event: TapeEvent): void {
    if (event.kind === 'trade') return
    const { kind, height, timeMs } = event
    const isWhole = kind !== 'change'
    const levels =
      kind === 'gap'
        ? []
        : [...rowsOf(event.levels[0], SIDE.buy, isWhole), ...rowsOf(event.levels[1], SIDE.sell, isWhole)]
    const rows = isWhole ? [CLEAR, ...levels] : levels
    this.#firstMs ??= timeMs
    this.#lastMs = timeMs
    for (const [at, row] of rows.entries())
      this.#addRow(row, (isWhole ? F_SNAPSHOT : 0) | (at === rows.length - 1 ? F_LAST : 0), height, timeMs)
  }

  #addRow({ action, side, level: { px, sz } }: Row, flags: number, height: number, timeMs: number): void {
    this.#price = Math.max(this.#price, decimalsOf(px))
    this.#size = Math.max(this.#size, decimalsOf(sz))
    const timeNs = BigInt(timeMs) * NS_PER_MS
    this.#stream.add([action, side, rawOf(px), rawOf(sz), 0n, flags, BigInt(height), timeNs, timeNs])
  }
}

function rowsOf(levels: readonly Level[], side: number, isWhole: boolean): Row[] {
  return levels.map(({ px, sz, n }) => {
    if (n === 0) return { action: ACTION.delete, side, level: { px, sz: '0' } }
    // An update of a level that does not exist adds it.
    return { action: isWhole ? ACTION.add : ACTION.update, side, level: { px, sz } }
  })
}

/** Decimals without trailing zeros. */
function decimalsOf(text: string): number {
  const [, decimals = ''] = trimDecimal(text).split('.')
  return decimals === '0' ? 0 : decimals.length
}

/** A 128-bit integer with 16 decimals, little-endian. */
function rawOf(text: string): Uint8Array {
  const scaled = toScaled(text)
  if (scaled % TOO_FINE !== 0n)
    throw new SourceError(`${text} has more than ${RAW_DECIMALS} decimals, which NautilusTrader cannot store.`)
  const raw = new DataView(new ArrayBuffer(RAW_BYTES))
  raw.setBigUint64(0, BigInt.asUintN(64, scaled / TOO_FINE), true)
  raw.setBigUint64(8, scaled / TOO_FINE / 2n ** 64n, true)
  return new Uint8Array(raw.buffer)
}

function nameOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1).replaceAll(/[:.]/g, '-')}000000Z`
}
