import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort, killLeftovers, processInfo } from '../../../src/cli/launch/processes.node.ts'
import { StateFolder } from '../../../src/cli/launch/state-folder.node.ts'

let path = ''
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'weir-state-'))
})
afterEach(() => rmSync(path, { recursive: true }))

test('secrets are created once, long enough and readable only by the owner', () => {
  const folder = new StateFolder(join(path, 'new/deep'))
  folder.prepare()
  const secrets = folder.ensureSecrets()
  const { ADMIN_TOKEN, FEED_TOKEN, METRICS_TOKEN, KEY_SECRET } = secrets
  expect(new Set([ADMIN_TOKEN, FEED_TOKEN, METRICS_TOKEN, KEY_SECRET]).size).toBe(4)
  expect(secrets.KEY_SECRET.length).toBeGreaterThanOrEqual(32)
  expect(statSync(folder.pathOf('secrets.json')).mode & 0o777).toBe(0o600)
  folder.writeSecrets({ ...secrets, key: 'k' })
  expect(new StateFolder(folder.path).ensureSecrets()).toEqual({ ...secrets, key: 'k' })
})

test('the folder is private to its owner, even if it already existed', () => {
  for (const name of ['new/deep', 'old']) {
    const folder = new StateFolder(join(path, name))
    if (name === 'old') mkdirSync(folder.path, { mode: 0o755 })
    folder.prepare()
    expect([name, statSync(folder.path).mode & 0o777]).toEqual([name, 0o700])
  }
  expect(statSync(join(path, 'new')).mode & 0o077).not.toBe(0)
  chmodSync(path, 0o1777)
  new StateFolder(path).prepare()
  expect(statSync(path).mode & 0o7777).toBe(0o1777)
})

test('a folder that holds something else, such as /etc, keeps its mode', () => {
  writeFileSync(join(path, 'passwd'), '')
  chmodSync(path, 0o755)
  const folder = new StateFolder(path)
  folder.prepare()
  expect(statSync(path).mode & 0o777).toBe(0o755)
  folder.ensureSecrets()
  new StateFolder(path).prepare()
  expect(statSync(path).mode & 0o777).toBe(0o755)
})

test.runIf(process.getuid?.() === 0)('a folder of somebody else’s, who lets us write there, stays as it is', () => {
  chownSync(path, 12_345, 12_345)
  chmodSync(path, 0o777)
  new StateFolder(path).prepare()
  expect(statSync(path).mode & 0o777).toBe(0o777)
})

test('a reset keeps foreign files', () => {
  const folder = new StateFolder(path)
  folder.prepare()
  writeFileSync(join(path, 'mine.txt'), '')
  const before = folder.ensureSecrets()
  folder.clear()
  expect([existsSync(join(path, 'mine.txt')), existsSync(folder.pathOf('secrets.json'))]).toEqual([true, false])
  expect(folder.ensureSecrets().ADMIN_TOKEN).not.toBe(before.ADMIN_TOKEN)
})

test.each(['node', 'log'])('a folder with a foreign subfolder %s is rejected and stays unchanged', (name) => {
  mkdirSync(join(path, name))
  writeFileSync(join(path, name, 'mine.txt'), '')
  expect(() => new StateFolder(path).prepare()).toThrow(`${join(path, name)} was not created by "npx weir demo"`)
  expect(readdirSync(path)).toEqual([name])
  rmSync(join(path, name, 'mine.txt'))
  new StateFolder(path).prepare()
})

test('files that children leave in a folder after its removal count as ours', () => {
  for (const name of ['node/devnet', 'feeder/snapshots', 'gateway/v3']) mkdirSync(join(path, name), { recursive: true })
  new StateFolder(path).prepare()
})

test('one launcher at a time holds a folder, until it ends for any reason', () => {
  const first = new StateFolder(path)
  first.acquire()
  first.writeLock({ launcher: 7, children: {} })
  const second = new StateFolder(path)
  expect(() => second.acquire(0)).toThrow(/\(process 7\)/)
  expect(second.isLocked()).toBe(true)
  first.release()
  expect(second.isLocked()).toBe(false)
  const child = `import('${new URL('../../../src/cli/launch/state-folder.node.ts', import.meta.url)}')
    .then(({ StateFolder }) => { new StateFolder(process.argv[1]).acquire(); process.kill(process.pid, 'SIGKILL') })`
  expect(spawnSync(process.execPath, ['-e', child, path]).signal).toBe('SIGKILL')
  second.acquire(0)
  second.release()
})

