// One child that is kept alive: leader of its own process group, output into a log file, started again when it dies.
// Before every start the rest of its old group is ended: workerd outlives a killed Node process and keeps the port.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { orLate } from '../core/deadline.ts'
import { after } from '../core/timers.client.ts'
import { howEnded } from './last-words.ts'
import { hasGroup, type ProcessId } from './leftovers.ts'
import { processInfo, processTable } from './process-table.node.ts'
import { RESTART_FIRST_MS, restartDelayMs } from './restart-policy.ts'

export interface ChildSpec {
  readonly name: string
  /** Arguments of Node: the program and its own. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly log: string
}

export interface ChildWatcher {
  /** Started, or started again. */
  started(name: string, id: ProcessId): void
  /** Died without being asked to; said once while it keeps dying at the same pace. */
  died(name: string, how: string, restartMs: number): void
}

const LOG_MAX_BYTES = 8 * 1024 * 1024
const STOP_GRACE_MS = 3_000
const GUARD = new URL('./guard.node.ts', import.meta.url).href

export class SupervisedChild {
  readonly #spec: ChildSpec
  readonly #watcher: ChildWatcher
  #child: ChildProcess | null = null
  #id: ProcessId | null = null
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
      void this.#exited(how, Date.now() - startedAt)
    })
    this.#id = child.pid ? processInfo(child.pid) : null
    if (this.#id) this.#watcher.started(this.#spec.name, { pid: this.#id.pid, born: this.#id.born })
  }

  /** Asks the child to end, makes it end after 3 s, and leaves nothing of its group. */
  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (child && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await orLate(exited, STOP_GRACE_MS, undefined, after)
    }
    await this.#endGroup()
  }

  /** Keeps the log bounded. */
  trimLog(): void {
    trimLog(this.#spec.log)
  }

  async #exited(how: string, livedMs: number): Promise<void> {
    this.#child = null
    if (this.#stopping) return
    const delayMs = restartDelayMs(this.#lastDelayMs, livedMs)
    const isNews = delayMs === RESTART_FIRST_MS || delayMs !== this.#lastDelayMs
    this.#lastDelayMs = delayMs
    if (isNews) this.#watcher.died(this.#spec.name, how, delayMs)
    await Promise.all([this.#endGroup(), sleep(delayMs)])
    if (!this.#stopping) this.start()
  }

  /** Of this life of the child alone. */
  #lifeLog(): string {
    if (!existsSync(this.#spec.log)) return ''
    return readFileSync(this.#spec.log).subarray(this.#logFrom).toString()
  }

  async #endGroup(): Promise<void> {
    if (this.#id) await endGroup(this.#id)
  }
}

/** Kills what is left of a process group and waits until it is gone, at most 3 s. */
export async function endGroup(leader: ProcessId): Promise<void> {
  for (const deadline = Date.now() + STOP_GRACE_MS; Date.now() < deadline; ) {
    if (!hasGroup(leader, processTable())) return
    try {
      process.kill(-leader.pid, 'SIGKILL')
    } catch {
      return
    }
    await sleep(20)
  }
}

function trimLog(path: string): void {
  // The file is open for appending in the child: what it writes next begins the file anew.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES) truncateSync(path)
}
