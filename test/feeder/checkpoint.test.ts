// Checkpoints are taken coin by coin while blocks continue, restore the order books of any later height, and are
// complete at every step of writing.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  CheckpointPass,
  CheckpointReader,
  decodeCheckpointEnd,
  decodeCheckpointHead,
} from '../../src/feeder/checkpoint.ts'
import { Checkpointer, CheckpointFiles } from '../../src/feeder/checkpoint-files.node.ts'
import { OrderBookProjector } from '../../src/feeder/order-book-projector.ts'
import { OrderBooks } from '../../src/feeder/order-books.ts'
import { seededRandom } from '../kit/random.ts'
import { passed } from './drained.ts'
import { ModelNode } from './model-node.ts'

/** A node, and order books at the same height. */
function world(seed: number, blocks = 200) {
  const node = new ModelNode(seededRandom(seed))
  for (let i = 0; i < blocks; i++) node.step()
  const keeper = new OrderBookProjector()
  keeper.startAt(node.block(node.head)!, node.books())
  const step = () => passed(keeper, node, node.step().height)
  return { node, keeper, step }
}

/** Lines of a checkpoint with a few orders per step, while blocks continue. */
function taken({ keeper, step }: ReturnType<typeof world>, lineOrders: number): string[] {
  const pass = new CheckpointPass('chain', keeper.position!, keeper.books!, lineOrders)
  const lines = [pass.head]
  for (let more = pass.step(keeper.position!); more; more = pass.step(keeper.position!)) {
    lines.push(...more)
    step()
  }
  return [...lines, pass.end]
}

function read(lines: readonly string[]): CheckpointReader {
  const reader = new CheckpointReader()
  for (const line of lines.slice(1)) reader.push(line)
  if (!reader.isDone) throw new Error('cut off')
  return reader
}

const bookOf = (books: OrderBooks) =>
  books
    .coins()
    .sort()
    .map((coin) => ({ coin, levels: books.levels(coin) }))
    .filter(({ levels }) => levels.flat().length > 0)

describe('the text', () => {
  test.each([1, 2, 3])('restores the books at every later height, each coin from its own height (seed %i)', (seed) => {
    const live = world(seed)
    const lines = taken(live, 5)
    const from = decodeCheckpointHead(lines[0]!)
    const to = decodeCheckpointEnd(lines.at(-1)!)
    expect(to.height).toBeGreaterThan(from.height + 3)
    const { books, heights } = read(lines)
    expect(new Set(heights.values()).size).toBeGreaterThan(2)
    const again = new OrderBookProjector()
    again.startAt(from, books, heights)
    expect(again.isAligned).toBe(false)
    for (let height = from.height + 1; height <= live.node.head; height++) {
      passed(again, live.node, height)
      expect(again.isAligned).toBe(height >= to.height)
    }
    expect(bookOf(again.books!)).toEqual(bookOf(live.node.books()))
    expect(again.misfits).toBe(0)
    for (const coin of again.books!.coins()) expect(again.books!.digest(coin)).toBe(live.keeper.books!.digest(coin))
  })

  test('keeps the coins that were already announced', () => {
    const fresh = new OrderBooks()
    fresh.apply({ kind: 'new', oid: 1, coin: 'A', side: 'B', px: '1', sz: '1' })
    fresh.apply({ kind: 'remove', oid: 1, coin: 'A', side: 'B', px: '1' })
    fresh.endBlock()
    const pass = new CheckpointPass('c', { height: 1, time: 't' }, fresh)
    const { books } = read([pass.head, ...pass.step({ height: 1, time: 't' })!, pass.end])
    books.apply({ kind: 'new', oid: 2, coin: 'A', side: 'B', px: '1', sz: '1' })
    expect(books.endBlock()[0]!.new).toBe(true)
  })

  test('is useless once one of its coins is repaired', () => {
    const { node, keeper } = world(1)
    const pass = new CheckpointPass('c', keeper.position!, keeper.books!)
    expect(pass.step(keeper.position!)!.join()).toContain('BTC')
    expect(pass.isOf(keeper.books)).toBe(true)
    keeper.books!.adopt('BTC', node.books())
    expect(pass.isOf(keeper.books)).toBe(false)
  })

  test('copies a coin again if it is repaired in the meantime', () => {
    const { node, keeper } = world(1)
    const pass = new CheckpointPass('c', keeper.position!, keeper.books!, 4)
    expect(pass.step(keeper.position!)).toEqual([])
    for (const coin of keeper.books!.coins()) keeper.books!.adopt(coin, node.books())
    const lines = [pass.head]
    for (let more = pass.step(keeper.position!); more; more = pass.step(keeper.position!)) lines.push(...more)
    expect(pass.isOf(keeper.books)).toBe(true)
    expect(bookOf(read([...lines, pass.end]).books)).toEqual(bookOf(node.books()))
  })

  test('defers a suspect coin until it is repaired', () => {
    const { node, keeper } = world(1)
    keeper.books!.markSuspect('BTC')
    const pass = new CheckpointPass('c', keeper.position!, keeper.books!)
    expect(pass.step(keeper.position!)!.join()).not.toContain('BTC')
    expect(pass.step(keeper.position!)).toEqual([])
    keeper.books!.adopt('BTC', node.books())
    expect(pass.step(keeper.position!)!.join()).toContain('BTC')
    expect(pass.step(keeper.position!)).toBeNull()
  })

  test('that is truncated, altered or of an older version is rejected', () => {
    const lines = taken(world(3), 5)
    expect(() => read(lines.slice(0, -1))).toThrow()
    expect(() => read([...lines.slice(0, 2), ...lines.slice(3)])).toThrow('counts')
    expect(() => read(lines.map((line) => line.replace(/\tB (\d)/, '\tB x$1')))).toThrow('order')
    expect(() => decodeCheckpointEnd(lines.at(-2)!)).toThrow('incomplete')
    expect(() => decodeCheckpointHead('{"v":1,"chain":"c","height":1,"time":"t"}')).toThrow('version 1')
  })
})

