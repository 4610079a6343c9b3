// One child that is kept alive: leader of its own process group, output into a log file, started again when it dies.
// Before every start the rest of its old group is ended: workerd outlives a killed Node process and keeps the port.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { orLate } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { endGroup } from './processes.node.ts'

export interface ChildSpec {
  readonly name: string
  /** Arguments of Node: the program and its own. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly log: string
}

export interface ChildWatcher {
  /** Started, or started again. */
  started(name: string, pid: number): void
  /** Died without being asked to; said once while it keeps dying at the same pace. */
  died(name: string, how: string, restartMs: number): void
}

const LOG_MAX_BYTES = 8 * 1024 * 1024
const STOP_GRACE_MS = 3_000
const RESTART_FIRST_MS = 200
const RESTART_CAP_MS = 2_000
/** A child that lived so long was a good one: its death is the first again. */
const STEADY_MS = 5_000
const GUARD = new URL('./guard.node.ts', import.meta.url).href

export class SupervisedChild {
  readonly #spec: ChildSpec
  readonly #watcher: ChildWatcher
  #child: ChildProcess | null = null
  #stopping = false
  #lastDelayMs = 0
  /** Where the log of this life begins; it may have been cut since. */
  #logFrom = 0

  constructor(spec: ChildSpec, watcher: ChildWatcher) {
    this.#spec = spec
    this.#watcher = watcher
  }

  start(): void {
    trimLog(this.#spec.log)
    // Somebody may have tidied up.
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
      const how = howEnded(code, signal, () => this.#lifeLog())
      void this.#exited(child, how, Date.now() - startedAt)
    })
    if (child.pid !== undefined) this.#watcher.started(this.#spec.name, child.pid)
  }

  /** Asks the child to end, makes it end after 3 s, and leaves nothing of its group. */
  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (child === null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await orLate(exited, STOP_GRACE_MS, undefined, after)
    if (child.pid !== undefined) await endGroup(child.pid)
  }

  /** Keeps the log bounded. */
  trimLog(): void {
    trimLog(this.#spec.log)
  }

  async #exited(child: ChildProcess, how: string, livedMs: number): Promise<void> {
    this.#child = null
    if (this.#stopping) return
    const delayMs = restartDelayMs(this.#lastDelayMs, livedMs)
    const isNews = delayMs === RESTART_FIRST_MS || delayMs !== this.#lastDelayMs
    this.#lastDelayMs = delayMs
    if (isNews) this.#watcher.died(this.#spec.name, how, delayMs)
    await Promise.all([child.pid && endGroup(child.pid), sleep(delayMs)])
    if (!this.#stopping) this.start()
  }

  /** Of this life of the child alone. */
  #lifeLog(): string {
    if (!existsSync(this.#spec.log)) return ''
    return readFileSync(this.#spec.log).subarray(this.#logFrom).toString()
  }
}

function trimLog(path: string): void {
  // The file is open for appending in the child: what it writes next begins the file anew.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES) truncateSync(path)
}

/** Wait before the next start, ms, of a child that lived `livedMs` and was started after a wait of `lastMs` (0: first). */
export function restartDelayMs(lastMs: number, livedMs: number): number {
  if (lastMs === 0 || livedMs >= STEADY_MS) return RESTART_FIRST_MS
  return Math.min(RESTART_CAP_MS, lastMs * 2)
}

const MAX_UNITS = 300
/** `{"say":"…"}` of the feeder, `devnet: …`, `TypeError: …` of Node; workerd's begin with a file of its source. */
const WORDS = [/^\{"say":(".*")\}$/, /^devnet: (.*)$/, /^(?:Uncaught )?(\w*Error: .*)$/, /^(workerd\/\S+ failed: .*)$/]

/** What is said before it was about something that is over. */
const WELL = /^(?:\{"status":\{"state":"sending","why":null,|gateway at http)/
/** Sent by somebody else: the log of who got it cannot tell why. */
const FROM_OUTSIDE: readonly (string | null)[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']

/** How a child ended, with its own words for that where it has any; `log` is that of this life of it. */
export function howEnded(code: number | null, signal: string | null, log: () => string): string {
  const how = signal ?? `exit code ${code}`
  const words = code === 0 || FROM_OUTSIDE.includes(signal) ? null : lastWords(log())
  return words === null ? how : `${how}: ${words}`
}

/** One line without control characters; null where the log ends in nothing of the kind. */
export function lastWords(log: string): string | null {
  for (const line of log.split('\n').reverse()) {
    if (WELL.test(line)) return null
    const said = WORDS.map((form) => form.exec(line.trim())?.[1]).find((words) => words !== undefined)
    if (said === undefined) continue
    const text = said.startsWith('"') ? unquoted(said) : said
    return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_UNITS)
  }
  return null
}

function unquoted(json: string): string {
  try {
    return String(JSON.parse(json))
  } catch {
    return json
  }
}
