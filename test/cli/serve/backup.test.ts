// Backups of a folder without a gateway, and snapshots of databases of a process that writes.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { processInfo } from '../../../src/cli/launch/processes.node.ts'
import { backUp } from '../../../src/cli/serve/backup.node.ts'
import { freezeDatabases } from '../../../src/cli/serve/frozen-databases.node.ts'
import { restore } from '../../../src/cli/serve/restore.node.ts'
import { ServeFolder } from '../../../src/cli/serve/serve-folder.node.ts'

let path = ''
let state = ''
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'weir-backup-'))
  state = join(path, 'state')
  const objects = join(state, 'gateway/v3/do/weir-live-CreditMeter')
  mkdirSync(objects, { recursive: true })
  new ServeFolder(state).writeMark(0)
  const database = new DatabaseSync(join(objects, 'a.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (7)')
  database.close()
})
afterEach(() => rmSync(path, { recursive: true }))

const backups = () => join(path, 'backups')

test('a backup deletes only what an interrupted backup left, and keeps as many as asked', async () => {
  mkdirSync(backups())
  writeFileSync(join(backups(), 'film.partial'), '')
  mkdirSync(join(backups(), '2026-01-01T00-00-00.000Z.partial'))
  await backUp(state, backups())
  const { name } = await backUp(state, backups(), 1)
  expect(readdirSync(backups()).sort()).toEqual([name, 'blobs', 'film.partial'])
  await restore(backups(), join(path, 'copy'))
  const copy = new DatabaseSync(join(path, 'copy/gateway/v3/do/weir-live-CreditMeter/a.sqlite'))
  expect(copy.prepare('SELECT n FROM t').get()).toEqual({ n: 7 })
  copy.close()
})

test('an interrupted restore starts over, and deletes nothing else', async () => {
  await backUp(state, backups())
  const copy = join(path, 'copy')
  await restore(backups(), copy)
  writeFileSync(join(copy, 'restoring'), '')
  await restore(backups(), copy)
  expect(readdirSync(copy).sort()).toEqual(['folder.json', 'gateway'])
  writeFileSync(join(copy, 'restoring'), '')
  writeFileSync(join(copy, 'thesis.tex'), '')
  await expect(restore(backups(), copy)).rejects.toThrow(/is not empty/)
  expect(readdirSync(copy)).toContain('thesis.tex')
})

test('a folder of backups in the state folder is refused, and nothing is created', async () => {
  for (const folder of [state, join(state, 'gateway/v3/d1/backups')])
    await expect(backUp(state, folder)).rejects.toThrow(/is in the state folder .* Choose a folder outside/)
  expect(readdirSync(state).sort()).toEqual(['folder.json', 'gateway'])
})

test('a second backup of the same gateway is refused', async () => {
  const lock = new ServeFolder(state).lockBackups()
  await expect(backUp(state, backups())).rejects.toThrow(/Another backup of .* is running/)
  expect(existsSync(backups())).toBe(false)
  lock.close()
  await backUp(state, backups())
})

/** Increments the number in `a`, then in `b`, for ever. */
async function startWriter(a: string, b: string): Promise<number> {
  const program = `
    import { DatabaseSync } from 'node:sqlite'
    const databases = ${JSON.stringify([a, b])}.map((path) => new DatabaseSync(path, { timeout: 1000 }))
    for (const one of databases) one.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (n); INSERT INTO t VALUES (0)')
    console.log('ready')
    const steps = databases.map((one) => one.prepare('UPDATE t SET n = n + 1'))
    for (;;) for (const step of steps) step.run()`
  const writer = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void writer.kill('SIGKILL'))
  await new Promise((resolve) => writer.stdout.once('data', resolve))
  return writer.pid!
}

test('snapshots are of one moment, and the writer runs on', async () => {
  const paths = [join(path, 'a.sqlite'), join(path, 'b.sqlite')]
  const writer = await startWriter(paths[0]!, paths[1]!)
  for (let i = 0; i < 5; i++) {
    const frozen = () => {
      // The second database counts as created after the first look.
      let looks = 0
      return freezeDatabases([writer], () => (looks++ === 0 ? paths.slice(0, 1) : paths))
    }
    // On a busy machine, opening may take longer than the writer stays stopped, which is refused.
    const { databases } = await vi.waitFor(frozen, 60_000)
    expect(processInfo(writer)?.isStopped).toBe(false)
    const [a, b] = databases.map(({ database }) => Number(database.prepare('SELECT n FROM t').get()!.n))
    expect([0, 1]).toContain(a! - b!)
    for (const { database } of databases) database.close()
  }
})

test('snapshots are refused if the writer was resumed before all of them were open', async () => {
  const paths = [join(path, 'a.sqlite'), join(path, 'b.sqlite')]
  const writer = await startWriter(paths[0]!, paths[1]!)
  const list = () => {
    process.kill(writer, 'SIGCONT')
    return paths
  }
  await expect(freezeDatabases([writer], list)).rejects.toThrow(/ran on before all 2 databases were read/)
})
