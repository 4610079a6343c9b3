// Measures the archive of books at mainnet size: what a day takes, and what it costs to restore one coin's book after
// the last block before a checkpoint. Each read runs in a process of its own, whose peak memory is the figure.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ArchiveReader } from '../../src/archive/archive/archive-read.ts'
import type { CheckpointBooks } from '../../src/archive/archive/archive-runner.ts'
import type { CutSegment } from '../../src/archive/archive/segment-cutter.ts'
import { bookAt } from '../../src/archive/replay/archived-books.ts'
import { encodeBlock, hubBlockText } from '../../src/block-log/segment.ts'
import { sleep } from '../../src/core/timers.client.ts'
import type { BookChange, Level } from '../../src/protocol/feed/block.ts'
import { COIN, COINS, COINS_PER_BLOCK, SHALLOW } from './blocks.ts'
import { type Line, ms } from './table.ts'

// Files that use the platform's types are loaded without their types, which Node files do not have.
const ARCHIVE = '../../src/archive/archive'
const reader = async (storage: object): Promise<ArchiveReader> =>
  new (await import(`${ARCHIVE}/archive.store.ts`)).StoredArchive(storage)

interface Writer {
  putSegment(cut: CutSegment): Promise<number>
  putCheckpoint(books: CheckpointBooks): Promise<number>
}
const writerOf = async (storage: object): Promise<Writer> =>
  new (await import(`${ARCHIVE}/archive-writer.store.ts`)).ArchiveWriter(storage)

const CHAIN = 'bench'
const LEVELS = 650_000
/** Levels of the real BTC book. */
const DEEP = 21_378
const BLOCKS_A_MINUTE = 870
const MINUTE_MS = 60_000
const MINUTES = 15
const MB = 1e6
const PEAK_GOAL_MB = 64

interface Read {
  readonly cpuMs: number
  readonly peakMb: number
}

