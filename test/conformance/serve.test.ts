// `weir serve` on one machine: paid calls, kills, an update, backups under load, and what it refuses.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backUp } from '../../src/cli/serve/backup.node.ts'
import { restore } from '../../src/cli/serve/restore.node.ts'
import { powerCutFault, serveRun } from '../crash/serve-run.ts'
import { lastingPort, MAIN, type Program, run, scratch } from '../kit/program.ts'
import {
  admin,
  type Devnet,
  paidCall,
  type Served,
  type ServeSecrets,
  secretsOf,
  startDevnet,
  startFeeder,
  startServe,
  statusOf,
  untilLive,
} from '../kit/served.ts'
import { until } from '../kit/until.ts'

const folder = scratch()
const state = join(folder.path, 'state')
const backups = join(folder.path, 'backups')
const port = lastingPort()
let devnet: Devnet
let served: Served
let feeder: Program
let secrets: ServeSecrets
let key = ''

interface Account {
  readonly granted: string
  readonly spent: string
}
const account = (url: string) => admin<Account>(url, secrets, '/accounts/acme')

beforeAll(async () => {
  devnet = await startDevnet(folder.path)
  served = await startServe(state, port, { node: devnet.url })
  secrets = secretsOf(state)
  feeder = startFeeder(folder.path, devnet, served.url, secrets.FEED_TOKEN)
  const create = run('keys', ['create', '--account', 'acme', '--credits', '100000', '--state', state])
  key = await create.line((line) => line.startsWith('cqt_'))
  await untilLive(served.url)
}, 120_000)
afterAll(async () => {
  await Promise.all([feeder?.end(), served?.process.end(), devnet?.process.end()])
  folder.remove()
})

it('serves paid calls, and has nothing of a demo', async () => {
  expect(await paidCall(served.url, key)).toEqual({ status: 200, cost: expect.stringMatching(/^[\d.]+$/) })
  const running = JSON.parse(readFileSync(join(state, 'running.json'), 'utf8')) as object
  expect(Object.keys(running).sort()).toEqual(['admin_token', 'feed_token', 'metrics_token', 'pids', 'url'])
  await expect(admin(served.url, secrets, '/accounts/demo')).rejects.toThrow(/404/)
  // The node answers what the gateway does not hold.
  const call = { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } }
  const meta = await fetch(`${served.url}/info`, { ...call, body: JSON.stringify({ type: 'exchangeStatus' }) })
  expect(meta.status).toBe(200)
})

it('continues after a kill of everything, and after an update, without losing a block', async () => {
  const before = await statusOf(served.url)
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    // workerd survives the kill of its parent, and has the port and the databases.
    await served.process.end(signal)
    expect(served.process.process.exitCode).toBe(signal === 'SIGTERM' ? 0 : null)
    served = await startServe(state, port, { node: devnet.url })
    await untilLive(served.url)
    expect((await paidCall(served.url, key)).status).toBe(200)
  }
  const after = await statusOf(served.url)
  expect(after.epoch).toBe(before.epoch)
  expect(after.gaps).toEqual([])
  expect(after.durable).toBeGreaterThan(before.durable ?? 0)
}, 120_000)

describe('a backup under load', () => {
  let calls = 0
  let isLoaded = true
  const load = async () => {
    while (isLoaded) if ((await paidCall(served.url, key).catch(() => null))?.status === 200) calls++
  }

  it('is of one moment, and restores equal', { timeout: 180_000 }, async () => {
    await until(async () => readdirSync(join(state, 'gateway/v3/r2/weir-archive/blobs')).length > 0, 'no archive', {
      withinMs: 120_000,
    })
    const loads = [load(), load(), load()]
    const callsBefore = calls
    const first = await backUp(state, backups)
    const second = await backUp(state, backups)
    expect(calls).toBeGreaterThan(callsBefore)
    isLoaded = false
    await Promise.all(loads)
    expect(first.stoppedMs).toBeLessThan(1_000)
    expect(Object.keys(second.manifest.blobs).length).toBeGreaterThan(0)

    const copy = join(folder.path, 'copy')
    await restore(backups, copy)
    const other = await startServe(copy, port + 1, { node: devnet.url })
    const [own, restored] = await Promise.all([account(served.url), account(other.url)])
    // The backup is older, so it has charged at most as much.
    expect(restored.granted).toBe(own.granted)
    expect(Number(restored.spent)).toBeGreaterThan(0)
    expect(Number(restored.spent)).toBeLessThanOrEqual(Number(own.spent))
    expect(await admin(other.url, secrets, '/reconcile', { apply: false })).toMatchObject({
      differences: [],
      failed: [],
    })
    expect((await paidCall(other.url, key)).status).not.toBe(401)
    expect((await statusOf(other.url)).durable).toBeGreaterThan(0)
    await other.process.end()
  })

  it.each<[string, (snapshot: string) => void, RegExp]>([
    ['half-written', (snapshot) => rmSync(join(snapshot, 'manifest.json')), /no complete backup/],
    ['truncated', (snapshot) => writeFileSync(join(snapshot, 'manifest.json'), '{"version":'), /no complete backup/],
    [
      'damaged',
      (snapshot) => writeFileSync(join(snapshot, 'secrets.json'), '{}'),
      /secrets\.json is damaged.*Nothing was restored/,
    ],
    [
      'newer',
      (snapshot) => {
        const manifest = JSON.parse(readFileSync(join(snapshot, 'manifest.json'), 'utf8')) as object
        writeFileSync(join(snapshot, 'manifest.json'), JSON.stringify({ ...manifest, version: '99.0.0' }))
      },
      /made by Weir 99\.0\.0/,
    ],
  ])('a %s one is refused, and nothing is written', async (_, spoil, words) => {
    const [name = ''] = readdirSync(backups)
      .filter((one) => one.startsWith('20'))
      .sort()
      .reverse()
    const spoiled = join(folder.path, 'spoiled')
    rmSync(spoiled, { recursive: true, force: true })
    cpSync(join(backups, name), join(spoiled, name), { recursive: true })
    cpSync(join(backups, 'blobs'), join(spoiled, 'blobs'), { recursive: true })
    spoil(join(spoiled, name))
    const target = join(folder.path, 'never')
    await expect(restore(spoiled, target)).rejects.toThrow(words)
    expect(existsSync(target)).toBe(false)
  })
})

