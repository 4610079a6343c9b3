// Both workerds of a bench, the load process, and what is asked of them from outside: their memory and CPU time.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, bundle } from '../../src/launch/build.node.ts'
import { type GatewayProcessOptions, startGatewayProcess } from '../../src/launch/gateway-process.node.ts'
import { processTable } from '../../src/launch/process-table.node.ts'
import { readProcess } from '../soak/machine.node.ts'
import { startBare } from './bare.node.ts'
import { COINS } from './blocks.ts'
import type { SwarmTarget } from './client.node.ts'
import { Loader } from './loader.node.ts'

const ROOT = join(import.meta.dirname, '../..')
const ADMIN_TOKEN = 'admin-token-of-the-bench-of-weir-0001'
const FEED_TOKEN = 'feed-token-of-the-bench-of-weir-00001'
const KEY_SECRET = 'key-secret-of-the-bench-of-weir-00001'
/** One relay takes all sockets, as the bare object does. */
export const RELAY_SOCKETS = '2000'
const ONE_RELAY = { vars: { RELAY_SOCKETS, RELAYS_PER_REGION: '1' }, liveVars: { RELAY_SOCKETS } }
/** Whose sockets share them: a relay bounds what one account has unproved. */
const ACCOUNTS = 20
const READY_MS = 30_000
const CLOCK_TICKS = 100

export type Name = SwarmTarget['kind']

export interface Target {
  readonly name: Name
  readonly port: number
  /** Resident memory of its workerd in bytes; NaN where the system does not tell. */
  memory(): number
  /** CPU time that its workerd has used, in ms; NaN where the system does not tell. */
  cpuMs(): number
}

export interface Bench {
  readonly bare: Target
  readonly weir: Target
  readonly both: readonly [Target, Target]
  readonly load: Loader
  /** Header lines of an authenticated request. */
  readonly authorization: string
  readonly quick: boolean
  /** Of the repository. */
  readonly root: string
  readonly say: (text: string) => void
  /** Cores that other programs kept busy since the start; NaN where the system does not tell. */
  others(): Promise<number>
  stop(): Promise<void>
}

/** Starts everything, seeds the books and waits until every coin can be had. */
export async function startBench(quick: boolean, isArchived: boolean, say: (text: string) => void): Promise<Bench> {
  await build(ROOT)
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    const bare = await started(startBare(), 'bare', stops)
    const { target: weir, stop: stopWeir } = await startWeir({ ...ONE_RELAY, isArchived })
    stops.push(stopWeir)
    const load = new Loader()
    stops.push(() => load.stop())
    const authorization = `Authorization: Bearer ${weir.key}\r\n`
    await connect(load, bare, ['/ws'])
    await feedWeir(load, weir)
    const others = watchOthers([bare, weir], load)
    return { bare, weir, both: [bare, weir], load, authorization, quick, root: ROOT, say, others, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a gateway with a key of its own that has credits for all benches; the bundles are built. */
export async function startWeir(
  options: Pick<GatewayProcessOptions, 'vars' | 'liveVars' | 'bundles' | 'isArchived'>,
): Promise<{ target: Target & { readonly key: string }; stop: () => Promise<void> }> {
  const state = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  // On a signal Miniflare ends the process by itself, after its workerds: only this runs then.
  process.once('exit', () => rmSync(state, { recursive: true, force: true }))
  const secrets = { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET }
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const each of stops.splice(0)) await each()
  }
  try {
    const gateway = startGatewayProcess({ root: ROOT, state, port: 0, secrets, ...options })
    const target = await started(gateway, 'weir', stops)
    return { target: { ...target, key: await newKey(target.port) }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Builds the Workers that count what they do; answers where they are. */
export async function bundleCounted(): Promise<string> {
  const bundles = 'dist/bench'
  await bundle(ROOT, 'wrangler.toml', join(bundles, 'gateway'), 'test/bench/counted/gateway.worker.ts')
  await bundle(ROOT, 'wrangler.live.toml', join(bundles, 'live'), 'test/bench/counted/live.worker.ts')
  return bundles
}

/** Connects the load process, seeds the books and waits until every coin can be had. */
export async function feedWeir(load: Loader, weir: Target & { readonly key: string }): Promise<void> {
  const keys = await Promise.all(Array.from({ length: ACCOUNTS }, () => newKey(weir.port)))
  const paths = keys.map((each) => `/ws?key=${each}`)
  await connect(load, weir, paths)
  await ready(load, weir, weir.key)
}

async function started(
  starting: Promise<{ url: string; dispose: () => Promise<void> }>,
  name: Name,
  stops: (() => unknown)[],
): Promise<Target> {
  const before = new Set(workerds())
  const { url, dispose } = await starting
  stops.push(dispose)
  const pid = workerds().find((each) => !before.has(each))
  return {
    name,
    port: Number(new URL(url).port),
    memory: () => (readProcess(pid)?.rssMb ?? Number.NaN) * 2 ** 20,
    cpuMs: () => readProcess(pid)?.cpuMs ?? Number.NaN,
  }
}

function workerds(): number[] {
  return processTable()
    .filter(({ ppid, command }) => ppid === process.pid && command.includes('workerd'))
    .map(({ pid }) => pid)
}

/** Ticks that the machine's cores were busy since boot; NaN where the system does not tell. */
function busyMs(): number {
  try {
    const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
      .split('\n')[0]!
      .split(/ +/)
      .slice(1)
    return [user, nice, system, irq, softirq].reduce((sum, ticks) => sum + Number(ticks), 0) * (1000 / CLOCK_TICKS)
  } catch {
    return Number.NaN
  }
}

/** Begins to watch how many cores other programs keep busy; the answer tells how far figures can be trusted. */
function watchOthers(targets: readonly Target[], load: Loader): () => Promise<number> {
  const ours = async () => {
    const { user, system } = process.cpuUsage()
    const loaded = await load.call('cpuMs')
    return (user + system) / 1000 + loaded + targets.reduce((sum, { cpuMs }) => sum + cpuMs(), 0)
  }
  const start = { atMs: performance.now(), busy: busyMs(), ours: ours() }
  return async () => {
    const used = (await ours()) - (await start.ours)
    return (busyMs() - start.busy - used) / (performance.now() - start.atMs)
  }
}

async function newKey(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ credits: '100000000', plan: 'enterprise', label: 'bench' }),
  })
  if (answer.status !== 201) throw new Error(`no key: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { key: string }).key
}

function connect(load: Loader, { name, port }: Target, paths: readonly string[]): Promise<void> {
  const clients = paths.map((path) => ({ port, path, headers: '' }))
  const feed = { port, path: '/feed', headers: name === 'bare' ? '' : `Authorization: Bearer ${FEED_TOKEN}\r\n` }
  return load.call('connect', { kind: name, feed, clients })
}

async function ready(load: Loader, { port }: Target, key: string): Promise<void> {
  const deadline = performance.now() + READY_MS
  for (const coin of COINS) {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/info`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'l2BookDiffSnapshot', coin }),
      })
      const text = await answer.text()
      if (answer.status === 200) break
      if (performance.now() > deadline) throw new Error(`no book of ${coin}: ${answer.status} ${text}`)
      await load.call('tick', 'weir')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  await load.call('endSeeding', 'weir')
}
