// The folder replica_cmds: every height once and in order, across files, folders of restarted nodes, and partial lines.

import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ReplicaTail } from '../../src/feeder/replica-files.node.ts'

let root: string
let nowMs = 0
let tail: ReplicaTail | null = null

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-replica-test-'))
})
afterEach(async () => {
  await tail?.close()
  rmSync(root, { recursive: true, force: true })
})

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  appendFileSync(join(root, file), text)
}
const linesOf = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => `line ${first + at}\n`).join('')

/** Reads everything that is there. */
async function readAll(): Promise<void> {
  for (let idle = 0; idle < 2; nowMs += 1_000) idle = (await tail?.pump(nowMs)) ? 0 : idle + 1
}
const taken = (height: number) => tail?.take(height).map((line) => [line.height, line.text])
const expected = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => [first + at, `line ${first + at}`])

it('starts at a height in the middle of a file, and continues with the next files and dates', async () => {
  write('2026-01-01T00:00:00Z/20260101/90', linesOf(90, 99))
  write('2026-01-01T00:00:00Z/20260101/100', linesOf(100, 109))
  tail = new ReplicaTail(root, 104)
  await readAll()
  write('2026-01-01T00:00:00Z/20260102/110', linesOf(110, 112))
  write('2026-01-01T00:00:00Z/20260102/113', linesOf(113, 113))
  await readAll()
  expect(taken(103)).toEqual([])
  expect(taken(111)).toEqual(expected(104, 111))
  expect(taken(999)).toEqual(expected(112, 113))
})

it('follows a restarted node, which leaves a partial line and writes heights again', async () => {
  write('2026-01-01T00:00:00Z/20260101/100', `${linesOf(100, 104)}line 1`)
  tail = new ReplicaTail(root, 101)
  await readAll()
  write('2026-01-01T01:00:00Z/20260101/95', linesOf(95, 99))
  write('2026-01-01T01:00:00Z/20260101/100', `${linesOf(100, 106)}line`)
  await readAll()
  expect(taken(999)).toEqual(expected(101, 106))
  write('2026-01-01T01:00:00Z/20260101/100', ' 107\n')
  await readAll()
  expect(taken(999)).toEqual(expected(107, 107))
})

it('starts in the newest folder that has the height, and waits for a folder that does not exist yet', async () => {
  tail = new ReplicaTail(root, 102)
  await readAll()
  write('2026-01-01T00:00:00Z/20260101/100', linesOf(100, 103))
  write('2026-01-01T02:00:00Z/20260101/101', linesOf(101, 102))
  write('2026-01-01T03:00:00Z/20260101/109', linesOf(109, 110))
  await readAll()
  expect(taken(999)).toEqual([...expected(102, 102), ...expected(109, 110)])
})

it('stops reading while many lines wait, and a block takes a limited number of characters', async () => {
  const line = `${'x'.repeat(1024 * 1024)}\n`
  write('2026-01-01T00:00:00Z/20260101/100', line.repeat(20))
  tail = new ReplicaTail(root, 100)
  await readAll()
  const sizes: number[] = []
  for (let lines = tail.take(999); lines.length > 0; lines = tail.take(999)) sizes.push(lines.length)
  expect(sizes).toEqual([3, 3, 3])
  await readAll()
  expect(tail.take(999)[0]?.height).toBe(109)
})
