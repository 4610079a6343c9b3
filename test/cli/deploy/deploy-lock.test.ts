import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lockDeploys } from '../../../src/cli/deploy/deploy-lock.node.ts'
import { ROOT } from '../../kit/program.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('lets one deploy run in a folder at a time', () => {
  const release = lockDeploys(folder)
  expect(() => lockDeploys(folder)).toThrow('Another "weir deploy" runs in this folder. Wait until it has ended.')
  release()
  lockDeploys(folder)()
})

it('is released when the process that holds it is killed', async () => {
  const program = `
    const { lockDeploys } = await import(${JSON.stringify(join(ROOT, 'src/cli/deploy/deploy-lock.node.ts'))})
    lockDeploys(${JSON.stringify(folder)})
    console.log('locked')
    setInterval(() => undefined, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  expect(() => lockDeploys(folder)).toThrow('Another "weir deploy"')
  child.kill('SIGKILL')
  await once(child, 'close')
  lockDeploys(folder)()
})
