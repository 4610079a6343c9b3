// One stream read from real files: partial lines, hour rollover, rewritten files, long lines, search by height.

import { appendFileSync, mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StreamFiles } from '../../src/feeder/stream-files.node.ts'
import { StreamTail } from '../../src/feeder/tail.node.ts'

let root: string
let said: string[]
let clock: number
const open: StreamTail[] = []

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-tail-test-'))
  said = []
  clock = 0
})

afterEach(async () => {
  for (const tail of open.splice(0)) await tail.close()
  rmSync(root, { recursive: true, force: true })
})

const line = (height: number, padding = 0) =>
  `{"local_time":"x","block_time":"2026-05-05T17:00:00","block_number":${height},"events":["${'y'.repeat(padding)}"]}`

function write(file: string, text: string): void {
  const path = join(root, 'hourly', file)
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, text)
}

function tailFrom(height: number): StreamTail {
  const tail = new StreamTail(new StreamFiles(root), height, (sentence) => said.push(sentence))
  open.push(tail)
  return tail
}

/** Heights that come within some rounds of reading; each round is a second of the tail's clock. */
async function heights(tail: StreamTail, rounds = 8): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < rounds; i++) {
    clock += 1_000
    found.push(...(await tail.read(clock)).map(({ height }) => height))
  }
  return found
}

test('a partial last line waits for the rest', async () => {
  write('20260505/9', `${line(1)}\n${line(2).slice(0, 60)}`)
  const tail = tailFrom(1)
  expect(await heights(tail)).toEqual([1])
  write('20260505/9', line(2).slice(60))
  expect(await heights(tail)).toEqual([])
  write('20260505/9', '\n')
  expect(await heights(tail)).toEqual([2])
})

test('files are read in order of date and hour, each to its end', async () => {
  write('20260505/9', `${line(1)}\n`)
  write('20260505/10', `${line(2)}\n`)
  write('20260506/0', `${line(3)}\n`)
  const tail = tailFrom(1)
  expect(await heights(tail)).toEqual([1, 2, 3])
  write('20260506/0', `${line(4)}\n`)
  expect(await heights(tail)).toEqual([4])
})

test("a node whose clock is set back continues in the previous hour's file, then in its own", async () => {
  write('20260505/9', `${line(1)}\n`)
  const tail = tailFrom(1)
  write('20260505/10', `${line(2)}\n${line(3).slice(0, 50)}`)
  expect(await heights(tail)).toEqual([1, 2])
  write('20260505/10', `${line(3).slice(50)}\n`)
  write('20260505/9', `${line(4)}\n`)
  expect(await heights(tail)).toEqual([3, 4])
  write('20260505/9', `${line(5)}\n`)
  expect(await heights(tail)).toEqual([5])
  write('20260505/10', `${line(6)}\n`)
  expect(await heights(tail)).toEqual([6])
  expect(said).toEqual([])
})

test('a line completed after the next file started is not lost', async () => {
  write('20260505/9', `${line(1)}\n${line(2).slice(0, 50)}`)
  const tail = tailFrom(1)
  expect(await heights(tail, 3)).toEqual([1])
  write('20260505/10', `${line(3)}\n`)
  expect(await heights(tail, 1)).toEqual([])
  write('20260505/9', `${line(2).slice(50)}\n`)
  expect(await heights(tail)).toEqual([2, 3])
})

test('a truncated last line is skipped with a message; a line that only lacks its line feed is not', async () => {
  write('20260505/9', `${line(1)}\n${line(2)}`)
  write('20260505/10', `${line(3)}\n${line(4).slice(0, 80)}`)
  write('20260505/11', `${line(5)}\n`)
  expect(await heights(tailFrom(1), 20)).toEqual([1, 2, 3, 5])
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(/partial line/)
})

test('lines longer than a read are complete', async () => {
  write('20260505/9', `${line(1, 3_000_000)}\n${line(2)}\n`)
  expect(await heights(tailFrom(1), 12)).toEqual([1, 2])
})

test('a rewritten file is read from the start, whatever its heights', async () => {
  write('20260505/9', `${line(7)}\n${line(8)}\n`)
  const tail = tailFrom(8)
  expect(await heights(tail)).toEqual([8])
  const path = join(root, 'hourly', '20260505/9')
  unlinkSync(path)
  writeFileSync(path, `${line(1)}\n`)
  expect(await heights(tail)).toEqual([1])
})

test('a file trimmed at the front continues after the lines already read', async () => {
  write('20260505/9', Array.from({ length: 400 }, (_, at) => `${line(at, 2_000)}\n`).join(''))
  const tail = tailFrom(398)
  expect(await heights(tail)).toEqual([398, 399])
  unlinkSync(join(root, 'hourly', '20260505/9'))
  write('20260505/9', Array.from({ length: 300 }, (_, at) => `${line(at + 200, 2_000)}\n`).join(''))
  expect((await heights(tail))[0]).toBe(400)
  expect(said).toEqual([])
})

test('a file trimmed before the first wanted line yields no lower lines', async () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `${line(from + at, 2_000)}\n`).join('')
  write('20260505/9', lines(0, 390))
  const tail = tailFrom(398)
  expect(await heights(tail)).toEqual([])
  unlinkSync(join(root, 'hourly', '20260505/9'))
  write('20260505/9', lines(200, 396))
  expect(await heights(tail)).toEqual([])
  write('20260505/9', lines(396, 400))
  expect(await heights(tail)).toEqual([398, 399])
})

test('a pruned file is skipped', async () => {
  write('20260505/9', `${line(1)}\n`)
  const tail = tailFrom(1)
  expect(await heights(tail)).toEqual([1])
  unlinkSync(join(root, 'hourly', '20260505/9'))
  write('20260505/10', `${line(2)}\n`)
  expect(await heights(tail)).toEqual([2])
})

test('a line that is not a block is skipped', async () => {
  write('20260505/9', `hello\n\n${line(1)}\n`)
  expect(await heights(tailFrom(1))).toEqual([1])
  expect(said).toHaveLength(1)
})

test('any height is found among many files without reading all of them, and the first and last lines are known', async () => {
  for (let hour = 0; hour < 12; hour++) {
    let text = ''
    for (let i = 0; i < 500; i++) text += `${line(1000 + hour * 500 + i, 2_000)}\n`
    write(`20260505/${hour}`, text)
  }
  const files = new StreamFiles(root)
  expect((await files.first())?.height).toBe(1000)
  expect((await files.last())?.height).toBe(6999)
  for (const height of [1000, 1499, 1500, 3217, 6999]) {
    expect((await files.headOf(height))?.height).toBe(height)
    expect((await heights(tailFrom(height), 4))[0]).toBe(height)
  }
  expect(await files.headOf(7000)).toBeNull()
  expect(await files.headOf(999)).toBeNull()
  write('20260505/12', line(7000).slice(0, 90))
  expect((await files.last())?.height).toBe(6999)
})

test('the tail waits for a missing folder', async () => {
  const tail = tailFrom(1)
  expect(await heights(tail)).toEqual([])
  expect(await new StreamFiles(root).last()).toBeNull()
  write('20260505/9', `${line(1)}\n`)
  expect(await heights(tail)).toEqual([1])
})
