// Rows in are rows out: for any key, in order, however blocks are cut into files and files are merged into objects.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArchiveDamage } from '../../../src/archive/archive/archive-read.ts'
import { type MergeResult, mergeObject } from '../../../src/archive/files/merge.ts'
import { decodePages } from '../../../src/archive/files/page.ts'
import type { PagePosition, SourceFile } from '../../../src/archive/files/page-source.ts'
import { type IndexEntry, PageWriter } from '../../../src/archive/files/page-writer.ts'
import {
  addLine,
  digestKeyOf,
  isDigest,
  positionKey,
  positionRows,
  rangesOfChanges,
} from '../../../src/archive/files/position-lines.ts'
import { ALL_FILLS, type BlockEvents, blockOf, headOf, keyOf, linesOf } from '../../../src/archive/files/rows.ts'
import { changeOfRow, PositionFold } from '../../../src/archive/positions.ts'
import { readPayments } from '../../../src/protocol/feed/payments.ts'
import { sortedLines } from '../../kit/at-once.ts'
import { anyBlocks, bytesOf, fileOf, fillOf, pack, USERS, unpack } from './made.ts'

const [USER] = USERS as [string]
const UNHEARD = { add: () => undefined }

async function written(blocks: readonly BlockEvents[]): Promise<SourceFile> {
  const writer = new PageWriter(pack)
  for (const [key, line] of sortedLines(blocks)) await writer.add(key, line)
  await writer.flush()
  return fileOf(writer.pages.length === 0 ? [] : [bytesOf(writer.pages)])
}

/** All objects of a merge, each begun anew so often from where it began. */
async function merged(files: readonly SourceFile[], objectBytes: number, again = 1): Promise<MergeResult[]> {
  const objects: MergeResult[] = []
  for (let from: readonly PagePosition[] | null = null; ; ) {
    const tries: MergeResult[] = []
    for (let left = again; left > 0; left--)
      tries.push(await mergeObject(files, from, { pack, unpack }, UNHEARD, objectBytes))
    for (const one of tries) expect(one).toEqual(tries[0])
    objects.push(tries[0]!)
    from = tries[0]!.next
    if (from === null) return objects
  }
}

/** The lines of each key as an index finds them. */
async function found(objects: readonly MergeResult[]): Promise<Map<string, string[]>> {
  const lines = new Map<string, string[]>()
  for (const { pages, entries } of objects) {
    const bytes = bytesOf(pages)
    for (const entry of entries) {
      const mine = decodePages(bytes.slice(entry.offset, entry.offset + entry.bytes))!
      expect(mine.every(({ key }) => key === entry.key)).toBe(true)
      const texts = await Promise.all(mine.map(({ body }) => unpack(body)))
      const before = lines.get(entry.key) ?? []
      lines.set(entry.key, [...before, ...texts.flatMap((text) => text.split('\n'))])
    }
  }
  return lines
}

function split(lines: ReadonlyMap<string, readonly string[]>) {
  const parts = Map.groupBy(lines, ([key]) => isDigest(key))
  return { digests: new Map(parts.get(true)), others: new Map(parts.get(false)) }
}

/** A line for each user who paid, however many texts tell of it. */
function paidIn({ height, time, payments }: BlockEvents): [string, string][] {
  return [...Map.groupBy((payments ?? []).map(readPayments), ({ user }) => user)].map(([user, told]) => {
    const rows = told.flatMap(({ time: ms, rows }) => rows.map((row) => [ms, ...row]))
    return [`f:${user}`, `${height}\t${time}\t${rows.length}\t${JSON.stringify(rows)}`]
  })
}

/** The lines of positions. Digests are tested below. */
function positionsIn({ height, time, fills }: BlockEvents): [string, string][] {
  const rows = positionRows(fills, { height, time })
  return [...rows].map(([coin, own]) => [
    positionKey(coin),
    `${height}\t${time}\t${own.length}\t${JSON.stringify(own)}`,
  ])
}

function expected(blocks: readonly BlockEvents[]): Map<string, string[]> {
  const lines = new Map<string, string[]>()
  for (const block of blocks)
    for (const [key, line] of [...linesOf(block), ...paidIn(block), ...positionsIn(block)])
      lines.set(key, [...(lines.get(key) ?? []), line])
  // Files of hours have tables for it.
  lines.delete(ALL_FILLS)
  return lines
}

const cutAt = <T>(all: readonly T[], cuts: readonly number[]): T[][] => {
  const ends = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b)
  return [...ends, all.length].map((end, at) => all.slice(at === 0 ? 0 : ends[at - 1], end))
}

describe('rows of a block', () => {
  it('belong to their user and builder in block order, and each ledger event once to each of its users', () => {
    const fills = [fillOf(USER, 'BTC', 1, USERS[1]), fillOf(USER, 'ETH', 2, 'nobody'), fillOf(USERS[1]!, 'BTC', 3)]
    const ledger = [{ users: [USER, USER, USERS[2]!], time: 5, hash: '0x0', delta: { type: 'send', amount: '1' } }]
    const staked = { time: '2026-06-11T01:01:29.5', hash: '0x0', inner: { CDeposit: { user: USER, amount: '0.5' } } }
    const lines = linesOf({ height: 9, time: 90, fills, ledger, events: [staked, {}] })
    const block = (key: string) => blockOf(lines.get(key)!, key.startsWith('l:') ? 'ledger' : 'fills', USER)
    const at = { height: 9, time: 90, funding: [] }
    expect(block(keyOf({ kind: 'fills', scope: { by: 'user', address: USER } }))).toEqual({
      ...at,
      fills: fills.slice(0, 2),
      ledger: [],
    })
    expect(block(keyOf({ kind: 'fills', scope: { by: 'builder', address: USERS[1]! } })).fills).toEqual([fills[0]])
    expect(block(keyOf({ kind: 'ledger', scope: { by: 'user', address: USER } }))).toEqual({ ...at, fills: [], ledger })
    expect(
      blockOf(lines.get(keyOf({ kind: 'staking', scope: { by: 'user', address: USER } }))!, 'staking', USER).ledger,
    ).toEqual([
      {
        users: [USER],
        time: Date.UTC(2026, 5, 11, 1, 1, 29, 500),
        hash: '0x0',
        delta: { type: 'cDeposit', amount: '0.5' },
      },
    ])
    expect([...lines.keys()].sort()).toEqual(
      [`b:${USERS[1]}`, `l:${USER}`, `l:${USERS[2]}`, `s:${USER}`, `u:${USER}`, `u:${USERS[1]}`, ALL_FILLS].sort(),
    )
  })
})

