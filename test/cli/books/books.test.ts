// The whole command against a gateway that offers a recording.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { npzFile } from '../../../src/cli/books/npz-file.node.ts'
import { booksProgram } from '../../../src/cli/books.node.ts'
import type { Levels } from '../../../src/protocol/feed/block.ts'
import { scratch } from '../../kit/program.ts'
import { say } from '../stub.ts'
import { API_KEY, type ArchiveServer, serveArchive } from './archive-server.ts'
import { booksOf, rowsIn } from './parquet-books.ts'
import { record } from './recording.ts'

const DAY = Date.UTC(2026, 10, 28)
/** Blocks 420 to 449 are missing. Block 400 is the first of the day. */
const { blocks, objects } = record({
  startMs: DAY - 600_000,
  blocks: 600,
  stepMs: 2_000,
  seed: 7,
  missing: (height) => height >= 420 && height < 450,
  checkpoints: (height) => height % 100 === 0,
})
const WINDOW = '--from 2026-11-28T00:00Z --to 2026-11-28T00:05Z'
const folder = scratch()
let server: ArchiveServer

beforeAll(async () => {
  server = await serveArchive(objects)
})
afterAll(() => {
  server.close()
  folder.remove()
})
beforeEach(() => {
  server.listed.length = 0
  server.fetched.length = 0
  server.damage = () => false
  server.rejections = 0
})

const run = (line: string, env: Record<string, string> = {}) =>
  say((shell) => booksProgram(shell, 1), line.split(' '), { WEIR_URL: server.url, WEIR_KEY: API_KEY, ...env })
const filesIn = (name: string) => readdirSync(join(folder.path, name), { recursive: true, encoding: 'utf8' }).sort()

