import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lockFile } from '../../src/core/file-lock.node.ts'
import { ROOT } from '../kit/program.ts'

let folder: string
const path = () => join(folder, 'lock.sqlite')
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('is held by one at a time', () => {
  const lock = lockFile(path(), 0)
  expect(lockFile(path(), 0)).toBeNull()
  lock?.close()
  const next = lockFile(path(), 0)
  expect(next).not.toBeNull()
  next?.close()
})

it('is released when the process that holds it is killed', async () => {
  const program = `
    const { lockFile } = await import(${JSON.stringify(join(ROOT, 'src/core/file-lock.node.ts'))})
    globalThis.lock = lockFile(${JSON.stringify(path())}, 0)
    console.log('locked')
    setInterval(() => undefined, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  expect(lockFile(path(), 0)).toBeNull()
  child.kill('SIGKILL')
  await once(child, 'close')
  const next = lockFile(path(), 0)
  expect(next).not.toBeNull()
  next?.close()
})