describe('files', () => {
  it('have all rows of every key in order, however blocks are cut into files, levels and objects', async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        anyBlocks(),
        cuts,
        cuts,
        fc.integer({ min: 1, max: 4_000 }),
        async (blocks, minutes, hours, most) => {
          const files = await Promise.all(cutAt(blocks, minutes).map(written))
          const merging = cutAt(files, hours).map(async (group) => {
            const objects = await merged(group, most, 2)
            return fileOf(objects.map(({ pages }) => bytesOf(pages)))
          })
          const { digests, others } = split(await found(await merged(await Promise.all(merging), most)))
          expect(others).toEqual(expected(blocks))
          expect([...digests.keys()].sort()).toEqual([...others.keys()].flatMap((key) => digestKeyOf(key) ?? []).sort())
        },
      ),
      { numRuns: 60 },
    )
  })

  it('give the positions after any block, however blocks are cut into files, levels and objects', async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 4 })
    const spread = anyBlocks().map((blocks) => blocks.map((block, at) => ({ ...block, height: 9_000 * at })))
    await fc.assert(
      fc.asyncProperty(spread, cuts, cuts, fc.nat(), fc.nat(), async (blocks, minutes, hours, least, most) => {
        const files = await Promise.all(cutAt(blocks, minutes).map(written))
        const merging = cutAt(files, hours).map(async (group) =>
          fileOf((await merged(group, 4_000)).map(({ pages }) => bytesOf(pages))),
        )
        const lines = await found(await merged(await Promise.all(merging), 4_000))
        const { height: upTo } = blocks[most % blocks.length]!
        const from = least % (upTo + 1)
        const fold = new PositionFold()
        for (const range of rangesOfChanges('BTC', from, upTo))
          for (const line of lines.get(range.key) ?? []) {
            const { height } = headOf(line)
            if (height >= range.from && height <= range.upTo) addLine(fold, line)
          }
        const whole = new PositionFold()
        for (const { height, time, fills } of blocks)
          if (height >= from && height <= upTo)
            for (const row of positionRows(fills, { height, time }).get('BTC') ?? [])
              whole.add(row[0], changeOfRow(row, { height, time }))
        expect(fold.byUser).toEqual(whole.byUser)
      }),
      { numRuns: 60 },
    )
  })

  it('with pages longer than one read are read whole', async () => {
    const hashes = Array.from({ length: 3_000 }, (_, at) => fillOf(USER, 'BTC', at, USERS[at % 4]))
    const blocks = [0, 1, 2].map((height) => ({ height, time: height, fills: hashes, ledger: [] }))
    const files = await Promise.all(blocks.map((block) => written([block])))
    const many = [...Array.from({ length: 120 }, () => fileOf([])), ...files]
    expect(split(await found(await merged(many, 1_000))).others).toEqual(expected(blocks))
  })

  it('split the index of a large key into ranges of about 128 KiB', async () => {
    const random = (seed: number) => `0x${(BigInt(seed + 1) ** 50n).toString(16).slice(0, 64)}`
    const writer = new PageWriter(pack)
    for (let height = 0; height < 12_000; height++) {
      const [user, fill] = fillOf(USER, 'BTC', height)
      const lines = linesOf({ height, time: height, fills: [[user, { ...fill, hash: random(height) }]], ledger: [] })
      await writer.add(`u:${USER}`, lines.get(`u:${USER}`)!)
    }
    await writer.flush()
    const entries: readonly IndexEntry[] = writer.entries
    expect(entries.length).toBeGreaterThan(2)
    expect(entries.reduce((sum, { rows }) => sum + rows, 0)).toBe(12_000)
    for (const [at, { first, offset, bytes }] of entries.entries()) {
      const before = entries[at - 1]
      expect([first, offset]).toEqual(before ? [before.last + 1, before.offset + before.bytes] : [0, 0])
      expect(bytes).toBeLessThan(200 * 1024)
    }
  })

  it('reject lines that are out of order', async () => {
    const writer = new PageWriter(pack)
    await writer.add('u:2', '5\t50\t1\t[1]')
    await expect(writer.add('u:2', '5\t50\t1\t[1]')).rejects.toThrow('a line of u:2 at 5 came after u:2 at 5')
    await expect(writer.add('u:1', '6\t50\t1\t[1]')).rejects.toThrow('a line of u:1 at 6 came after u:2')
  })

  it('that end within a page are an error', async () => {
    const { objects } = await written([{ height: 1, time: 1, fills: [fillOf(USER, 'BTC', 1)], ledger: [] }])
    const { key, bytes, read } = objects[0]!
    const short = { objects: [{ key, bytes: bytes - 1, read }] }
    await expect(merged([short], 1_000)).rejects.toThrow(new ArchiveDamage(key, 'altered'))
    expect(decodePages(await read(0, bytes - 1))).toBeNull()
  })
})
