// Benchmarks the feeder's order books per raw diff: it reads raw diffs, updates exact order books, and writes net
// level changes. It uses recorded blocks of the exchange if they are present, otherwise devnet's. Every block is
// applied to new books, because the same diff never arrives twice in production.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createEngine } from '../../src/devnet/engine.ts'
import { OrderBooks } from '../../src/feeder/order-books.ts'
import { readRawDiff } from '../../src/feeder/raw-diff.ts'
import { readCoin, type SnapshotCoin, SnapshotScanner } from '../../src/feeder/snapshot-file.ts'
import { median } from '../kit/statistics.ts'
import { type Line, times, whole } from './table.ts'

const CAPTURE = join(import.meta.dirname, '../../../shared/wire/samples/node-capture')
const GOAL_US = 2

interface Input {
  readonly name: string
  readonly seed: readonly SnapshotCoin[]
  readonly blocks: readonly (readonly unknown[])[]
}

/** Microseconds per raw diff, medians of passes over the whole recording, parsing alone and ours in turn. */
export function coreLine(quick: boolean): Line {
  const input = existsSync(join(CAPTURE, 'l2-golden.json')) ? recorded() : simulated()
  const diffs = diffsIn(input.blocks)
  const texts = input.blocks.map((events) => JSON.stringify(events))
  const parsing: number[] = []
  const ours: number[] = []
  for (let pass = 0; pass < (quick ? 7 : 21); pass++) {
    parsing.push((passOfParsing(input, texts) * 1000) / diffs)
    ours.push((passOfOurs(input) * 1000) / diffs)
  }
  const bare = median(parsing)
  const weir = median(ours)
  return {
    what: `book core per raw diff (${input.name}, ${whole(diffs)} diffs)`,
    bare: `${bare.toFixed(2)} µs (its JSON.parse)`,
    weir: `${weir.toFixed(2)} µs`,
    ratio: times(weir / bare),
    goal: `≤ ${GOAL_US} µs`,
    met: weir <= GOAL_US,
  }
}

function passOfOurs({ seed, blocks }: Input): number {
  const books = new OrderBooks()
  for (const coin of seed) books.load({ ...coin, known: true })
  let length = 0
  const start = performance.now()
  for (const events of blocks) {
    for (const event of events) {
      const diff = readRawDiff(event)
      if (!diff) throw new Error(`a diff that cannot be read: ${JSON.stringify(event)}`)
      books.apply(diff)
    }
    length += JSON.stringify(books.endBlock()).length
  }
  const took = performance.now() - start
  if (books.misfits > 0 || length === 0) throw new Error('the recording does not fit its snapshot')
  return took
}

/** The same diffs, only read from their JSON: what is paid before any book is touched. */
function passOfParsing({ blocks }: Input, texts: readonly string[]): number {
  let events = 0
  const start = performance.now()
  for (const text of texts) events += (JSON.parse(text) as unknown[]).length
  const took = performance.now() - start
  if (events !== diffsIn(blocks)) throw new Error('not every diff was read')
  return took
}

const diffsIn = (blocks: Input['blocks']) => blocks.reduce((sum, events) => sum + events.length, 0)

function recorded(): Input {
  const text = gunzipSync(readFileSync(join(CAPTURE, 'l4Snapshot.985148181.json.gz'))).toString()
  const seed = new SnapshotScanner().push(text).map(readCoin)
  const lines = readFileSync(join(CAPTURE, 'node_raw_book_diffs_by_block.jsonl'), 'utf8').trim().split('\n')
  const blocks = lines.map((line) => (JSON.parse(line) as { events: unknown[] }).events)
  return { name: 'recorded BTC blocks', seed, blocks }
}

/** Devnet from its first block on, when its books are empty. */
function simulated(): Input {
  const engine = createEngine(1)
  const blocks = Array.from({ length: 600 }, () => engine.step().rawDiffs as readonly unknown[])
  return { name: 'devnet blocks', seed: [], blocks }
}
