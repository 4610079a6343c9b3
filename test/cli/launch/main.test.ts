// `npx weir demo` where it must not go on: it says why in a sentence, has started nothing and lets the folder go.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StateFolder } from '../../../src/cli/launch/state-folder.node.ts'
import { MAIN } from '../../kit/program.ts'

const AFRESH =
  "start fresh with \"npx weir demo --state '[^']*my weir é' --reset\", which invalidates every key issued here\\.\n$"

let state = ''
beforeEach(() => {
  state = join(mkdtempSync(join(tmpdir(), 'weir-main-')), 'my weir é')
})
afterEach(() => rmSync(join(state, '..'), { recursive: true }))

const put = (name: string, text: string) => {
  mkdirSync(join(state, name, '..'), { recursive: true })
  writeFileSync(join(state, name), text)
}

function start(port: string, ...more: string[]) {
  return startIn({ PORT: port }, ...more)
}

function startIn(environment: NodeJS.ProcessEnv, ...more: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [MAIN, 'demo', '--json', '--state', state, ...more], {
    env: { ...process.env, ...environment },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

const SECRETS = JSON.stringify({
  ...Object.fromEntries(
    ['ADMIN_TOKEN', 'FEED_TOKEN', 'METRICS_TOKEN', 'KEY_SECRET'].map((name) => [name, 'x'.repeat(32)]),
  ),
  key: null,
  serviceKey: null,
})
const METER = 'gateway/v3/do/weir-live-CreditMeter/f3.sqlite'

test.each<[string, Record<string, string>, RegExp]>([
  ['the secrets are damaged', { 'secrets.json': '{"ADMIN' }, new RegExp(`/secrets\\.json is damaged, .*${AFRESH}`)],
  ['the secrets are gone', { [METER]: '' }, new RegExp(`/secrets\\.json is missing, .*${AFRESH}`)],
  [
    'a database is damaged',
    { 'secrets.json': SECRETS, [METER]: 'no database' },
    new RegExp(`^The database .*/f3\\.sqlite is damaged \\(file is not a database\\)\\. .*${AFRESH}`),
  ],
])('%s', async (_, files, sentence) => {
  for (const [name, text] of Object.entries(files)) put(name, text)
  expect(await start('0')).toEqual({ code: 1, said: expect.stringMatching(sentence) })
  expect(existsSync(join(state, 'lock.json'))).toBe(false)
  expect(existsSync(join(state, 'node'))).toBe(false)
  for (const [name, text] of Object.entries(files)) expect(readFileSync(join(state, name), 'utf8')).toBe(text)
})

test('a different launcher uses the folder', async () => {
  mkdirSync(state)
  const other = new StateFolder(state)
  other.acquire()
  other.writeLock({ launcher: process.pid, children: {} })
  expect(await start('0')).toEqual({
    code: 1,
    said: expect.stringContaining(`${state} (process ${process.pid})`),
  })
  expect(other.readLock()?.launcher).toBe(process.pid)
  other.release()
})

test('a reset of a foreign folder', async () => {
  put('gateway/precious', '')
  expect(await start('0', '--reset')).toEqual({
    code: 1,
    said: expect.stringMatching(/^\S.*gateway was not created by/),
  })
  expect(existsSync(join(state, 'gateway/precious'))).toBe(true)
})

test('the port is in use or not a number', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  expect(await start(String(port))).toEqual({ code: 1, said: expect.stringMatching(/^Port \d+ is in use\. .*\n$/) })
  server.close()
  expect(existsSync(join(state, 'lock.json'))).toBe(false)
  expect(await start('0x50')).toEqual({
    code: 2,
    said: expect.stringMatching(/PORT is "0x50"/),
  })
})

test('RPC_CHAINS in the environment is invalid', async () => {
  const { code, said } = await startIn({ PORT: '0', RPC_CHAINS: '[{"name":"Mine","urls":["http://127.0.0.1:1"]}]' })
  expect([code, said.split('\n')[0]]).toEqual([
    2,
    'error: RPC_CHAINS 0.name: must be lower-case letters, digits, "_" or "-".',
  ])
  expect(existsSync(join(state, 'lock.json'))).toBe(false)
})
