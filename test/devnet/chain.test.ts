// The files on disk: recovery from a kill at any point, hour rollover, pruning, refusals.

import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Chain, type ChainOptions } from '../../src/devnet/chain.node.ts'
import { createEngine } from '../../src/devnet/engine.ts'
import { EVENTS, SPARSE_STREAMS, STREAMS } from '../../src/devnet/exchange/node-block.ts'
import { SMALL } from '../../src/devnet/exchange/scale.ts'
import { NodeFiles } from '../../src/feeder/node-files.node.ts'
import { RebuiltBooks } from './rebuild.ts'

const START = BigInt(Date.UTC(2026, 0, 2, 3, 4, 5)) * 1_000_000n
const MS = 1_000_000n
const HOUR = 3_600_000n * MS
/** Streams with one line per block. */
const DENSE = STREAMS.filter((stream) => !SPARSE_STREAMS.some((sparse) => sparse === stream))
const KEEP_BYTES = 64 * 1024 * 1024

let folder: string
let options: ChainOptions
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devnet-'))
  options = {
    data: join(folder, 'data'),
    seed: 7,
    scale: SMALL,
    fundingBlocks: 40,
    keepHours: 2,
    keepBytes: KEEP_BYTES,
    oracle: join(folder, 'oracle'),
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Line {
  block_number: number
  block_time: string
  local_time: string
  events: unknown[]
}

function filesOf(dir: string): string[] {
  const dates = readdirSync(join(dir, 'hourly')).sort()
  return dates.flatMap((date) =>
    readdirSync(join(dir, 'hourly', date))
      .sort((a, b) => Number(a) - Number(b))
      .map((hour) => join(dir, 'hourly', date, hour)),
  )
}

/** Heights of the lines of a stream. */
const heightsOf = (stream: string) => linesOf(join(options.data, stream)).map((line) => line.block_number)
const linesOf = <T = Line>(dir: string): T[] =>
  filesOf(dir).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T),
  )

function run(chain: Chain, blocks: number, from = START): void {
  for (let i = 1; i <= blocks; i++) chain.advance(from + BigInt(i) * 70n * MS)
}

describe('a kill', () => {
  it('at any moment loses nothing and writes nothing twice', () => {
    run(Chain.open(options), 60)
    // Killed between two streams, with a partial line in a third. The only checkpoint is the one of height 0.
    const [fills, statuses, diffs, misc] = STREAMS.map((stream) => filesOf(join(options.data, stream))[0]!)
    dropLines(statuses!, 1)
    dropLines(diffs!, 2)
    appendFileSync(fills!, '{"local_time":"2026-01-02T03:0')
    const before = readFileSync(misc!, 'utf8')
    const chain = Chain.open(options)
    expect(chain.engine.height).toBe(60)
    expect(readFileSync(misc!, 'utf8')).toBe(before)
    run(chain, 10, START + 60n * 1000n * MS)
    chain.close()
    checkStreams(70)
  })

  it('after a checkpoint resumes with the times in the files', () => {
    const first = Chain.open(options)
    run(first, 30)
    first.checkpoint()
    run(first, 25, START + 10n * 1000n * MS)
    first.close()
    const again = Chain.open(options)
    expect(again.engine.checkpoint()).toEqual(first.engine.checkpoint())
  })

  it('keeps the history of wallets and coins in the files', () => {
    const first = Chain.open(options)
    run(first, 120)
    first.checkpoint()
    run(first, 25, START + 30n * 1000n * MS)
    first.close()
    const again = Chain.open(options)
    const before = first.engine.history
    const after = again.engine.history
    const users = first.engine.exchange.accounts.map(({ address }) => address)
    expect(users.some((user) => before.wallet(user)?.fills.last() !== undefined)).toBe(true)
    for (const user of users) {
      expect(after.wallet(user)?.fills.toArray()).toEqual(before.wallet(user)?.fills.toArray())
      expect(after.wallet(user)?.ledger.toArray()).toEqual(before.wallet(user)?.ledger.toArray())
      expect([...(after.wallet(user)?.orders ?? [])]).toEqual([...(before.wallet(user)?.orders ?? [])])
    }
    const candles = (past: typeof before) =>
      past.candles.map((series) => series.within('1m', Number(START / MS), Number.MAX_VALUE))
    expect(candles(after)).toEqual(candles(before))
    again.close()
  })

  it('before the first block, or without block files, is harmless', () => {
    Chain.open(options).close()
    const chain = Chain.open(options)
    run(chain, 3)
    chain.checkpoint()
    chain.close()
    for (const stream of STREAMS) rmSync(join(options.data, stream), { recursive: true })
    const later = Chain.open(options)
    run(later, 2, START + HOUR)
    expect(heightsOf(STREAMS[0])).toEqual([4, 5])
  })

  it("does not change the oracle's book hashes", () => {
    run(Chain.open(options), 30)
    const chain = Chain.open(options)
    run(chain, 30, START + 5n * 1000n * MS)
    chain.close()
    const books = new RebuiltBooks()
    const oracle = linesOf<{ height: number; books: Record<string, string> }>(options.oracle!)
    const diffs = linesOf(join(options.data, 'node_raw_book_diffs_by_block'))
    expect(oracle.map(({ height }) => height)).toEqual(diffs.map((line) => line.block_number))
    diffs.forEach(({ events }, i) => {
      books.apply(events as never)
      for (const [coin, hash] of Object.entries(oracle[i]!.books)) expect(books.hash(coin)).toBe(hash)
    })
  })
})

