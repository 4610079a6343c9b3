import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { processInfo, processTable } from '../../src/launch/process-table.node.ts'
import { StateFolder } from '../../src/launch/state-folder.node.ts'

let path = ''
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'weir-state-'))
})
afterEach(() => rmSync(path, { recursive: true }))

test('secrets are made once, long enough, for the owner alone', () => {
  const folder = new StateFolder(join(path, 'new/deep'))
  folder.prepare()
  const secrets = folder.secrets()
  expect(new Set([secrets.ADMIN_TOKEN, secrets.FEED_TOKEN, secrets.KEY_SECRET]).size).toBe(3)
  expect(secrets.KEY_SECRET.length).toBeGreaterThanOrEqual(32)
  expect(statSync(folder.part('secrets.json')).mode & 0o777).toBe(0o600)
  folder.keepSecrets({ ...secrets, key: 'k' })
  expect(new StateFolder(folder.path).secrets()).toEqual({ ...secrets, key: 'k' })
})

test('a reset leaves what is not ours', () => {
  const folder = new StateFolder(path)
  folder.prepare()
  writeFileSync(join(path, 'mine.txt'), '')
  const before = folder.secrets()
  folder.reset()
  expect([existsSync(join(path, 'mine.txt')), existsSync(folder.part('secrets.json'))]).toEqual([true, false])
  expect(folder.secrets().ADMIN_TOKEN).not.toBe(before.ADMIN_TOKEN)
})

test('a folder that cannot be made throws', () => {
  writeFileSync(join(path, 'file'), '')
  expect(() => new StateFolder(join(path, 'file/state')).prepare()).toThrow()
})

test.skipIf(process.platform !== 'linux')('a folder below /proc throws', () => {
  expect(() => new StateFolder('/proc/weir').prepare()).toThrow()
})

test('the process table has this process, with the birth that a look at it alone gives', () => {
  const self = processTable().find(({ pid }) => pid === process.pid)
  expect(self).toMatchObject({ ppid: process.ppid, born: processInfo(process.pid)!.born })
  expect(processInfo(2 ** 30)).toBe(null)
})
