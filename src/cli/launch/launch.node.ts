// One launch: three supervised children on one state folder, with their pids in the lock and running.json. Each child leads its own
// process group, writes to a log file and is restarted when it dies. Before a restart the rest of its old group is killed, because
// workerd survives a killed Node process and keeps the port.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writeAtomically } from '../../core/atomic-file.node.ts'
import { orFallback } from '../../core/deadline.ts'
import { parseJson } from '../../core/json.ts'
import { programUrl } from '../../core/program-url.node.ts'
import { after } from '../../core/timers.client.ts'
import { DEFAULT_SEED, simulatedKey } from '../../devnet/simulated-keys.node.ts'
import { runningFilePath } from '../running-file.node.ts'
import type { LaunchOptions } from './args.ts'
import type { DemoKeys } from './demo-account.node.ts'
import { PROBLEMS, type ProcessStates, processUpdates } from './messages.ts'
import { childrenOf, killGroup, processInfo } from './processes.node.ts'
import type { Ports, Secrets, StateFolder } from './state-folder.node.ts'

export interface ChildSpec {
  readonly name: string
  /** Arguments of Node: the program and its arguments. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly log: string
}

export interface ChildWatcher {
  /** Called on every start and restart. */
  onStart(name: string, pid: number): void
  /** Called on an unexpected exit, but only once while the restart delay stays the same. */
  onExit(name: string, how: string, restartMs: number): void
}

const LOG_MAX_BYTES = 8 * 1024 * 1024
const STOP_GRACE_MS = 3_000
const RESTART_FIRST_MS = 200
const RESTART_CAP_MS = 2_000
/** A child that lived this long counts as stable, which resets the restart delay. */
const STABLE_MS = 5_000
const GUARD = programUrl(import.meta, 'guard').href

export class SupervisedChild {
  readonly #spec: ChildSpec
  readonly #watcher: ChildWatcher
  #child: ChildProcess | null = null
  #isStopping = false
  #lastDelayMs = 0
  /** Offset in the log file at which this run started; the file may have been truncated since. */
  #logFrom = 0

  constructor(spec: ChildSpec, watcher: ChildWatcher) {
    this.#spec = spec
    this.#watcher = watcher
  }

