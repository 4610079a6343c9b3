// Books and trades as a NumPy archive for hftbacktest 2.4: `data.npy` with 64 bytes per event. Invariants: times do not decrease;
// the header of the array is a multiple of 64 bytes long, which hftbacktest requires; memory does not depend on the number of events.

import { closeSync, createReadStream, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'
import type { Level } from '../../protocol/feed/block.ts'
import { SourceError } from '../backfill/read-blocks.ts'
import { type BookFile, type CoinDay, coinPath } from './book-file.ts'
import type { TapeEvent } from './book-tape.ts'

const FIELDS =
  "[('ev', '<u8'), ('exch_ts', '<i8'), ('local_ts', '<i8'), ('px', '<f8'), ('qty', '<f8'), ('order_id', '<u8'), ('ival', '<i8'), ('fval', '<f8')]"
const ROW_BYTES = 64
const BUFFER_ROWS = 16_384

/** Flags of `ev`, as defined by hftbacktest. */
const DEPTH = 1
const TRADE = 2
const DEPTH_CLEAR = 3
const DEPTH_SNAPSHOT = 4
const SELL = 2 ** 28
const BUY = 2 ** 29
/** Visible to the simulated exchange and to the strategy. */
const BOTH = 2 ** 31 + 2 ** 30
const NS_PER_MS = 1_000_000n

/** The archive has no receive times, so `local_ts` equals `exch_ts`. */
export function npzFile(folder: string, { coin, day }: CoinDay): BookFile {
  const path = join(folder, coinPath(coin), `${day}.npz`)
  const rows = new RowFile(`${path}.rows.part`)
  return {
    add: (event) => addRows(rows, event),
    finish: async () => {
      rows.flush()
      await writeZip(path, rows)
      rows.discard()
      return { path, rows: rows.count }
    },
    discard: () => {
      rows.discard()
      rmSync(`${path}.part`, { force: true })
    },
  }
}

function addRows(rows: RowFile, event: TapeEvent): void {
  const { timeMs } = event
  if (event.kind === 'trade') {
    const { side, px, sz } = event.trade
    return rows.add(TRADE + (side === 'B' ? BUY : SELL), timeMs, px, sz)
  }
  // Clears both sides. A book stays empty until the snapshot after the gap.
  if (event.kind !== 'change') rows.add(DEPTH_CLEAR, timeMs, '0', '0')
  if (event.kind === 'gap') return
  const kind = event.kind === 'snapshot' ? DEPTH_SNAPSHOT : DEPTH
  const [bids, asks] = event.levels
  const add = (side: number, { px, sz, n }: Level) => rows.add(kind + side, timeMs, px, n === 0 ? '0' : sz)
  for (const level of bids) add(BUY, level)
  for (const level of asks) add(SELL, level)
}

/** Rows in a file of their own, because the header of the array needs their number. */
class RowFile {
  readonly path: string
  readonly #file: number
  readonly #buffer = Buffer.alloc(ROW_BYTES * BUFFER_ROWS)
  #used = 0
  #isOpen = true
  #lastMs = Number.NEGATIVE_INFINITY
  count = 0

  constructor(path: string) {
    this.path = path
    mkdirSync(dirname(path), { recursive: true })
    this.#file = openSync(path, 'w')
  }

  add(event: number, timeMs: number, px: string, sz: string): void {
    const at = this.#used
    const buffer = this.#buffer
    // Block times may decrease slightly.
    this.#lastMs = Math.max(this.#lastMs, timeMs)
    const time = BigInt(this.#lastMs) * NS_PER_MS
    buffer.writeUInt32LE(BOTH + event, at)
    buffer.writeBigInt64LE(time, at + 8)
    buffer.writeBigInt64LE(time, at + 16)
    buffer.writeDoubleLE(Number(px), at + 24)
    buffer.writeDoubleLE(Number(sz), at + 32)
    this.#used += ROW_BYTES
    this.count++
    if (this.#used === buffer.length) this.flush()
  }

  flush(): void {
    writeSync(this.#file, this.#buffer, 0, this.#used)
    this.#used = 0
  }

  discard(): void {
    if (this.#isOpen) closeSync(this.#file)
    this.#isOpen = false
    rmSync(this.path, { force: true })
  }
}

/** The header of a one-dimensional array, version 1.0. */
function npyHeader(rows: number): Buffer {
  const text = `{'descr': ${FIELDS}, 'fortran_order': False, 'shape': (${rows},), }`
  const length = Math.ceil((10 + text.length + 1) / 64) * 64
  const start = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, (length - 10) & 255, (length - 10) >> 8])
  return Buffer.concat([start, Buffer.from(`${text.padEnd(length - 11)}\n`)])
}

const NAME = Buffer.from('data.npy')
const LOCAL_BYTES = 30 + NAME.length
/** Larger archives need another version of the format. */
const MAX_BYTES = 2 ** 32 - 1
/** 1980-01-01, because the same events should give the same file. */
const DOS_DATE = 0x21

interface Entry {
  readonly crc: number
  readonly packed: number
  readonly bytes: number
}

async function writeZip(path: string, rows: RowFile): Promise<void> {
  const header = npyHeader(rows.count)
  const bytes = header.length + rows.count * ROW_BYTES
  if (bytes > MAX_BYTES)
    throw new SourceError(`${path} would exceed 4 GiB. Export a shorter range with --from and --to.`)
  const part = `${path}.part`
  const file = openSync(part, 'w')
  try {
    let crc = 0
    async function* content() {
      crc = crc32(header)
      yield header
      for await (const piece of createReadStream(rows.path)) {
        crc = crc32(piece as Buffer, crc)
        yield piece as Buffer
      }
    }
    let packed = 0
    for await (const chunk of Readable.from(content()).pipe(createDeflateRaw({ level: 4 }))) {
      writeSync(file, chunk as Buffer, 0, (chunk as Buffer).length, LOCAL_BYTES + packed)
      packed += (chunk as Buffer).length
    }
    const entry = { crc, packed, bytes }
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), entryHead(entry), NAME])
    writeSync(file, local, 0, local.length, 0)
    const end = directoryOf(entry)
    writeSync(file, end, 0, end.length, LOCAL_BYTES + packed)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
}

/** The fields that the local header and the directory share: version 2.0, deflate, no extra fields. */
function entryHead({ crc, packed, bytes }: Entry): Buffer {
  const head = Buffer.alloc(26)
  head.writeUInt16LE(20, 0)
  head.writeUInt16LE(8, 4)
  head.writeUInt16LE(DOS_DATE, 8)
  head.writeUInt32LE(crc, 10)
  head.writeUInt32LE(packed, 14)
  head.writeUInt32LE(bytes, 18)
  head.writeUInt16LE(NAME.length, 22)
  return head
}

function directoryOf(entry: Entry): Buffer {
  const rest = Buffer.alloc(14)
  const listing = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), entryHead(entry), rest, NAME])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(listing.length, 12)
  end.writeUInt32LE(LOCAL_BYTES + entry.packed, 16)
  return Buffer.concat([listing, end])
}