test('processes left by a killed launcher are ended, but not unrelated processes that reuse their pids', async () => {
  const script = 'setInterval(() => {}, 1_000)'
  const ours = spawn(process.execPath, ['-e', script, path], { detached: true })
  const workerd = spawn('sh', ['-c', `exec "${process.execPath}" -e "${script}" workerd serve`], { detached: true })
  const stranger = spawn(process.execPath, ['-e', script], { detached: true })
  await expect.poll(() => processInfo(ours.pid!)?.command).toContain(path)
  // Each leads a group of its own, and that of workerd is the gateway's here.
  await killLeftovers(path, { gateway: workerd.pid!, devnet: ours.pid!, feeder: stranger.pid! })
  expect([ours, workerd, stranger].map(({ pid }) => processInfo(pid!) !== null)).toEqual([false, false, true])
  stranger.kill('SIGKILL')
})

test.each(['', '{', '{"ADMIN_TOKEN":"short"}'])('damaged secrets (%j) are rejected and stay unchanged', (text) => {
  const folder = new StateFolder(path)
  writeFileSync(folder.pathOf('secrets.json'), text)
  expect(() => folder.ensureSecrets()).toThrow('secrets.json is damaged')
  expect(readFileSync(folder.pathOf('secrets.json'), 'utf8')).toBe(text)
})

test('missing secrets are created only if there is no state of a gateway', () => {
  const folder = new StateFolder(path)
  const { key: _, ...first } = folder.ensureSecrets()
  mkdirSync(folder.pathOf('gateway'))
  expect(folder.ensureSecrets()).toMatchObject(first)
  rmSync(folder.pathOf('secrets.json'))
  expect(() => folder.ensureSecrets()).toThrow(/secrets\.json is missing/)
  expect(existsSync(folder.pathOf('secrets.json'))).toBe(false)
  folder.clear()
  expect(folder.ensureSecrets().KEY_SECRET).not.toBe(first.KEY_SECRET)
})

test('secrets of a different folder are rejected once keys exist', () => {
  const folder = new StateFolder(path)
  const own = folder.ensureSecrets()
  const other = { ...own, KEY_SECRET: 'x'.repeat(48) }
  folder.writeSecrets(other)
  expect(folder.ensureSecrets()).toEqual(other)
  folder.writeSecrets({ ...own, key: 'k' })
  writeFileSync(folder.pathOf('secrets.json'), JSON.stringify({ ...other, key: 'k' }))
  expect(() => folder.ensureSecrets()).toThrow(/^The KEY_SECRET in .*secrets\.json/)
  writeFileSync(folder.pathOf('secrets.json'), JSON.stringify(own))
  expect(folder.ensureSecrets()).toEqual(own)
})

test('damaged port and lock files are ignored', () => {
  const folder = new StateFolder(path)
  expect([folder.readLock(), folder.readPorts()]).toEqual([null, null])
  folder.writePorts({ gateway: 1, devnet: 2 })
  expect(folder.readPorts()).toEqual({ gateway: 1, devnet: 2 })
  writeFileSync(folder.pathOf('lock.json'), '{')
  for (const text of ['{"gateway":"x"}', '{"gateway":1,"devnet":65536}', '{"gateway":0,"devnet":2}']) {
    writeFileSync(folder.pathOf('ports.json'), text)
    expect([folder.readLock(), folder.readPorts()]).toEqual([null, null])
  }
})

test('a file that cannot be replaced stays unchanged, and no temporary file remains', () => {
  const folder = new StateFolder(path)
  mkdirSync(join(path, 'ports.json/in'), { recursive: true })
  expect(() => folder.writePorts({ gateway: 1, devnet: 2 })).toThrow()
  expect(readdirSync(path)).toEqual(['ports.json'])
})

test('a folder that cannot be created throws', () => {
  writeFileSync(join(path, 'file'), '')
  expect(() => new StateFolder(join(path, 'file/state')).prepare()).toThrow()
})

test.skipIf(process.platform !== 'linux')('a folder below /proc throws', () => {
  expect(() => new StateFolder('/proc/weir').prepare()).toThrow()
})

test('a reserved port is not assigned again', async () => {
  const port = await freePort(undefined)
  expect([await freePort(port), (await freePort(port, port)) === port]).toEqual([port, false])
})
