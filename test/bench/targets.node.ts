// Starts both workerd processes of a benchmark and the load process, and reads their memory and CPU time.

import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { build, bundle } from '../../src/cli/launch/build.node.ts'
import { childrenOf } from '../../src/cli/launch/processes.node.ts'
import { FEED_TOKEN, startWorld, type World, type WorldOptions } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { ROOT } from '../kit/program.ts'
import { until } from '../kit/until.ts'
import { WorkerProcess } from '../kit/worker-process.ts'
import { busyMs, readProcess } from '../soak/machine.node.ts'
import { startBare } from './bare.node.ts'
import { COINS } from './blocks.ts'
import type { SwarmTarget } from './client.node.ts'
import type { Duties } from './load.node.ts'

export type Loader = WorkerProcess<Duties>
const LOAD_MS = 60_000
/** One relay takes all sockets, as the bare object does. */
export const RELAY_SOCKETS = '2000'
const ONE_RELAY = { vars: { RELAY_SOCKETS, RELAYS_PER_REGION: '1' }, objectVars: { RELAY_SOCKETS } }
/** Whose sockets share them: a relay bounds what one account has unproved. */
const ACCOUNTS = 20
const READY_MS = 30_000

export type Name = SwarmTarget['kind']

export interface Target {
  readonly name: Name
  readonly port: number
  /** Resident memory of its workerd in bytes; NaN where the system does not tell. */
  memory(): number
  /** CPU time that its workerd has used, in ms; NaN where the system does not tell. */
  cpuMs(): number
}

export interface Weir {
  readonly target: Target & { readonly key: string; readonly world: World }
  stop(): Promise<void>
}

export interface Bench {
  readonly bare: Target
  readonly weir: Target
  readonly both: readonly [Target, Target]
  readonly load: Loader
  /** Header lines of an authenticated request. */
  readonly authorization: string
  readonly quick: boolean
  readonly say: (text: string) => void
  /** Cores that other programs kept busy since the start; NaN where the system tells nothing of processes. */
  others(): Promise<number>
  stop(): Promise<void>
}

export const startLoad = (): Loader => new WorkerProcess(join(import.meta.dirname, 'load.node.ts'), LOAD_MS)

/** Starts everything, seeds the books and waits until every coin can be had. */
export async function startBench(quick: boolean, isArchived: boolean, say: (text: string) => void): Promise<Bench> {
  await build(ROOT)
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    const before = new Set(workerds())
    const { url, dispose } = await startBare()
    stops.push(dispose)
    const bare = targetOf('bare', url, before)
    const { target: weir, stop: stopWeir } = await startWeir({ ...ONE_RELAY, isArchived })
    stops.push(stopWeir)
    const load = startLoad()
    stops.push(() => load.stop())
    const authorization = `Authorization: Bearer ${weir.key}\r\n`
    await connect(load, bare, ['/ws'])
    await feedWeir(load, weir)
    const others = watchOthers([bare, weir], load)
    return { bare, weir, both: [bare, weir], load, authorization, quick, say, others, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a gateway with a key of its own that has credits for all benches; the bundles are built. */
async function startWeir(options: WorldOptions): Promise<Weir> {
  const before = new Set(workerds())
  const world = await startWorld({ ...options, vars: { PATH_KEYS: 'off', TRUST_PROXY: 'on', ...options.vars } })
  const key = await newKey(world)
  return { target: { ...targetOf('weir', world.url, before), key, world }, stop: () => world.stop() }
}

/** Runs `work` on a gateway of its own, beside a server of its own. */
export async function usingWeir<T>(
  listener: RequestListener,
  options: (url: string) => WorldOptions,
  work: (target: Weir['target'], url: string) => Promise<T>,
): Promise<T> {
  const { url, close } = await startServer(listener)
  try {
    const { target, stop } = await startWeir(options(url))
    return await work(target, url).finally(stop)
  } finally {
    close()
  }
}

/** Builds the Workers that count what they do; answers where they are. */
export async function bundleCounted(): Promise<string> {
  const bundles = 'dist/bench'
  await bundle(ROOT, 'wrangler.toml', join(bundles, 'gateway'), 'test/bench/counted/gateway.worker.ts')
  await bundle(ROOT, 'wrangler.live.toml', join(bundles, 'live'), 'test/bench/counted/live.worker.ts')
  await bundle(ROOT, 'wrangler.jobs.toml', join(bundles, 'jobs'))
  return bundles
}

/** Connects the load process, seeds the books and waits until every coin can be had. */
export async function feedWeir(load: Loader, weir: Weir['target']): Promise<void> {
  const keys = await Promise.all(Array.from({ length: ACCOUNTS }, () => newKey(weir.world)))
  const paths = keys.map((each) => `/ws?key=${each}`)
  await connect(load, weir, paths)
  await ready(load, weir)
}

/** Its workerd is the one that was not there before. */
function targetOf(name: Name, url: string, before: ReadonlySet<number>): Target {
  const pid = workerds().find((each) => !before.has(each))
  return {
    name,
    port: Number(new URL(url).port),
    memory: () => (readProcess(pid)?.rssMb ?? Number.NaN) * 2 ** 20,
    cpuMs: () => readProcess(pid)?.cpuMs ?? Number.NaN,
  }
}

const workerds = () => childrenOf(process.pid, 'workerd')

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

const newKey = (world: World) => world.newKey('100000000', { plan: 'enterprise', label: 'bench' })

function connect(load: Loader, { name, port }: Target, paths: readonly string[]): Promise<void> {
  const clients = paths.map((path) => ({ port, path, headers: '' }))
  const feed = { port, path: '/feed', headers: name === 'bare' ? '' : `Authorization: Bearer ${FEED_TOKEN}\r\n` }
  return load.call('connect', { kind: name, feed, clients })
}

async function ready(load: Loader, { world, key }: Weir['target']): Promise<void> {
  for (const coin of COINS) {
    const hasBook = async () => {
      if ((await world.info(key, { type: 'l2BookDiffSnapshot', coin })).ok) return true
      await load.call('tick', 'weir')
      return false
    }
    await until(hasBook, `no book of ${coin}`, { withinMs: READY_MS, everyMs: 100 })
  }
  await load.call('endSeeding', 'weir')
}
