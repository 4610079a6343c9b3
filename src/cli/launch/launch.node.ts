// One launch: three children on one state folder, their pids kept true in the lock and in dev.json.

import { join } from 'node:path'
import { devFilePath } from '../dev-file.node.ts'
import type { LaunchOptions } from './args.ts'
import type { DemoKeys } from './demo-account.node.ts'
import { diskFull, folderLost, news, type Seen } from './messages.ts'
import { childrenOf, processInfo } from './processes.node.ts'
import { type Ports, type Secrets, type StateFolder, writeWhole } from './state-folder.node.ts'
import { type ChildSpec, type ChildWatcher, SupervisedChild } from './supervised-child.node.ts'

interface LaunchWorld {
  readonly root: string
  readonly folder: StateFolder
  readonly options: LaunchOptions
  readonly ports: Ports
  readonly secrets: Secrets
  readonly say: (line: string) => void
}

type Name = 'devnet' | 'gateway' | 'feeder'

/**
 * Of devnet and its feeder. Node takes half of the machine's memory before it collects in earnest: a demo left overnight
 * would fill it with what is long dead. A feeder at the real exchange's size holds 300 MB.
 */
const HEAP_MB = { devnet: 320, feeder: 640 }
/** At the real size devnet has 280 MB of objects, beside 100 MB of columns; the feeder keeps every resting order. */
const LARGE_HEAP_MB = { devnet: 900, feeder: 1_500 }
/**
 * workerd has no bound of its own and collects when it must: at rest it stood at 420 MB after a quarter of an hour, of which
 * less than 30 were alive, and with this at 300: what dies young is found sooner.
 */
const YOUNG = '--max-semi-space-size=4'
/** How often workerd's pid and the sizes of the logs are looked at. */
const LOOK_MS = 500

export class Launch {
  readonly #world: LaunchWorld
  readonly #children = new Map<Name, SupervisedChild>()
  readonly #pids = new Map<string, number>()
  #keys: DemoKeys | null = null
  #look: NodeJS.Timeout | null = null
  #isDiskFull = false
  #seen: Seen = { stopped: [] }
  /** What stands in the lock and in dev.json. */
  #written = ''

  constructor(world: LaunchWorld) {
    this.#world = world
    const watcher = this.#watcher()
    for (const spec of childSpecs(world)) this.#children.set(spec.name as Name, new SupervisedChild(spec, watcher))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#world.ports.gateway}`
  }

  start(...names: Name[]): void {
    for (const name of names) this.#children.get(name)?.start()
    this.#look ??= setInterval(() => this.#lookAround(), LOOK_MS)
  }

  /** From now on dev.json is written, and kept true. Answers its text. */
  ready(keys: DemoKeys): string {
    this.#keys = keys
    return this.#note()
  }

