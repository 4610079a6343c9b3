// The devnet's replica_cmds: lines as a feeder reads them, and folders as a node writes them.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { replicaLine } from '../../src/devnet/exchange/replica-line.ts'
import { ReplicaFiles } from '../../src/devnet/files/replica-files.node.ts'
import { readReplicaLine } from '../../src/feeder/replica-lines.ts'

it('a line has the orders and cancels of the block, with the users that responses name', () => {
  const engine = createEngine(27)
  const refuse = (reason: string) => expect.unreachable(reason)
  const entries = Array.from({ length: 60 }, () => engine.step()).flatMap((block) => {
    const read = readReplicaLine({ height: block.height, text: replicaLine(block) }, refuse)
    expect(read[0]).toMatchObject({ line: { height: block.height, block: { time: block.time, round: block.height } } })
    return read
  })
  const actions = entries.flatMap((entry) => ('action' in entry ? [entry] : []))
  const types = actions.map(({ action }) => (action as { action: { type: string } }).action.type)
  expect([...new Set(types)].sort()).toEqual(['cancel', 'order'])
  expect(actions.every(({ user }) => /^0x[0-9a-f]{40}$/.test(user ?? ''))).toBe(true)
})

it('files are named after their first height, in a new folder whenever heights are written again', () => {
  const root = mkdtempSync(join(tmpdir(), 'weir-replica-'))
  const paths = () => readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const told = () => paths().map(({ parentPath, name }) => [parentPath.slice(root.length + 1), name].join('/'))
  const day = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n
  const hour = 3_600_000_000_000n
  const files = new ReplicaFiles(root)
  for (let height = 5; height < 1_006; height++) files.append(height, `line ${height}`, day)
  expect(told().sort()).toEqual(['2026-01-01T00:00:00.000Z/20260101/1005', '2026-01-01T00:00:00.000Z/20260101/5'])
  files.append(1_004, 'again', day + 25n * hour)
  expect(told().sort()).toEqual(['2026-01-01T00:00:00.000Z/20260101/1005', '2026-01-02T01:00:00.000Z/20260102/1004'])
  files.close()
  const next = new ReplicaFiles(root)
  expect(told()).toEqual(['2026-01-02T01:00:00.000Z/20260102/1004'])
  expect(readFileSync(join(root, told()[0]!), 'utf8')).toBe('again\n')
  next.close()
  rmSync(root, { recursive: true })
})