function dropLines(path: string, n: number): void {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  truncateSync(path, Buffer.byteLength(`${lines.slice(0, -n).join('\n')}\n`))
}

/**
 * The streams have the heights 1 to `last` once, with one block time each, and the content of an engine that never
 * stopped.
 */
function checkStreams(last: number): void {
  const engine = createEngine(options.seed, { fundingBlocks: options.fundingBlocks })
  const streams = STREAMS.map((stream) => linesOf(join(options.data, stream)))
  for (const { block_number: height, block_time: time } of streams[0]!.slice(0, last)) {
    const block = engine.step(toNs(time))
    expect(block.height).toBe(height)
    const all = STREAMS.map((stream) => block[EVENTS[stream]])
    const written = JSON.parse(JSON.stringify(all)) as unknown[][]
    const expected = written.map((events, i) => (i < DENSE.length || events.length > 0 ? [[time, events]] : []))
    const lines = streams.map((stream) => stream.filter((line) => line.block_number === height))
    expect(lines.map((found) => found.map(({ block_time, events }) => [block_time, events]))).toEqual(expected)
  }
  expect(streams[0]).toHaveLength(last)
}

const toNs = (iso: string) => BigInt(Date.parse(`${iso.slice(0, 19)}Z`)) * MS + BigInt(iso.slice(20))

describe('hours', () => {
  it('start a new file by local time and drop old ones', () => {
    const chain = Chain.open(options)
    for (let hour = 0; hour < 30; hour++) {
      chain.advance(START + BigInt(hour) * HOUR)
      const files = filesOf(join(options.data, STREAMS[0])).map((path) => path.split('/').slice(-2).join('/'))
      expect(files.length).toBe(Math.min(hour + 1, 2))
      expect(files.at(-1)).toBe(`2026010${2 + Math.floor((hour + 3) / 24)}/${(hour + 3) % 24}`)
    }
    expect(readdirSync(join(options.data, STREAMS[0], 'hourly'))).toEqual(['20260103'])
    expect(filesOf(options.oracle!)).toHaveLength(2)
  })

  it('block times keep rising when the clock goes back', () => {
    const chain = Chain.open(options)
    const [a, b, c] = [START, START - HOUR, START + 1n].map((at) => chain.advance(at))
    expect(b!.timeNs).toBe(a!.timeNs + 1n)
    expect(c!.timeNs).toBeGreaterThan(b!.timeNs)
    const local = linesOf(join(options.data, STREAMS[0])).map((line) => line.local_time)
    expect(local).toEqual([...local].sort())
  })
})

describe('bytes', { timeout: 120_000 }, () => {
  it('are limited: the newest heights stay complete and without a gap, across hours and kills', () => {
    const keepBytes = 512 * 1024
    const end = START + (55n * 60n + 30n) * 1000n * MS
    let chain = Chain.open({ ...options, keepBytes })
    const streams = DENSE.map((stream) => join(options.data, stream))
    const heights = (dir: string) => linesOf(dir).map((line) => line.block_number)
    let cuts = 0
    let before = 0
    for (let turn = 1; turn <= 12; turn++) {
      run(chain, 60, end + BigInt(turn * 60) * 70n * MS)
      chain.checkpoint()
      for (const dir of streams) {
        const bytes = filesOf(dir).reduce((sum, path) => sum + statSync(path).size, 0)
        expect(bytes).toBeLessThanOrEqual(keepBytes)
        const held = heights(dir)
        expect(held).toEqual(held.map((_, i) => 60 * turn - held.length + 1 + i))
      }
      const held = heights(streams[2]!).length
      if (held < before + 60) cuts++
      before = held
      // Killed, with an incomplete truncation on disk.
      writeFileSync(join(streams[2]!, 'hourly.next'), '{"local')
      chain = Chain.open({ ...options, keepBytes })
    }
    expect(cuts).toBeGreaterThan(1)
    expect(heights(options.oracle!)).toHaveLength(720)
    expect(filesOf(options.oracle!)).toHaveLength(2)
    chain.close()
  })

  it('are trimmed while a feeder reads, which misses nothing', async () => {
    const chain = Chain.open({ ...options, keepBytes: 1024 * 1024 })
    // The order books fill: so many changes that only the last blocks are retained.
    run(chain, 60)
    const said: string[] = []
    const files = new NodeFiles(options.data)
    const reader = await files.open(['fills', 'diffs'], 61, null, (sentence) => said.push(sentence))
    const seen: unknown[] = []
    const inodes = new Set<number>()
    for (let turn = 1; turn <= 25; turn++) {
      run(chain, 20, START + BigInt(turn * 100) * 70n * MS)
      inodes.add(statSync(filesOf(join(options.data, 'node_raw_book_diffs_by_block'))[0]!).ino)
      // In the turns between, it falls behind by less than half of the retained bytes: data truncated twice is lost.
      for (let look = 0; turn % 3 === 1 && look < 12; look++) {
        await reader.pump(turn * 100_000 + look * 1_000)
        for (let next = reader.take(); next !== null; next = reader.take())
          seen.push(next.kind === 'block' ? next.height : next)
      }
    }
    expect(seen).toEqual(Array.from({ length: 500 }, (_, i) => 61 + i))
    expect(reader.hasStartedOver).toBe(false)
    expect(inodes.size).toBeGreaterThan(2)
    expect(said.filter((sentence) => !sentence.includes('was rewritten'))).toEqual([])
    await reader.close()
    chain.close()
  })
})