describe('on disk', () => {
  let folder: string
  let said: string[]
  const say = (sentence: string) => void said.push(sentence)
  const files = () => new CheckpointFiles(folder, 'chain', say)
  const checkpointerOf = (keeper: OrderBookProjector) =>
    new Checkpointer({ files: files(), projector: keeper, chain: 'chain', everyMs: 100, log: say })
  const find = (stored: { height: number } | undefined, there: { height: number }[]) =>
    there.map(({ height }) => height).indexOf(stored?.height ?? -1)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-checkpoint-test-'))
    said = []
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Copies the files as a crash leaves them. A file that a running write renames meanwhile fails a copy. */
  function copyFolder(to: string): void {
    for (;;) {
      try {
        return cpSync(folder, to, { recursive: true })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        rmSync(to, { recursive: true, force: true })
      }
    }
  }

  test('a crash after any step leaves complete checkpoints, newest first', async () => {
    const live = world(5)
    const checkpointer = checkpointerOf(live.keeper)
    const crashes: string[] = []
    for (let now = 0; now < 12_000; now += 50) {
      checkpointer.tick(now, live.keeper.position!.height)
      // The running write has reached an arbitrary step.
      for (let turn = now % 4; turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
      if (now % 400 === 0) {
        crashes.push(`${folder}.${now}`)
        copyFolder(crashes.at(-1)!)
      }
      live.step()
    }
    // However slowly files are written, the last crash comes after a completed write.
    const last = `${folder}.last`
    for (let now = 12_000; !existsSync(last); now += 50) {
      checkpointer.tick(now, live.keeper.position!.height)
      await new Promise((resolve) => setImmediate(resolve))
      if ((await files().list()).length > 0) copyFolder(last)
    }
    crashes.push(last)
    let found = 0
    for (const crash of crashes) {
      const store = new CheckpointFiles(crash, 'chain', (sentence) => said.push(sentence))
      const there = await store.list()
      const newest = there.toSorted((a, b) => b.height - a.height)[0]
      expect(find(newest, there)).toBeLessThanOrEqual(0)
      if (newest) {
        found++
        const { books, heights, isDone } = (await store.load(newest))!
        expect(isDone).toBe(true)
        const again = new OrderBookProjector()
        again.startAt(newest.from, books, heights)
        for (let at = newest.from.height + 1; at <= live.node.head; at++) passed(again, live.node, at)
        expect(bookOf(again.books!)).toEqual(bookOf(live.node.books()))
      } else expect(found).toBe(0)
      rmSync(crash, { recursive: true })
    }
    expect(found).toBeGreaterThan(0)
    expect(said).toEqual([])
  })

  test('nothing is published before the log has its last block', async () => {
    const live = world(6)
    const checkpointer = checkpointerOf(live.keeper)
    const before = live.keeper.position!.height
    for (let now = 0; now < 6_000; now += 50) {
      checkpointer.tick(now, before - 1)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(readdirSync(folder)).toEqual([`books.checkpoint.${process.pid}.part`])
    await checkpointer.writeLast(6_000, async (height) => height === before)
    expect(await files().list()).toMatchObject([{ height: before, from: { height: before } }])
    expect(readdirSync(folder)).toEqual(['books.checkpoint'])
  })

  test('partial files of killed processes are removed, those of running processes are not', async () => {
    for (const pid of [999_999_999, process.ppid]) writeFileSync(join(folder, `books.checkpoint.${pid}.part`), 'half')
    writeFileSync(join(folder, 'notes.part'), '')
    await (await files().draft()).drop()
    expect(readdirSync(folder)).toEqual([`books.checkpoint.${process.ppid}.part`, 'notes.part'])
  })

  test('a disk that fills up before the last byte leaves the existing checkpoint', () => {
    writeFileSync(join(folder, 'books.checkpoint'), 'the old one')
    const source = new URL('../../src/feeder/checkpoint-files.node.ts', import.meta.url)
    const program = `
      import { CheckpointFiles } from ${JSON.stringify(source.href)}
      const draft = await new CheckpointFiles(${JSON.stringify(folder)}, 'chain', () => {}).draft()
      await draft.write(['x'.repeat(1_000)])
      await draft.write(['end' + '\t9'.repeat(20)]).then(draft.publish, draft.drop)`
    // Files of at most a kibibyte: a write over that is cut, and the next one fails.
    const limited = `ulimit -f 1 && exec "$0" --input-type=module --eval "$1"`
    const { status, stderr } = spawnSync('bash', ['-c', limited, process.execPath, program], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    expect(readdirSync(folder)).toEqual(['books.checkpoint'])
    expect(readFileSync(join(folder, 'books.checkpoint'), 'utf8')).toBe('the old one')
  })

  test('a checkpoint of an older version is reported and ignored', async () => {
    writeFileSync(join(folder, 'books.checkpoint'), '{"v":1,"chain":"chain","height":9,"time":"t"}\nend\t0\t0\n')
    expect(await files().list()).toEqual([])
    expect(said[0]).toMatch(/version 1/)
  })
})