it('loses nothing acknowledged in a kill and a power cut', { timeout: 240_000 }, async ({ skip }) => {
  const fault = powerCutFault()
  skip(fault !== null, fault ?? '')
  const seed = 1 + (Date.now() % 1_000_000)
  const report = await serveRun({ runs: 2, seed, say: () => {} }).catch((error: Error) => {
    throw new Error(`seed ${seed}: ${error.message}`)
  })
  expect(report).toMatchObject({ kills: 1, cuts: 1 })
  expect(report.keys).toBeGreaterThan(1)
})

describe('refuses, with a sentence and exit code 1,', () => {
  const serve = (place: string, ...more: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'serve', '--state', place, ...more], {
      encoding: 'utf8',
    })
    return [status, stderr.trim()]
  }
  /** A folder as a past run left it. */
  const usedFolder = (mark: object) => {
    const place = join(folder.path, 'used')
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place)
    writeFileSync(join(place, 'folder.json'), JSON.stringify({ version: '0.2.0', lastMs: 0, ...mark }))
    return place
  }

  it('a second serve on one folder', () => {
    expect(serve(state, '--port', '0')).toEqual([1, expect.stringMatching(/already running on .* \(process \d+\)/)])
  })

  it('a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const place = join(folder.path, 'fresh')
    expect(serve(place, '--port', String(port))).toEqual([1, expect.stringMatching(/^Port \d+ is in use.*--port/)])
    taken.close()
  })

  it('a folder of a newer version', () => {
    expect(serve(usedFolder({ version: '99.0.0' }))).toEqual([1, expect.stringMatching(/was used by Weir 99\.0\.0/)])
  })

  it('a clock that was set back', () => {
    const place = usedFolder({ lastMs: Date.now() + 86_400_000 })
    expect(serve(place)).toEqual([1, expect.stringMatching(/Correct the clock, or pass --accept-clock/)])
  })

  it('a restore that did not finish, and the folder of a demo', () => {
    const place = usedFolder({})
    writeFileSync(join(place, 'restoring'), '')
    expect(serve(place)).toEqual([1, expect.stringMatching(/did not finish\. Run "npx weir restore" again/)])
    const demo = join(folder.path, 'demo')
    mkdirSync(demo)
    writeFileSync(join(demo, 'ports.json'), '{}')
    expect(serve(demo)).toEqual([1, expect.stringMatching(/belongs to "npx weir demo"/)])
  })

  it('another KEY_SECRET than the folder has', () => {
    const env = { ...process.env, KEY_SECRET: 'k'.repeat(40) }
    const place = usedFolder({})
    const own = Object.fromEntries(
      ['ADMIN_TOKEN', 'FEED_TOKEN', 'METRICS_TOKEN', 'KEY_SECRET'].map((name) => [name, 'x'.repeat(40)]),
    )
    writeFileSync(join(place, 'secrets.json'), JSON.stringify({ ...own, key: null, serviceKey: null }))
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'serve', '--state', place, '--port', '0'], {
      encoding: 'utf8',
      env,
    })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/KEY_SECRET in the environment does not match/)])
  })

  it('a full disk', ({ skip }) => {
    const place = join(folder.path, 'small')
    mkdirSync(place)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', place])
    skip(mounted.status !== 0, 'needs the right to mount a small file system')
    try {
      expect(serve(join(place, 'state'), '--port', '0')).toEqual([1, expect.stringMatching(/disk of .* is full/)])
    } finally {
      execFileSync('umount', [place])
    }
  })
})