describe('refusals', () => {
  it('a folder with a different seed', () => {
    Chain.open(options).close()
    expect(() => Chain.open({ ...options, seed: 8 })).toThrow(/seed 7, not 8/)
    expect(() => Chain.open({ ...options, fundingBlocks: 41 })).toThrow(/every 40 blocks, not 41/)
  })

  it("a real node's folder, and a broken checkpoint", () => {
    const hourly = join(options.data, STREAMS[0], 'hourly', '20260102')
    mkdirSync(hourly, { recursive: true })
    writeFileSync(join(hourly, '3'), '{}\n')
    expect(() => Chain.open(options)).toThrow(/no devnet checkpoint/)
    expect(readFileSync(join(hourly, '3'), 'utf8')).toBe('{}\n')
    const other = { ...options, data: join(folder, 'other') }
    mkdirSync(join(other.data, 'devnet'), { recursive: true })
    writeFileSync(join(other.data, 'devnet', 'checkpoint'), '{"v":1')
    expect(() => Chain.open(other)).toThrow(/is not a checkpoint/)
  })
})

describe('a realistic node', () => {
  const rewriting: ChainOptions['scale'] = { ...SMALL, rewritten: 3 }
  const diffs = () => heightsOf('node_raw_book_diffs_by_block')
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

  it('writes a line of an optional stream only for a block with an event', () => {
    const chain = Chain.open(options)
    const withEvents: number[] = []
    for (let i = 1; i <= 60; i++) {
      const { height, miscEvents } = chain.advance(START + BigInt(i * 70) * MS)
      if (miscEvents.length > 0) withEvents.push(height)
    }
    expect(withEvents.length).toBeGreaterThan(3)
    expect(withEvents.length).toBeLessThan(60)
    expect(heightsOf('misc_events_by_block')).toEqual(withEvents)
    expect(diffs()).toEqual(range(1, 60))
  })

  it('writes some heights again after a restart, the same events at a later local time', () => {
    const chain = Chain.open(options)
    const at = (block: number) => START + BigInt(block * 70) * MS
    run(chain, 30)
    chain.hold(at(30) + 300n * MS, 4)
    run(chain, 4, at(30))
    expect(diffs()).toEqual(range(1, 30))
    run(chain, 6, at(34))
    expect(diffs()).toEqual([...range(1, 30), ...range(27, 40)])
    const lines = linesOf(join(options.data, 'node_raw_book_diffs_by_block'))
    for (const height of range(27, 30)) {
      const [first, again] = lines.filter((line) => line.block_number === height)
      expect(again).toEqual({ ...first, local_time: again!.local_time })
      expect(again!.local_time > first!.local_time).toBe(true)
    }
  })

  it('writes some heights again after a kill, and everything else once', () => {
    const before = Chain.open({ ...options, scale: rewriting })
    run(before, 40)
    // Killed: nothing is closed. The only checkpoint is the one of height 0.
    const after = Chain.open({ ...options, scale: rewriting })
    expect(after.engine.height).toBe(40)
    expect(diffs()).toEqual([...range(1, 40), ...range(38, 40)])
  })

  it('leaves gaps in a cut stream, and trims a file while it is read', () => {
    const chain = Chain.open(options)
    const at = (block: number) => START + BigInt(block * 70) * MS
    run(chain, 20)
    chain.cut('node_order_statuses_by_block', at(30))
    run(chain, 20, at(20))
    expect(heightsOf('node_order_statuses_by_block')).toEqual([...range(1, 20), ...range(30, 40)])
    chain.rotate('node_raw_book_diffs_by_block')
    run(chain, 10, at(40))
    const kept = diffs()
    expect(kept[0]).toBeGreaterThan(1)
    expect(kept).toEqual(range(kept[0]!, 50))
  })
})