describe('--for parquet', () => {
  it('folds to the exact book of every height, and has a row for the gap', async () => {
    const said = await run(`--for parquet --coin BTC --coin xyz:GOLD ${WINDOW} --out ${folder.path}/p --yes`)
    expect(said.failed).toBe(false)
    expect(filesIn('p')).toEqual(['BTC', 'BTC/2026-11-28.parquet', 'xyz%3AGOLD', 'xyz%3AGOLD/2026-11-28.parquet'])
    expect(said.out).toEqual([expect.stringMatching(/BTC\/2026-11-28\.parquet {2}\d+ rows, 1 gap$/), expect.anything()])
    for (const [name, coin] of [['BTC', 'BTC'] as const, ['xyz%3AGOLD', 'xyz:GOLD'] as const]) {
      const rows = await rowsIn(join(folder.path, 'p', name, '2026-11-28.parquet'))
      expect(rows.filter(({ kind }) => kind === 'gap').map(({ height, side }) => [height, side])).toEqual([
        [420n, null],
      ])
      let checked = 0
      for (const { last, levels } of booksOf(rows)) {
        const block = blocks.find(({ height }) => height === Number(last.height))!
        expect(levels).toEqual(block.books.get(coin))
        expect([Number(last.time_ms), last.seq]).toEqual([block.time, last.kind === 'change' ? last.height : last.seq])
        checked++
      }
      expect(checked).toBeGreaterThan(40)
    }
  })

  it('tells the price first, and lists no link until it is accepted', async () => {
    const said = await run(`--for parquet --coin BTC ${WINDOW} --out ${folder.path}/none`)
    expect(said.failed).toBe(true)
    expect(said.notes.join()).toMatch(
      /at most [\d.]+ MB for \d+ credits, plus a checkpoint after each gap and what is archived from now on\. Nothing was fetched\. Pass --yes/,
    )
    expect([server.listed, server.fetched]).toEqual([[], []])
  })

  it('mentions no later blocks in the price of a past day', async () => {
    const said = await run(`--for parquet --coin BTC --day 2026-11-20 --out ${folder.path}/none`)
    expect(said.notes.join()).toMatch(/plus a checkpoint after each gap\. Nothing/)
  })

  it.each([
    ['a checkpoint just before the range', 300, '00:08:30Z'],
    ['no checkpoint for half an hour', 150, '00:09:30Z'],
    ['no checkpoint at all', -1, '00:03:30Z'],
  ])('never costs more than it says, with %s', async (_, height, end) => {
    const plan = { startMs: DAY - 2_400_000, blocks: 320, stepMs: 10_000, seed: 7 }
    const { objects } = record({ ...plan, checkpoints: (at) => at === height || at === height - 1 })
    const other = await serveArchive(objects)
    const line = `--coin BTC --from 2026-11-28T00:00:30Z --to 2026-11-28T${end} --url ${other.url} --out ${folder.path}/m`
    for (const format of ['parquet', 'hftbacktest']) {
      const said = await run(`--for ${format} ${line} --yes`)
      const [, most] = /at most [\d.]+ MB for (\d+) credits/.exec(said.notes[0] ?? '') ?? []
      const [, paid] = /^The links cost (\d+) credits/.exec(said.notes.at(-1) ?? '') ?? []
      expect(Number(paid)).toBe(other.listed.length)
      expect(Number(paid)).toBeLessThanOrEqual(Number(most))
      other.listed.length = 0
    }
    other.close()
  })

  it('fetches the needed segments and checkpoints, and no events', async () => {
    await run(`--for parquet --coin BTC ${WINDOW} --out ${folder.path}/q --yes`)
    expect(server.fetched.filter((key) => key.includes('events'))).toEqual([])
    expect(server.fetched.filter((key) => key.includes('checkpoints'))).toEqual([
      'archive/c/checkpoints/400.gz',
      'archive/c/checkpoints/500.gz',
    ])
    expect(server.listed.filter((key) => server.fetched.includes(key)).length).toBe(server.fetched.length)
  })

  it('does not use an altered file, and leaves no part of an export', async () => {
    server.damage = (key) => key.includes('checkpoints/500')
    const said = await run(`--for parquet --coin BTC ${WINDOW} --out ${folder.path}/d --yes`)
    expect(said.failed).toBe(true)
    expect(said.notes.at(-1)).toMatch(/checkpoints\/500\.gz cannot be fetched \(its SHA-256 differs/)
    expect(filesIn('d')).toEqual(['BTC'])
  })

  it('waits for the rate limit of the key, and gives up if it stays reached', async () => {
    server.rejections = 5
    expect((await run(`--for parquet --coin BTC ${WINDOW} --out ${folder.path}/r --yes`)).failed).toBe(false)
    server.rejections = 6
    const said = await run(`--for parquet --coin BTC ${WINDOW} --out ${folder.path}/r --yes`)
    expect(said.notes).toEqual([expect.stringContaining('Too many requests.')])
  })

  it('writes a file per day', async () => {
    await run(
      `--for parquet --coin BTC --from 2026-11-27T23:55Z --to 2026-11-28T00:00:30Z --out ${folder.path}/days --yes`,
    )
    expect(filesIn('days/BTC')).toEqual(['2026-11-27.parquet', '2026-11-28.parquet'])
    const [first] = await rowsIn(join(folder.path, 'days/BTC/2026-11-28.parquet'))
    expect([first!.kind, first!.height]).toEqual(['snapshot', 400n])
  })
})

it.each([
  ['--for parquet --coin BTC', 'Pass --day'],
  [`--for parquet --coin BTC --day 2026-11-28 ${WINDOW}`, 'Pass either --day'],
  ['--for parquet --coin BTC --from 2026-11-29 --to 2026-11-28', 'Swap them'],
  ['--for parquet --coin BTC --day 2026-11-20 --yes', 'no blocks in this range'],
])('explains a wrong range: %s', async (line, why) => {
  const said = await run(`${line} --out ${folder.path}/w`)
  expect([said.failed, said.notes.join()]).toEqual([true, expect.stringContaining(why)])
})

it('explains a rejected key, and stops before it fetches segments for a misspelled coin', async () => {
  const rejected = await run(`--for parquet --coin BTC ${WINDOW}`, { WEIR_KEY: 'x' })
  expect(rejected.notes.join()).toContain('The API key is unknown.')
  const unknown = await run(`--for parquet --coin btc ${WINDOW} --out ${folder.path}/u --yes`)
  expect(unknown.notes.join()).toContain('btc has no book at the start of the range (did you mean BTC?)')
  expect(server.fetched).toEqual(['archive/c/checkpoints/400.gz'])
})

/** The rows of `data.npy` in an archive, read by its own directory. */
function npyRows(path: string) {
  const zip = readFileSync(path)
  const directory = zip.readUInt32LE(zip.length - 6)
  const packed = zip.readUInt32LE(directory + 20)
  const start = 30 + zip.readUInt16LE(26) + zip.readUInt16LE(28)
  const npy = inflateRawSync(zip.subarray(start, start + packed))
  expect(npy.length).toBe(zip.readUInt32LE(directory + 24))
  const head = 10 + npy.readUInt16LE(8)
  expect(head % 64).toBe(0)
  const text = npy.subarray(10, head).toString()
  const rows = Number(/'shape': \((\d+),\)/.exec(text)![1])
  expect(npy.length).toBe(head + 64 * rows)
  return Array.from({ length: rows }, (_, at) => {
    const offset = head + 64 * at
    return {
      flags: npy.readUInt32LE(offset),
      timeNs: npy.readBigInt64LE(offset + 8),
      localNs: npy.readBigInt64LE(offset + 16),
      px: npy.readDoubleLE(offset + 24),
      sz: npy.readDoubleLE(offset + 32),
    }
  })
}

describe('--for hftbacktest', () => {
  it('has all books and trades, and empties the book at a gap', async () => {
    const said = await run(`--for hftbacktest --coin BTC ${WINDOW} --out ${folder.path}/h --yes`)
    expect(said.failed).toBe(false)
    expect(filesIn('h/BTC')).toEqual(['2026-11-28.npz'])
    const rows = npyRows(join(folder.path, 'h/BTC/2026-11-28.npz'))
    const sides = [new Map<number, number>(), new Map<number, number>()]
    const trades: unknown[] = []
    let clears = 0
    let last = 0n
    for (const { flags, timeNs, localNs, px, sz } of rows) {
      expect(timeNs).toBeGreaterThanOrEqual(last)
      expect([localNs, flags >>> 30]).toEqual([timeNs, 3])
      last = timeNs
      const kind = flags & 0xff
      const side = flags & (1 << 29) ? 0 : 1
      if (kind === 3) {
        for (const each of sides) each.clear()
        clears++
      } else if (kind === 2) trades.push([Number(timeNs / 1_000_000n), side === 0 ? 'B' : 'A', px, sz])
      else if (sz === 0) sides[side]!.delete(px)
      else sides[side]!.set(px, sz)
    }
    // Start, gap, and the book after the gap.
    expect(clears).toBe(3)
    const truth = blocks.find(({ height }) => height === 550)!.books.get('BTC')!
    for (const side of [0, 1] as const)
      expect([...sides[side]!].sort(([a], [b]) => b - a)).toEqual(
        truth[side].map(({ px, sz }) => [Number(px), Number(sz)]).sort(([a], [b]) => b! - a!),
      )
    const wanted = blocks
      .filter(({ height }) => (height >= 400 && height < 420) || (height >= 450 && height <= 550))
      .flatMap(({ time, trades: own }) => own.map(({ side, px, sz }) => [time, side, Number(px), Number(sz)]))
    expect(trades).toEqual(wanted)
  })

  it('has no time before an earlier one, although block times may decrease slightly', async () => {
    const file = npzFile(folder.path, { coin: 'BACK', day: '2026-11-28' })
    const levels: Levels = [[{ px: '1.0', sz: '2.0', n: 1 }], []]
    file.add({ kind: 'snapshot', height: 1, timeMs: 9, seq: 1, levels })
    file.add({ kind: 'change', height: 2, timeMs: 7, seq: 2, levels })
    file.add({ kind: 'change', height: 3, timeMs: 10, seq: 3, levels })
    const { path } = await file.finish()
    expect(npyRows(path).map(({ timeNs }) => timeNs / 1_000_000n)).toEqual([9n, 9n, 9n, 10n])
  })
})
