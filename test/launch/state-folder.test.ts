import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
  folder.forget()
  expect([existsSync(join(path, 'mine.txt')), existsSync(folder.part('secrets.json'))]).toEqual([true, false])
  expect(folder.secrets().ADMIN_TOKEN).not.toBe(before.ADMIN_TOKEN)
})

test.each(['', '{', '{"ADMIN_TOKEN":"short"}'])('secrets that are damaged (%j) are refused and left alone', (text) => {
  const folder = new StateFolder(path)
  writeFileSync(folder.part('secrets.json'), text)
  const cure = 'put a copy back, or begin afresh with "npm start -- --reset", which ends every key issued here.'
  expect(() => folder.secrets()).toThrow(`secrets.json is damaged, and no key of this folder works without it: ${cure}`)
  expect(readFileSync(folder.part('secrets.json'), 'utf8')).toBe(text)
})

test('secrets that are missing are drawn anew only where no gateway has its state', () => {
  const folder = new StateFolder(path)
  const { key: _, ...first } = folder.secrets()
  mkdirSync(folder.part('gateway'))
  expect(folder.secrets()).toMatchObject(first)
  rmSync(folder.part('secrets.json'))
  expect(() => folder.secrets()).toThrow(/secrets\.json is missing, and no key of this folder works without it/)
  expect(existsSync(folder.part('secrets.json'))).toBe(false)
  folder.forget()
  expect(folder.secrets().KEY_SECRET).not.toBe(first.KEY_SECRET)
})

test('a damaged lock is told from none, because a launcher may run; damaged ports are forgotten', () => {
  const folder = new StateFolder(path)
  expect([folder.lock(), folder.ports()]).toEqual([null, null])
  folder.keepPorts({ gateway: 1, devnet: 2 })
  expect(folder.ports()).toEqual({ gateway: 1, devnet: 2 })
  writeFileSync(folder.part('lock.json'), '{')
  writeFileSync(folder.part('ports.json'), '{"gateway":"x"}')
  expect([folder.lock(), folder.ports()]).toEqual(['damaged', null])
})

test('a file that cannot be replaced stays as it was, and nothing is left beside it', () => {
  const folder = new StateFolder(path)
  mkdirSync(join(path, 'ports.json/in'), { recursive: true })
  expect(() => folder.keepPorts({ gateway: 1, devnet: 2 })).toThrow()
  expect(readdirSync(path)).toEqual(['ports.json'])
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