export async function pastBookLines({ quick, say }: { readonly quick: boolean; say(text: string): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-past-books-'))
  try {
    const minutes = quick ? 2 : MINUTES
    const { checkpointBytes, segmentBytes } = await writeArchive(folder, minutes)
    say(`${minutes} minutes of books are archived`)
    const last = minutes * BLOCKS_A_MINUTE
    const reads = [COIN, SHALLOW].map((coin) => [coin, readInProcess(folder, coin, last)] as const)
    const dayBytes = 96 * checkpointBytes + (24 * 60 * segmentBytes) / minutes
    const day: Line = {
      what: `books of a day: ${COINS.length} coins with ${LEVELS.toLocaleString('en')} levels, 311 changes a block`,
      weir: `${(dayBytes / 1e9).toFixed(2)} GB, of which checkpoints ${((96 * checkpointBytes) / 1e9).toFixed(2)} GB`,
    }
    return [
      day,
      ...reads.map(
        ([coin, read]): Line => ({
          what: `the book of ${coin} ${minutes} minutes after a checkpoint, read from the archive`,
          weir: `${ms(read.cpuMs)} of CPU time, ${Math.round(read.peakMb)} MB at most`,
          goal: `≤ ${PEAK_GOAL_MB} MB`,
          met: read.peakMb <= PEAK_GOAL_MB,
        }),
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readInProcess(folder: string, coin: string, height: number): Read {
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=1',
    '--max-old-space-size=20',
    import.meta.filename,
    folder,
    coin,
    String(height),
  ]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Read
}

/** R2 in a folder and D1 in a file. */
function storageIn(folder: string): object {
  const db = new DatabaseSync(join(folder, 'history.sqlite'))
  const statement = (sql: string, values: readonly never[] = []) => ({
    bind: (...bound: readonly never[]) => statement(sql, bound),
    first: async () => db.prepare(sql).get(...values) ?? null,
    all: async () => ({ results: db.prepare(sql).all(...values) }),
    run: async () => db.prepare(sql).run(...values),
  })
  const bucket = {
    async put(key: string, body: Uint8Array) {
      const path = join(folder, key)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, body)
      writeFileSync(`${path}.sha256`, createHash('sha256').update(body).digest())
    },
    async get(key: string, { range }: { range?: { offset: number; length: number } } = {}) {
      const path = join(folder, key)
      const { size } = statSync(path)
      const part = new Uint8Array(range?.length ?? size)
      const file = openSync(path, 'r')
      readSync(file, part, 0, part.length, range?.offset ?? 0)
      closeSync(file)
      const sha256 = new Uint8Array(readFileSync(`${path}.sha256`)).buffer
      return { size, checksums: { sha256 }, arrayBuffer: async () => part.buffer }
    },
  }
  const d1 = {
    prepare: (sql: string) => statement(sql),
    batch: async (statements: readonly { run(): Promise<unknown> }[]) => {
      for (const each of statements) await each.run()
    },
  }
  db.exec('PRAGMA journal_mode = WAL')
  return { chain: CHAIN, bucket, db: d1 }
}

async function writeArchive(folder: string, minutes: number) {
  const storage = storageIn(folder)
  const db = new DatabaseSync(join(folder, 'history.sqlite'))
  db.exec(readFileSync('schemas/d1/history/0001_history.sql', 'utf8'))
  db.close()
  const writer = await writerOf(storage)
  const random = randomFrom(7)
  const lines = COINS.map((coin) => {
    const count = coin === COIN ? DEEP : Math.floor((LEVELS - DEEP) / (COINS.length - 1))
    return JSON.stringify({ coin, height: 0, seq: 1, levels: bothSides(random, coin, count) })
  })
  const checkpointBytes = await writer.putCheckpoint({
    epoch: 'e',
    height: 0,
    through: 0,
    time: 0,
    coins: lines.length,
    unsure: 0,
    lines,
  })
  let segmentBytes = 0
  for (let minute = 0; minute < minutes; minute++) {
    const books = Array.from({ length: BLOCKS_A_MINUTE }, (_, at) =>
      blockLine(random, minute * BLOCKS_A_MINUTE + at + 1),
    )
    const first = minute * BLOCKS_A_MINUTE + 1
    const last = first + BLOCKS_A_MINUTE - 1
    const span = { first, last, firstMs: minute * MINUTE_MS, lastMs: (minute + 1) * MINUTE_MS - 1, epoch: 'e' }
    // Events are not measured.
    segmentBytes += (await writer.putSegment({ ...span, events: ['{}'], books })) - 22
  }
  return { checkpointBytes, segmentBytes }
}

/** Deterministic numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Prices of five digits around the coin's own, denser near the best one; sizes of four digits. */
function levelAt(random: () => number, coin: string, side: 0 | 1, at: number): Level {
  const mid = 10_000 + ((COINS.indexOf(coin) * 7_919) % 80_000)
  const px = side === 0 ? mid - 1 - at : mid + 1 + at
  return { px: `${Math.max(px, 1)}.0`, sz: (random() * 100).toFixed(2), n: 1 + Math.floor(random() * 9) }
}

function bothSides(random: () => number, coin: string, count: number): [Level[], Level[]] {
  const side = (index: 0 | 1) => Array.from({ length: count / 2 }, (_, at) => levelAt(random, coin, index, at))
  return [side(0), side(1)]
}

function blockLine(random: () => number, height: number): string {
  const start = Math.floor(random() * COINS.length)
  const changed = Array.from({ length: COINS_PER_BLOCK - 1 }, (_, at) => COINS[(start + at) % COINS.length]!)
  const books = [...new Set([COIN, ...changed])].map((coin): BookChange => {
    const counts = coin === COIN ? [8, 8] : [3, 2]
    const side = (index: 0 | 1) => {
      const places = new Set(Array.from({ length: counts[index]! }, () => Math.floor(random() ** 3 * 1_000)))
      return [...places].sort((a, b) => a - b).map((at) => levelAt(random, coin, index, at))
    }
    return { coin, levels: [side(0), side(1)] }
  })
  const time = Math.floor(((height - 1) * MINUTE_MS) / BLOCKS_A_MINUTE)
  const block = { height, time, fills: [], ledger: [], funding: [], books }
  return hubBlockText(encodeBlock(block, 'e'), () => true)
}

async function read(folder: string, coin: string, height: number): Promise<Read> {
  const storage = storageIn(folder)
  const beforeMb = process.memoryUsage.rss() / MB
  const before = process.cpuUsage()
  const result = await bookAt(await reader(storage), coin, height, { yield: () => sleep(0) })
  const { user, system } = process.cpuUsage(before)
  if (!result.ok || result.snapshot?.height !== height)
    throw new Error(`no book: ${JSON.stringify(result).slice(0, 200)}`)
  return { cpuMs: (user + system) / 1000, peakMb: peakMb() - beforeMb }
}

/** Highest resident memory of this process. */
function peakMb(): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return (Number(kb) * 1024) / MB
}

const [folder, coin, height] = process.argv.slice(2)
if (import.meta.main && folder !== undefined && coin !== undefined)
  process.stdout.write(JSON.stringify(await read(folder, coin, Number(height))))