  start(): void {
    trimLog(this.#spec.log)
    // The folder may have been deleted.
    mkdirSync(dirname(this.#spec.log), { recursive: true })
    const log = openSync(this.#spec.log, 'a', 0o600)
    this.#logFrom = fstatSync(log).size
    const child = spawn(process.execPath, ['--import', GUARD, ...this.#spec.args], {
      env: { ...process.env, ...this.#spec.env },
      stdio: ['pipe', log, log],
      detached: true,
    })
    closeSync(log)
    this.#child = child
    const startedAt = Date.now()
    child.stdin?.on('error', () => {})
    child.on('exit', (code, signal) => {
      const how = exitReason(code, signal, () => this.#currentLog())
      void this.#onExit(child, how, Date.now() - startedAt)
    })
    if (child.pid !== undefined) this.#watcher.onStart(this.#spec.name, child.pid)
  }

  /** Sends SIGTERM, kills after 3 s, and kills the rest of the process group. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const child = this.#child
    if (child === null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await orFallback(exited, STOP_GRACE_MS, undefined, after)
    if (child.pid !== undefined) await killGroup(child.pid)
  }

  trimLog(): void {
    trimLog(this.#spec.log)
  }

  async #onExit(child: ChildProcess, how: string, livedMs: number): Promise<void> {
    this.#child = null
    if (this.#isStopping) return
    const delayMs = restartDelayMs(this.#lastDelayMs, livedMs)
    const isNews = delayMs === RESTART_FIRST_MS || delayMs !== this.#lastDelayMs
    this.#lastDelayMs = delayMs
    if (isNews) this.#watcher.onExit(this.#spec.name, how, delayMs)
    await Promise.all([child.pid && killGroup(child.pid), sleep(delayMs)])
    if (!this.#isStopping) this.start()
  }

  /** The log of the current run only. */
  #currentLog(): string {
    if (!existsSync(this.#spec.log)) return ''
    return readFileSync(this.#spec.log).subarray(this.#logFrom).toString()
  }
}

function trimLog(path: string): void {
  // The child has the file open for appending, so its next write starts at the beginning.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES) truncateSync(path)
}

/** Delay in ms before restarting a child that lived `livedMs` and was started after a delay of `lastMs` (0: first start). */
export function restartDelayMs(lastMs: number, livedMs: number): number {
  if (lastMs === 0 || livedMs >= STABLE_MS) return RESTART_FIRST_MS
  return Math.min(RESTART_CAP_MS, lastMs * 2)
}

const MESSAGE_CHARS_MAX = 300
/** Error lines: `{"say":"…"}` of the feeder, `devnet: …`, `TypeError: …` of Node, and those of workerd with a source file. */
const ERROR_LINES = [
  /^\{"say":(".*")\}$/,
  /^devnet: (.*)$/,
  /^(?:Uncaught )?(\w*Error: .*)$/,
  /^(workerd\/\S+ failed: .*)$/,
]

/** A healthy line; errors before it are outdated. */
const HEALTHY_LINE = /^(?:\{"status":\{"state":"sending","why":null,|gateway at http)/
/** Signals from outside, whose reason is not in the log. */
const EXTERNAL_SIGNALS: readonly (string | null)[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']

/** Why a child ended, with its last error line if any; `log` covers the current run. */
export function exitReason(code: number | null, signal: string | null, log: () => string): string {
  const how = signal ?? `exit code ${code}`
  const words = code === 0 || EXTERNAL_SIGNALS.includes(signal) ? null : lastErrorLine(log())
  return words === null ? how : `${how}: ${words}`
}

/** Returns the last error line, with control characters removed; null if there is none. */
export function lastErrorLine(log: string): string | null {
  for (const line of log.split('\n').reverse()) {
    if (HEALTHY_LINE.test(line)) return null
    const message = ERROR_LINES.map((form) => form.exec(line.trim())?.[1]).find((words) => words !== undefined)
    if (message === undefined) continue
    const text = message.startsWith('"') ? String(parseJson(message) ?? message) : message
    return text.replace(/\p{Cc}+/gu, ' ').slice(0, MESSAGE_CHARS_MAX)
  }
  return null
}

interface LaunchContext {
  readonly folder: StateFolder
  readonly options: LaunchOptions
  readonly ports: Ports
  readonly secrets: Secrets
  readonly log: (line: string) => void
}

type ChildName = 'devnet' | 'gateway' | 'feeder'

/**
 * Heap limits of the devnet and the feeder. By default, Node may use half of the memory before it collects garbage, and a demo
 * left running overnight would fill that. A feeder at the size of the real exchange holds 300 MB.
 */
const HEAP_MB = { devnet: 320, feeder: 640 }
/** Heap limits at real size: the devnet has 280 MB of objects and 100 MB of columns; the feeder keeps every resting order. */
const LARGE_HEAP_MB = { devnet: 900, feeder: 1_500 }
/**
 * workerd has no heap limit. After 15 idle minutes it used 420 MB, of which less than 30 MB were live. A small young generation
 * collects short-lived objects sooner and lowered that to 300 MB.
 */
const SMALL_YOUNG_SPACE = '--max-semi-space-size=4'
/** Interval of checks of workerd's pid, log sizes and disk space. */
const CHECK_MS = 500

export class Launch {
  readonly #context: LaunchContext
  readonly #children = new Map<ChildName, SupervisedChild>()
  readonly #pids = new Map<string, number>()
  #keys: DemoKeys | null = null
  #timer: NodeJS.Timeout | null = null
  #isDiskFull = false
  #states: ProcessStates = { stopped: [] }
  /** Last content of the lock and running.json. */
  #written = ''

  constructor(world: LaunchContext) {
    this.#context = world
    const watcher = this.#watcher()
    for (const spec of childSpecs(world)) this.#children.set(spec.name as ChildName, new SupervisedChild(spec, watcher))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#context.ports.gateway}`
  }

  start(...names: ChildName[]): void {
    for (const name of names) this.#children.get(name)?.start()
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS)
  }

  /** Starts writing running.json and returns its text. */
  markReady(keys: DemoKeys): string {
    this.#keys = keys
    return this.#writeState()
  }

  /** Stops all children, the feeder first so that it can save its position, and releases the folder. */
  async stop(): Promise<void> {
    await this.#stopChildren()
    if (this.#keys) this.#writeState({})
    this.#context.folder.removeLock()
  }

  async #stopChildren(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#children.get('feeder')?.stop()
    await Promise.all([this.#children.get('gateway')?.stop(), this.#children.get('devnet')?.stop()])
    this.#pids.clear()
  }

  #watcher(): ChildWatcher {
    return {
      onStart: (name, pid) => {
        this.#pids.set(name, pid)
        this.#writeState()
      },
      onExit: (name, how, restartMs) => {
        this.#states = { stopped: [] }
        this.#context.log(`${name} ended (${how}) and restarts in ${restartMs} ms. See ${this.#log(name)}`)
      },
    }
  }

  #check(): void {
    if (!this.#ownsFolder()) return void this.#abandon()
    for (const child of this.#children.values()) child.trimLog()
    const pids = this.#running()
    this.#writeState(pids)
    const { folder, log } = this.#context
    const isStopped = (pid: number) => process.platform === 'linux' && processInfo(pid)?.isStopped
    const stopped = Object.entries(pids).flatMap(([name, pid]) => (isStopped(pid) ? [name] : []))
    // The first start creates its tables in a separate workerd, whose end must not be reported.
    const { workerd: _, ...early } = pids
    const { seen, lines } = processUpdates(this.#states, this.#keys ? pids : early, stopped)
    this.#states = seen
    for (const line of lines) log(line)
    const isFull = folder.isDiskFull()
    if (isFull && !this.#isDiskFull) log(PROBLEMS.diskFull(folder.path))
    this.#isDiskFull = isFull
  }

  /** Whether the folder exists and holds our lock. */
  #ownsFolder(): boolean {
    return this.#context.folder.readLock()?.launcher === process.pid
  }

  /** Ends without writing to the folder, because another launcher may already own it. */
  async #abandon(): Promise<never> {
    this.#context.log(PROBLEMS.folderLost(this.#context.folder.path))
    await this.#stopChildren()
    process.exit(1)
  }

  /** Updates the lock and, once ready, running.json; returns the text of running.json. */
  #writeState(pids = this.#running()): string {
    const { folder } = this.#context
    const { start: _, ...children } = pids
    const text = this.#devText(pids)
    const written = JSON.stringify([children, this.#keys && text])
    if (written === this.#written) return text
    try {
      folder.writeLock({ launcher: process.pid, children })
      if (this.#keys) writeAtomically(runningFilePath(folder.path), `${text}\n`)
      this.#written = written
    } catch (error) {
      // A full disk is reported once; the next check retries.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
    }
    return text
  }

  #running(): Record<string, number> {
    const pids: Record<string, number> = { start: process.pid, ...Object.fromEntries(this.#pids) }
    // The SQL process exists only after its first request.
    const [workerd] = childrenOf(pids.gateway ?? 0, 'workerd serve')
    const [sql] = childrenOf(pids.gateway ?? 0, 'sql.node')
    return { ...pids, ...(workerd && { workerd }), ...(sql && { sql }) }
  }

  #devText(pids: Readonly<Record<string, number>>): string {
    const { ADMIN_TOKEN, FEED_TOKEN, METRICS_TOKEN } = this.#context.secrets
    const { key, serviceKey } = this.#keys ?? { key: null, serviceKey: null }
    const tokens = { admin_token: ADMIN_TOKEN, feed_token: FEED_TOKEN, metrics_token: METRICS_TOKEN }
    const wallet = { wallet_key: simulatedKey(this.#context.options.seed ?? DEFAULT_SEED, 'demo') }
    return JSON.stringify({ url: this.url, key, service_key: serviceKey, ...tokens, ...wallet, pids })
  }

  #log(name: string): string {
    return this.#context.folder.pathOf(`log/${name}.log`)
  }
}

function childSpecs({ folder, options, ports, secrets }: LaunchContext): ChildSpec[] {
  const isLarge = options.scale === 'mainnet'
  const node = `http://127.0.0.1:${ports.devnet}`
  const gateway = `http://127.0.0.1:${ports.gateway}`
  const data = folder.pathOf('node')
  const { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET, METRICS_TOKEN } = secrets
  const spec = (
    name: ChildName,
    program: '../main' | 'gateway',
    args: readonly string[],
    env: Record<string, string> = {},
  ): ChildSpec => ({
    name,
    args: [
      ...(name === 'gateway' ? [] : heapOf(name, isLarge)),
      fileURLToPath(programUrl(import.meta, program)),
      ...args,
    ],
    env,
    log: folder.pathOf(`log/${name}.log`),
  })
  return [
    spec('devnet', '../main', [
      ...['devnet', '--data', data, '--port', String(ports.devnet), '--json'],
      ...options.devnet,
    ]),
    spec(
      'gateway',
      'gateway',
      [
        ...['--state', folder.pathOf('gateway'), '--port', String(ports.gateway), '--node', node],
        ...['--keep', String(options.keep)],
      ],
      {
        ADMIN_TOKEN,
        FEED_TOKEN,
        KEY_SECRET,
        METRICS_TOKEN,
        ...(isLarge ? {} : { MINIFLARE_WORKERD_V8_FLAGS: SMALL_YOUNG_SPACE }),
      },
    ),
    spec(
      'feeder',
      '../main',
      ['feed', '--data', data, '--info', node, '--gateway', gateway, '--state', folder.pathOf('feeder')],
      { FEED_TOKEN },
    ),
  ]
}

/** A large exchange creates many short-lived objects, which a small young generation would promote too early. */
function heapOf(name: 'devnet' | 'feeder', isLarge: boolean): string[] {
  return isLarge
    ? [`--max-old-space-size=${LARGE_HEAP_MB[name]}`]
    : [`--max-old-space-size=${HEAP_MB[name]}`, SMALL_YOUNG_SPACE]
}