  /** Ends all children, the feeder first so that it can note where it stands, and lets the folder go. */
  async stop(): Promise<void> {
    await this.#end()
    if (this.#keys) this.#note({})
    this.#world.folder.unlock()
  }

  async #end(): Promise<void> {
    if (this.#look) clearInterval(this.#look)
    await this.#children.get('feeder')?.stop()
    await Promise.all([this.#children.get('gateway')?.stop(), this.#children.get('devnet')?.stop()])
    this.#pids.clear()
  }

  #watcher(): ChildWatcher {
    return {
      started: (name, pid) => {
        this.#pids.set(name, pid)
        this.#note()
      },
      died: (name, how, restartMs) => {
        this.#seen = { stopped: [] }
        this.#world.say(`${name} ended (${how}); it starts again in ${restartMs} ms. See ${this.#log(name)}`)
      },
    }
  }

  #lookAround(): void {
    if (!this.#isOurs()) return void this.#leave()
    for (const child of this.#children.values()) child.trimLog()
    const pids = this.#running()
    this.#note(pids)
    const { folder, say } = this.#world
    const isStopped = (pid: number) => process.platform === 'linux' && processInfo(pid)?.isStopped
    const stopped = Object.entries(pids).flatMap(([name, pid]) => (isStopped(pid) ? [name] : []))
    // The first start makes its tables in a workerd of its own, whose end is no news.
    const { workerd: _, ...early } = pids
    const { seen, lines } = news(this.#seen, this.#keys ? pids : early, stopped)
    this.#seen = seen
    for (const line of lines) say(line)
    const isFull = folder.isDiskFull()
    if (isFull && !this.#isDiskFull) say(diskFull(folder.path))
    this.#isDiskFull = isFull
  }

  /** Whether the folder is there and has our lock. */
  #isOurs(): boolean {
    return this.#world.folder.lock()?.launcher === process.pid
  }

  /** Without a trace in the folder, which may be another launcher's by now. */
  async #leave(): Promise<never> {
    this.#world.say(folderLost(this.#world.folder.path))
    await this.#end()
    process.exit(1)
  }

  /** Keeps the lock true and, once ready, dev.json; answers the text of the latter. */
  #note(pids = this.#running()): string {
    const { folder } = this.#world
    const { start: _, ...children } = pids
    const text = this.#devText(pids)
    const written = JSON.stringify([children, this.#keys && text])
    if (written === this.#written) return text
    try {
      folder.keepLock({ launcher: process.pid, children })
      if (this.#keys) writeWhole(devFilePath(folder.path), `${text}\n`)
      this.#written = written
    } catch (error) {
      // A full disk, which is said once: tried again at the next look.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
    }
    return text
  }

  #running(): Record<string, number> {
    const pids: Record<string, number> = { start: process.pid, ...Object.fromEntries(this.#pids) }
    // What runs SQL is there once it was asked for.
    const [workerd] = childrenOf(pids.gateway ?? 0, 'workerd serve')
    const [sql] = childrenOf(pids.gateway ?? 0, 'sql.node.ts')
    return { ...pids, ...(workerd && { workerd }), ...(sql && { sql }) }
  }

  #devText(pids: Readonly<Record<string, number>>): string {
    const { ADMIN_TOKEN, FEED_TOKEN } = this.#world.secrets
    const { key, serviceKey } = this.#keys ?? { key: null, serviceKey: null }
    const tokens = { admin_token: ADMIN_TOKEN, feed_token: FEED_TOKEN }
    return JSON.stringify({ url: this.url, key, service_key: serviceKey, ...tokens, pids })
  }

  #log(name: string): string {
    return this.#world.folder.part(`log/${name}.log`)
  }
}

function childSpecs({ root, folder, options, ports, secrets }: LaunchWorld): ChildSpec[] {
  const isLarge = options.scale === 'mainnet'
  const node = `http://127.0.0.1:${ports.devnet}`
  const gateway = `http://127.0.0.1:${ports.gateway}`
  const data = folder.part('node')
  const { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET } = secrets
  const spec = (name: Name, program: string, args: readonly string[], env: Record<string, string> = {}): ChildSpec => ({
    name,
    args: [...(name === 'gateway' ? [] : heapOf(name, isLarge)), join(root, 'src', program), ...args],
    env,
    log: folder.part(`log/${name}.log`),
  })
  return [
    spec('devnet', 'devnet/main.node.ts', [
      ...['--data', data, '--port', String(ports.devnet), '--json'],
      ...options.devnet,
    ]),
    spec(
      'gateway',
      'cli/launch/gateway.node.ts',
      [
        ...['--state', folder.part('gateway'), '--port', String(ports.gateway), '--node', node],
        ...['--keep', String(options.keep)],
      ],
      { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET, ...(isLarge ? {} : { MINIFLARE_WORKERD_V8_FLAGS: YOUNG }) },
    ),
    spec(
      'feeder',
      'feeder/main.node.ts',
      ['--data', data, '--info', node, '--gateway', gateway, '--state', folder.part('feeder')],
      { FEED_TOKEN },
    ),
  ]
}

/** A large exchange makes much that is short-lived, which a small space would take for long-lived. */
function heapOf(name: 'devnet' | 'feeder', isLarge: boolean): string[] {
  return isLarge ? [`--max-old-space-size=${LARGE_HEAP_MB[name]}`] : [`--max-old-space-size=${HEAP_MB[name]}`, YOUNG]
}
